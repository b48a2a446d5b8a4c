"""The parts of the checks: what each may take, what its files took when that was recorded, and the order by that.

`make ci` runs the parts one after the other (tests/ci.py). A plugin of pytest's, which conftest.py names; the Makefile
says which part runs. `make times` records anew.
"""

from __future__ import annotations

import collections
import functools
import json
import os
import random
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TIMES = ROOT / "tests" / "times.json"
# What each part of `make ci` may take on two processors with nothing beside it: with the installs, half an hour.
CI_MINUTES = {"lint": 1, "test": 8, "deploy": 4, "faults": 14, "alone": 1}
CI_TOOK = "CI_TOOK"  # the variable in which tests/ci.py hands on what the parts before took
# What all tests of a part may take together: seconds of each test, however many run at a time. With the processes that
# the Makefile gives each part, they are done within its minutes.
BUDGET_SECONDS = {"test": 1_920, "faults": 4_000, "alone": 60, "deploy": 360}
BEGUN = time.monotonic()


def took_line(part: str, seconds: float) -> str:
    """Returns what a part of `make ci` took, beside what it may take."""
    over = "  OVER ITS BUDGET" if seconds > 60 * CI_MINUTES[part] else ""
    return f"{part:<6}  {seconds:5,.0f} s of {60 * CI_MINUTES[part]:,} s{over}"


def recorded() -> dict[str, dict[str, float]]:
    """Returns the seconds that each file took, by part."""
    return json.loads(TIMES.read_text(encoding="utf-8"))


def pytest_addoption(parser):
    group = parser.getgroup("parts")
    group.addoption("--part", choices=BUDGET_SECONDS, default="test", help="the part of the checks that runs")
    group.addoption("--record-times", action="store_true", help="record what each file that runs takes")
    group.addoption("--shuffle", metavar="SEED", help="files in another order, and the tests of each")


def pytest_ignore_collect(collection_path, config):
    """Leaves out files without a test of the part: to import them all takes each process many seconds."""
    part = config.getoption("--part")
    if part == "test" or collection_path.suffix != ".py" or _says_mark(collection_path, part):
        return None
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Puts the files first that take longest, so that all processes end together."""
    for item in items:
        for part in BUDGET_SECONDS:
            if item.get_closest_marker(part) and not _says_mark(item.path, part):
                raise pytest.UsageError(
                    f"{item.nodeid}: neither its file nor its folder's conftest.py says mark.{part}"
                )
    if seed := config.getoption("--shuffle"):
        places = {path: random.Random(f"{seed} {path}").random() for path in {item.path for item in items}}
        items.sort(key=lambda item: (places[item.path], random.Random(f"{seed} {item.nodeid}").random()))
        return
    seconds = recorded()[config.getoption("--part")]
    items.sort(key=lambda item: -seconds.get(_file(item.nodeid), 1.0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Has the files of the first part that need Kafka run in one process, since to start it costs ten others' tests."""
    if config.getoption("--part") != "test" or config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # only where it is in use

    class Scheduling(LoadFileScheduling):
        @functools.cache  # noqa: B019 -- there is one scheduler
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "kafka" if "kafka_server" in (ROOT / file).read_text(encoding="utf-8") else file

    return Scheduling(config, log)


@functools.cache
def _says_mark(path, part):
    """Returns whether a file's tests may have the mark of a part: by itself, or by a fixture of its folder."""
    files = (path, path.with_name("conftest.py"))
    return any(f"mark.{part}" in file.read_text(encoding="utf-8") for file in files if file.exists())


def pytest_terminal_summary(terminalreporter, config):
    """Says what the part took, and what tests say of themselves: `record_property("summary", TEXT)`."""
    took, lines = collections.Counter(), []
    for report in (
        *terminalreporter.getreports("passed"),
        *terminalreporter.getreports("failed"),
        *terminalreporter.getreports(""),
    ):
        took[_file(report.nodeid)] += report.duration
        if report.when == "teardown":
            lines += [text for name, text in report.user_properties if name == "summary"]
    for line in lines:
        terminalreporter.write_line(line)
    part = config.getoption("--part")
    if (before := os.environ.get(CI_TOOK)) and part == list(CI_MINUTES)[-1]:
        terminalreporter.section("what each part took")
        terminalreporter.write_line(f"{before}\n{took_line(part, time.monotonic() - BEGUN)}")
    budget = BUDGET_SECONDS[part]
    terminalreporter.write_line(
        f"part {part}: {sum(took.values()):,.0f} s of tests, of {budget:,} s that they may take"
    )
    if config.getoption("--record-times"):
        # What didn't run this time, such as beside a few new files, keeps its time.
        kept = {file: taken for file, taken in recorded()[part].items() if file not in took and (ROOT / file).exists()}
        seconds = kept | {file: round(taken, 1) for file, taken in took.items() if taken >= 0.05}
        times = recorded() | {part: dict(sorted(seconds.items()))}
        TIMES.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")


def _file(nodeid):
    return os.path.normpath(nodeid.partition("::")[0])

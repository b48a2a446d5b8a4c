"""Runs Scrapy's own tests of its engine on both engines: a part of `make matrix`.

They come from Scrapy's source distribution, of which a copy for each engine is unpacked outside of this tree: commands
that tests start would find its scrapy.cfg otherwise. The two differ in one line: in the fast engine's, Scrapy's default
ADDONS names the add-on, so that each crawler that a test makes, in its own process or in another, has the fast engine.
Without asyncio the add-on steps back, which a third run shows. A test on which the two engines disagree is run again
on both, with nothing beside it: some measure time, and the machine may be busy.
"""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

SDIST_SHA256 = {
    "2.18.0": "2445f8b5bf87ba105d239cb230878646e29dbc6a6cae10037ba0550d8fe7fc73",
    "2.19.0": "34130726582b64c91531162ab277c4053e558876d49ba219cb43679e71d80a87",
}
# Files and folders of Scrapy's tests, without `test_`, by what they are about.
ENGINE = ("engine*", "spider_start", "spider_crawl", "crawl", "closespider", "signal*", "utils_signal")
TESTS = (
    *ENGINE,
    *("core_scraper", "crawler", "pipeline_crawl", "pipelines", "request_*", "scheduler*", "addons", "logformatter"),
    *("logstats", "stats", "middleware", "spidermiddleware*", "downloadermiddleware*"),
    # Each of these starts a process, for seconds.
    *("crawler_runners", "crawler_subprocess", "command_[!gsv]*", "command_shell", "commands", "cmdline*"),
)
# What passes on Scrapy's engine alone, and why.
EXPECTED = {
    "tests/test_engine.py::test_enqueue_scrape_error": "replaces Scraper.enqueue_scrape, which isn't called",
    "tests/test_core_scraper.py::test_scraper_exception": (
        "replaces Scraper.handle_spider_output_async, which isn't called"
    ),
}
COMMAND_LIMIT = "timeout=15"  # of a command that a test starts; a busy machine takes longer to import Scrapy
FAST_ENGINE = '\nADDONS = {"crawler.fast.addon.FastEngine": 1000}\n'
TEST_SECONDS = 120  # the slowest takes 5 s on an idle machine
RUN_SECONDS = 1_800  # four times what all take there
_failed = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


@dataclass
class Run:
    """How Scrapy's tests ended on one engine.

    Attributes:
        summary: pytest's last line.
        failed: The tests that failed.
    """

    summary: str
    failed: set[str]

    def correct(self, disputed, alone):
        """Takes over how the disputed tests ended alone."""
        self.summary += f"; of {len(disputed)} more run alone {len(disputed - alone.failed)} pass"
        self.failed = self.failed - disputed | alone.failed


def run(version, python, folder, tests=TESTS):
    """Runs tests of a version of Scrapy on both engines.

    Args:
        version: One of SDIST_SHA256.
        python: Of an environment that has this tree, that version, and what scrapy_suite.txt names.
        folder: For the source distribution and the logs.
        tests: As TESTS.

    Returns:
        Rows of (tests, verdict, summary).
    """
    sdist, pytest = _sdist(version, python, folder), partial(_pytest, python, folder)
    with tempfile.TemporaryDirectory(prefix="scrapy-") as unpacked:
        plain, fast = (_copy(sdist, Path(unpacked) / engine) for engine in ("plain", "fast"))
        with (fast / "scrapy" / "settings" / "default_settings.py").open("a", encoding="utf-8") as settings:
            settings.write(FAST_ENGINE)
        on_plain, on_fast = pytest(plain, tests), pytest(fast, tests)
        without_asyncio = pytest(fast, ENGINE, "--reactor=default")
        if disputed := (on_plain.failed ^ on_fast.failed) - EXPECTED.keys():
            for run, copy in ((on_plain, plain), (on_fast, fast)):
                run.correct(disputed, pytest(copy, sorted(disputed), alone=True))
        if disputed := without_asyncio.failed:
            without_asyncio.correct(disputed, pytest(fast, sorted(disputed), "--reactor=default", alone=True))
    return [
        ("Scrapy's, on its engine", "pass", on_plain.summary),  # what fails on both is this machine's matter
        ("Scrapy's, on the fast engine", *_verdict(on_fast, on_plain.failed | EXPECTED.keys())),
        ("Scrapy's, without asyncio", *_verdict(without_asyncio, set())),
    ]


def _verdict(run, may_fail):
    if unlike := run.failed - may_fail:
        return "FAIL", f"{run.summary}; not as expected: {', '.join(sorted(unlike))}"
    return "pass", run.summary


def _sdist(version, python, folder):
    """Returns the source distribution of a version, which pip checks against its hash."""
    file = folder / f"scrapy-{version}.tar.gz"
    folder.mkdir(parents=True, exist_ok=True)
    pin = folder / "pin.txt"
    pin.write_text(f"scrapy=={version} --hash=sha256:{SDIST_SHA256[version]}\n", encoding="ascii")
    options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--require-hashes"]
    subprocess.run([python, "-m", "pip", "--quiet", "download", *options, "-d", folder, "-r", pin], check=True)
    return file


def _copy(sdist, folder):
    """Unpacks a source distribution into a folder, and returns the place of the copy there.

    Its tests give the commands that they start as much time as themselves.
    """
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    copy = folder / sdist.name.removesuffix(".tar.gz")
    for file in (copy / "tests" / "utils" / "cmdline.py", copy / "tests" / "test_engine.py"):
        file.write_text(file.read_text("utf-8").replace(COMMAND_LIMIT, f"timeout={TEST_SECONDS}"), "utf-8")
    return copy


def _pytest(python, logs, copy, tests, *options, alone=False):
    """Runs tests in a copy of Scrapy; the log lies in the folder `logs`.

    Args:
        tests: As TESTS; where `alone`, the names of single tests.
        alone: One test after the other.

    Raises:
        RuntimeError: pytest didn't come to its end.
    """
    if not alone:
        patterns = [f"tests/test_{name}{ending}" for name in tests for ending in (".py", "/__init__.py")]
        tests = sorted({path.relative_to(copy) for pattern in patterns for path in copy.glob(pattern)})
    plugins = ["-p", "no:asyncio", "-p", "no:cacheprovider", "--numprocesses", "0" if alone else "auto"]
    warnings = ["-W", "ignore::pytest.PytestRemovedIn10Warning"]  # of a pytest that is younger than the tests
    limits = [f"--timeout={TEST_SECONDS}"]
    command = [python, "-m", "pytest", "-q", "-rfE", *plugins, *warnings, *limits, *options, *tests]
    log = logs / f"{copy.parent.name}{'-'.join(options)}{'-alone' * alone}.txt"
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTEST_ADDOPTS": ""}
    with log.open("w") as out:
        status = subprocess.run(
            command, cwd=copy, env=environment, stdout=out, stderr=out, timeout=RUN_SECONDS, check=False
        ).returncode
    text = log.read_text(errors="replace").rstrip()
    if status not in (0, 1):  # passed, or some failed
        raise RuntimeError(f"pytest ended with status {status}: {log}")
    _before, _, failures = text.rpartition("short test summary info")
    return Run(text.rpartition("\n")[2].strip("= "), set(_failed.findall(failures)) if status else set())

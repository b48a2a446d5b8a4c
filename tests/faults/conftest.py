"""Servers to break, and the table of what came of it."""

from __future__ import annotations

import pytest
from faults.rig import FULL, Origin, Rig
from needs import started

ROWS: list[tuple[str, str, str]] = []


def pytest_terminal_summary(terminalreporter):
    """Prints a row for each fault that was tried."""
    if not ROWS:
        return
    terminalreporter.section("faults, full form" if FULL else "faults, short form")
    wide = max(len(fault) for fault, _, _ in ROWS)
    for fault, figures, verdict in ROWS:
        terminalreporter.write_line(f"{fault:<{wide}}  {verdict:<4}  {figures}")


@pytest.fixture
def row(request):
    """Returns `say(FAULT, FIGURES)`: a row of the table, with whether the test that said it passed."""
    said = []
    yield lambda fault, **figures: said.append((fault, figures))
    report = getattr(request.node, "called", None)
    for fault, figures in said:
        text = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in figures.items())
        ROWS.append((fault, text, "pass" if report is not None and report.passed else "FAIL"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Keeps the report of the test itself where the fixture `row` finds it."""
    report = yield
    if call.when == "call":
        item.called = report
    return report


@pytest.fixture(scope="session")
def origin(server_folder):
    with started(Origin, server_folder) as server:
        yield server


@pytest.fixture
def rig(fork_server, tmp_path, origin, redis_server, mongo_server, kafka_server):
    """A cluster with every sink. What a test kills it starts again: others use the servers too."""
    rig = Rig(fork_server, tmp_path, origin, redis_server, mongo_server, kafka_server)
    yield rig
    rig.close()


@pytest.fixture
def files_rig(fork_server, tmp_path, origin, redis_server):
    """A cluster that writes files alone."""
    rig = Rig(fork_server, tmp_path, origin, redis_server)
    yield rig
    rig.close()

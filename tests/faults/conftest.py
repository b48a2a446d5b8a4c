"""Servers to break, and a line for what came of each fault."""

from __future__ import annotations

import pytest
from faults.rig import Origin, Rig
from needs import started


@pytest.fixture
def row(request, record_property):
    """Returns `say(FAULT, AUDIT, FIGURES)`: a line of the table, with whether the test that said it passed.

    With an audit, the test passes only if nothing was lost, nothing is stuck, and Mongo and the ledger are right.
    """
    rows = []

    def say(fault, audit=None, **figures):
        rows.append((fault, ({"lost": audit.lost} if audit else {}) | figures))
        if audit:
            assert audit.wrong == {}, audit.missing[:10]

    yield say
    report = getattr(request.node, "called", None)
    verdict = "pass" if report is not None and report.passed else "FAIL"
    for fault, figures in rows:
        text = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in figures.items())
        record_property("summary", f"{fault:<60}  {verdict}  {text}")


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

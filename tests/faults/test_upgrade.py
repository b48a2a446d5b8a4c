"""A crawl goes on while its code is replaced: nothing is lost, and no worker has to wait for another one."""

from __future__ import annotations

import pytest
from faults.rig import FULL
from releases import PREVIOUS, previous_release
from waiting import until

from crawler import __version__

pytestmark = pytest.mark.faults

WORKERS = 6 if FULL else 3
PAGES_AT_ONCE = 2_000 if FULL else 300  # more are offered when half of them are claimed


def test_workers_are_replaced_one_by_one_under_load(rig, row):
    """As by a release of the same format: by SIGTERM, the last one by SIGKILL."""
    rig.offer(rig.origin.urls(PAGES_AT_ONCE, "slow"), site="paced")
    log = rig.origin.size()
    running = [rig.worker() for _ in range(WORKERS)]
    for worker in running:
        until(lambda worker=worker: works(rig, worker, log), f"{worker.name} to work")
    for number in range(WORKERS):
        leaving = running.pop(0)
        if number == WORKERS - 1:
            leaving.kill()
        else:
            leaving.stop()
        running.append(rig.worker())
        until(lambda: works(rig, running[-1], log), "the new worker to work")
    assert all(worker.running for worker in running)
    rig.until_done(600)
    row(f"{WORKERS} workers replaced under load", rig.audit(), of=f"{len(rig.account):,}")
    assert rig.counts()["failed"] == 0


def test_workers_of_the_last_release_are_replaced_behind_a_migration(rig, row, tmp_path):
    """All of them, since the format has changed: by SIGTERM, one by SIGKILL, with pages under way."""
    tree = previous_release(tmp_path)
    pages = rig.origin.urls(PAGES_AT_ONCE, "slow")
    rig.account.update(pages)
    assert rig.start("seeds", "offer", "--site", "paced", *pages, tree=tree).wait(60) == 0  # it began the frontier
    log = rig.origin.size()
    before = [rig.worker(tree=tree) for _ in range(WORKERS)]
    for worker in before:
        until(lambda worker=worker: has_asked(rig, worker, log), f"{worker.name} to work")
    assert "older than this version's" in rig.run("nodes").stderr
    before.pop().kill()
    for worker in before:
        worker.stop()
    until(lambda: not rig.run("frontier", "migrate").returncode, "the killed worker's session to lapse")
    after = [rig.worker() for _ in range(WORKERS)]
    for worker in after:
        until(lambda worker=worker: works(rig, worker, log), f"{worker.name} to work")
    rig.until_done(600)
    fault = f"{WORKERS} workers of {PREVIOUS} replaced by {__version__}, behind a migration"
    row(fault, rig.audit(), of=f"{len(rig.account):,}")
    assert rig.counts()["failed"] == 0


def works(rig, worker, since):
    """Whether a worker has asked for a page; sees to it that there are always some for it."""
    if rig.counts()["ready"] < PAGES_AT_ONCE // 2:
        rig.offer(rig.origin.urls(PAGES_AT_ONCE, "slow", first=len(rig.account)), site="paced")
    return has_asked(rig, worker, since)


def has_asked(rig, worker, since):
    """Whether a worker has asked for a page."""
    return any(agent == worker.name for _, _, agent, _ in rig.origin.requests(since))

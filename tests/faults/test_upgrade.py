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


def test_workers_of_the_last_release_are_replaced_one_by_one_under_load(rig, row, tmp_path):
    """By SIGTERM, the last one by SIGKILL; then one is the old release's again, as if it had been taken back."""
    tree = previous_release(tmp_path)
    pages = rig.origin.urls(PAGES_AT_ONCE, "slow")
    rig.account.update(pages)
    assert rig.start("seeds", "offer", "--site", "paced", *pages, tree=tree).wait(60) == 0  # it began the frontier
    log = rig.origin.size()
    running = [rig.worker(tree=tree) for _ in range(WORKERS)]
    for worker in running:
        until(lambda worker=worker: works(rig, worker, log), f"{worker.name} to work")
    versions = set()
    for number, code in enumerate([None] * WORKERS + [tree]):
        leaving = running.pop(0)
        if number == WORKERS - 1:
            leaving.kill()
        else:
            leaving.stop()
        running.append(rig.worker(tree=code))
        until(lambda: works(rig, running[-1], log), "the new worker to work")
        versions |= {worker["version"] or PREVIOUS for worker in rig.workers() if worker["age_s"] is not None}
    assert versions == {PREVIOUS, __version__}
    assert all(worker.running for worker in running)
    rig.until_done(600)
    fault = f"{WORKERS} workers of {PREVIOUS} replaced by {__version__} under load, one taken back"
    row(fault, rig.audit(), of=f"{len(rig.account):,}")
    assert rig.counts()["failed"] == 0


def works(rig, worker, since):
    """Whether a worker has asked for a page; sees to it that there are always some for it."""
    if rig.counts()["ready"] < PAGES_AT_ONCE // 2:
        rig.offer(rig.origin.urls(PAGES_AT_ONCE, "slow", first=len(rig.account)), site="paced")
    return any(agent == worker.name for _, _, agent, _ in rig.origin.requests(since))

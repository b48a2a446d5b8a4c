"""A crawl goes on while its code is replaced: nothing is lost, and no worker has to wait for another one."""

from __future__ import annotations

import pytest
from faults.rig import FULL
from releases import PREVIOUS, previous_release
from waiting import until

from crawler import __version__

pytestmark = pytest.mark.faults

WORKERS = 6 if FULL else 3
PAGES_PER_STEP = 3_000 if FULL else 300  # so that there is work all the time


def test_workers_of_the_last_release_are_replaced_one_by_one_under_load(rig, row, tmp_path):
    """By SIGTERM, the last one by SIGKILL; then one is the old release's again, as if it had been taken back."""
    tree = previous_release(tmp_path)
    first = rig.origin.urls(PAGES_PER_STEP, "slow")
    rig.account.update(first)
    assert rig.start("seeds", "offer", "--site", "paced", *first, tree=tree).wait(60) == 0  # it began the frontier
    running = [rig.worker(tree=tree) for _ in range(WORKERS)]
    log = rig.origin.size()
    until(lambda: {worker.name for worker in running} <= asking(rig, log), "all to work")
    offered, versions = PAGES_PER_STEP, set()
    for number, code in enumerate([None] * WORKERS + [tree]):
        rig.offer(rig.origin.urls(PAGES_PER_STEP, "slow", first=offered), site="paced")
        offered += PAGES_PER_STEP
        leaving = running.pop(0)
        if number == WORKERS - 1:
            leaving.kill()
        else:
            leaving.stop()
        log = rig.origin.size()
        running.append(rig.worker(tree=code))
        until(lambda worker=running[-1], log=log: worker.name in asking(rig, log), "the new worker to work")
        versions |= {worker["version"] or PREVIOUS for worker in rig.workers() if worker["age_s"] is not None}
    assert versions == {PREVIOUS, __version__}
    assert all(worker.running for worker in running)
    rig.until_done(600)
    audit = rig.audit()
    row(
        f"{WORKERS} workers of {PREVIOUS} replaced by {__version__} under load, one taken back",
        lost=audit.lost,
        stuck=audit.stuck,
        mongo_duplicates=audit.mongo_duplicates,
        of=f"{offered:,}",
    )
    assert (audit.lost, audit.stuck, audit.mongo_duplicates, audit.difference) == (0, 0, 0, 0)
    assert rig.counts()["failed"] == 0


def asking(rig, since):
    """The names of the workers that have asked for a page since a place in the origin's log."""
    return {agent for _, _, agent, _ in rig.origin.requests(since)}

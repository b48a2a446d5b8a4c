"""Nodes whose clocks are wrong: Redis's clock alone counts."""

from __future__ import annotations

import shutil
import time

import pytest
from faults.rig import FULL
from needs import need
from waiting import until

pytestmark = pytest.mark.faults

SEEDS = 3_000 if FULL else 300
SESSION_SECONDS = 8.0  # a busy machine may hold a heartbeat up for seconds: that would be no clock's fault
SHARED = {"SESSION_SECONDS": SESSION_SECONDS, "CONCURRENT_REQUESTS": 8}  # fewer than the turns there are: both get some
WALL_CLOCK_ALONE = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}  # as on a node that is set wrong


@pytest.mark.parametrize("wrong", ["+5m", "-5m"] if FULL else ["+5m"])
def test_a_clock_is_off_by_five_minutes(files_rig, row, wrong):
    """It takes nothing from the living, and gives up nothing early; when its worker dies, others take over."""
    rig = files_rig
    if shutil.which("faketime") is None:
        need("faketime isn't installed (Debian: faketime)")
    rig.offer(rig.origin.urls(SEEDS, "slow"), site="paced")
    log = rig.origin.size()
    odd = rig.worker(under=["faketime", "-f", wrong], environment=WALL_CLOCK_ALONE, **SHARED)
    right = rig.worker(**SHARED)
    until(lambda: {agent for *_, agent, _ in rig.origin.requests(log)} >= {odd.name, right.name}, "both at work")
    until(lambda: rig.ended() >= SEEDS // 3, "pages", 300)
    early, lost = rig.counts()["reclaimed"], right.log.read_text().count("was lost")
    odd.kill()
    killed = time.monotonic()
    taken_s = until(lambda: rig.counts()["reclaimed"] and time.monotonic() - killed, "its seeds to be reclaimed")
    rig.until_done(300)
    audit = rig.audit()
    row(
        f"a node's clock off by {wrong}",
        reclaimed_early=early,
        sessions_lost=lost,
        reclaimed_after_a_kill_s=f"{taken_s:.1f}",
        lost=audit.lost,
    )
    assert (early, lost) == (0, 0)
    assert (audit.lost, audit.stuck, audit.difference) == (0, 0, 0)

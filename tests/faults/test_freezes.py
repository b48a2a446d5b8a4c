"""A worker that stands still for longer than its session wakes up to nothing: its seeds are others' by then."""

from __future__ import annotations

import os
import signal
import time

import pytest
from faults.rig import FULL, in_time
from waiting import until

pytestmark = pytest.mark.faults

ROUNDS = 20 if FULL else 2
SESSIONS = 3
SESSION_SECONDS = 2.0
SEEDS = 80


def test_sigstop_for_three_sessions(files_rig, row):
    """Nothing it still had to say is believed, and nothing it still meant to fetch is fetched."""
    rig = files_rig
    settings = {
        "SESSION_SECONDS": SESSION_SECONDS,
        "SETTLE_WAIT_SECONDS": 1,  # so that some ends are never told
        "CONCURRENT_REQUESTS": 8,  # fewer than the turns there are: both get some
    }
    frozen, _ = rig.joined(2, **settings)
    late_fetches = 0
    for number in range(ROUNDS):
        log, before = rig.origin.size(), rig.ended()
        rig.offer(rig.origin.urls(SEEDS, "slow", first=SEEDS * number), site="paced")
        until(lambda log=log: _asked(rig, log, frozen) >= 3, "requests of the one to be frozen")
        os.kill(frozen.pid, signal.SIGSTOP)
        stopped = time.monotonic()
        until(lambda before=before: rig.ended() == before + SEEDS, "the other worker to do it all", 120)
        until(lambda stopped=stopped: time.monotonic() - stopped > SESSIONS * SESSION_SECONDS, "three sessions")
        log, sessions = rig.origin.size(), _lost_sessions(frozen)
        os.kill(frozen.pid, signal.SIGCONT)
        until(lambda sessions=sessions: _lost_sessions(frozen) > sessions, "the frozen one to notice")
        late_fetches += _asked(rig, log, frozen)
    counts = rig.counts()
    row(
        f"SIGSTOP for {SESSIONS} sessions, {ROUNDS} times",
        rig.audit(),
        sessions_lost=_lost_sessions(frozen),
        stale_settles_refused=counts["refused"],
        fetches_past_the_deadline=late_fetches,
    )
    assert late_fetches == 0
    assert counts["finished"] == len(rig.account)  # each once: a stale end that was believed would show here


def test_a_thawed_worker_breaks_off_the_pages_that_are_others_by_now(files_rig, row):
    rig = files_rig
    settings = {"SESSION_SECONDS": SESSION_SECONDS, "CONCURRENT_REQUESTS": 8}
    rig.offer(rig.origin.urls(8, "hang"))
    log = rig.origin.size()
    frozen = rig.worker(**settings)
    until(lambda: _asked(rig, log, frozen) == 8, "pages to be asked for")
    os.kill(frozen.pid, signal.SIGSTOP)
    other = rig.worker(**settings)
    until(lambda: _asked(rig, log, other) == 8, "the other worker to ask for them")
    os.kill(frozen.pid, signal.SIGCONT)
    thawed = time.monotonic()
    until(lambda: rig.open_pages(frozen) == 0, "the pages to be broken off")
    broken_off_s = time.monotonic() - thawed
    row("thawed, with pages open that another worker asks for", open_s=f"{broken_off_s:.2f}")
    assert in_time(broken_off_s, 1.0)


def _asked(rig, log, worker):
    return sum(agent == worker.name for _, _, agent, _ in rig.origin.requests(log))


def _lost_sessions(worker):
    return worker.log.read_text(errors="replace").count("was lost; its seeds go to others")

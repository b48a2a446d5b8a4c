"""Workers are killed; nothing is lost, nothing stays behind, nothing stands in Mongo twice."""

from __future__ import annotations

import signal
import time

import pytest
from faults.rig import FULL, in_time
from faults.stages import SHORT_STAGES, STAGES
from waiting import until

pytestmark = pytest.mark.faults

SEEDS, KILLS = (50_000, 20) if FULL else (3_000, 3)
WORKERS = 2
TRANSFER_SECONDS = 20.0  # from a kill to the first claim of the seeds elsewhere, with default settings


def test_kill_9_over_many_seeds(rig, row):
    """One worker after the other is killed and replaced."""
    rig.offer(rig.origin.urls(SEEDS))
    running = [rig.worker() for _ in range(WORKERS)]
    began, in_flight = time.monotonic(), 0
    for kill in range(KILLS):
        until(lambda kill=kill: rig.ended() >= SEEDS * (kill + 1) // (KILLS + 1), "pages", 600)
        running.pop(0).kill()
        in_flight += rig.counts()["executing"]
        running.append(rig.worker())
    rig.until_done(600)
    seconds = time.monotonic() - began
    audit = rig.audit()
    twice = f"{audit.kafka_duplicates} of {in_flight} in flight"
    row(f"kill -9, {KILLS} times over {SEEDS:,} seeds", audit, kafka_duplicates=twice, seconds=f"{seconds:.0f}")
    assert audit.kafka_duplicates <= in_flight
    assert rig.counts()["failed"] == 0


@pytest.mark.parametrize("stage", STAGES if FULL else SHORT_STAGES, ids=lambda stage: stage.__name__)
def test_kill_at_each_stage(rig, row, stage):
    """A worker dies at that moment; another one does all of its work."""
    pages = rig.origin.urls(200, "slow" if stage.__name__ == "during_fetch" else "page")
    rig.offer(pages)
    killed = stage(rig)
    assert killed.wait(1) == -signal.SIGKILL
    in_flight, killed_at, log = rig.counts()["executing"], time.monotonic(), rig.origin.size()
    other = rig.worker(STOP_WHEN_DONE=1)
    assert other.wait(120) == 0
    last = max(at for at, _, agent, _ in rig.origin.requests(log) if agent == other.name)
    audit = rig.audit()
    twice, name = f"{audit.kafka_duplicates} of {in_flight} in flight", stage.__name__.replace("_", " ")
    row(f"kill {name}", audit, kafka_duplicates=twice, all_fetched_s=f"{last - killed_at:.1f}")
    assert audit.kafka_duplicates <= in_flight
    assert rig.counts()["finished"] == len(pages)
    assert in_time(last - killed_at, TRANSFER_SECONDS)


@pytest.mark.parametrize(("kind", "death"), [("kill", signal.SIGKILL), ("crash", signal.SIGSEGV)])
def test_a_page_that_kills_its_worker_fails_alone(files_rig, row, kind, death):
    """It is given up after three deaths alone; nothing that was claimed beside it fails."""
    rig = files_rig
    rig.offer([*rig.origin.urls(30), *rig.origin.urls(1, kind, first=30)], site="deadly")
    deaths = 0
    settings = {"PARSER_MODULES": "faults.killpoints", "SESSION_SECONDS": 1, "STOP_WHEN_DONE": 1}
    while (status := rig.worker(**settings).wait(60)) != 0:
        assert status == -death
        deaths += 1
        assert deaths < 10
    counts = rig.counts()
    row(f"a page that kills its worker: {death.name}", rig.audit(), deaths=deaths)
    assert (counts["finished"], counts["failed"], counts["failed:crashed-worker"]) == (30, 1, 1)


def test_a_killed_workers_seeds_are_claimed_within_20_s(files_rig, row):
    """With the default session, the only other worker idle."""
    rig = files_rig
    rig.offer(rig.origin.urls(400, "slow"), site="paced")
    first = rig.worker(SESSION_SECONDS=15)
    until(lambda: rig.counts()["executing"] and rig.ended() >= 2, "seeds at work")
    (idle,) = rig.joined(1, SESSION_SECONDS=15)
    log = rig.origin.size()
    first.kill()
    killed = time.monotonic()
    took = until(
        lambda: next((at - killed for at, _, agent, _ in rig.origin.requests(log) if agent == idle.name), None),
        "a request of the other worker",
        TRANSFER_SECONDS + 10,
    )
    row("kill -9 to the first request elsewhere, default settings", seconds=f"{took:.1f}")
    assert in_time(took, TRANSFER_SECONDS)


def test_rolling_restarts_cost_no_attempt(files_rig, row):
    """All workers are restarted while they work, one after the other."""
    rig = files_rig
    rig.offer(rig.origin.urls(600 if not FULL else 3_000, "slow"), site="paced")
    running, restarts = [rig.worker(), rig.worker()], 6 if FULL else 2
    for restart in range(restarts):
        until(lambda restart=restart: rig.ended() >= 20 * (restart + 1), "pages")
        running.append(rig.worker())
        running.pop(0).stop()
    rig.until_done(300)
    tries, counts = rig.redis.hlen("hr:{0}:content:tries"), rig.counts()
    row("rolling restarts", rig.audit(), restarts=restarts)
    assert (tries, counts["retried"], counts["reclaimed"]) == (0, 0, 0)

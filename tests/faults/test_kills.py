"""Workers are killed; nothing is lost, nothing stays behind, nothing stands in Mongo twice."""

from __future__ import annotations

import time

from faults.rig import FULL

SEEDS, KILLS = (50_000, 20) if FULL else (3_000, 3)
WORKERS = 2


def test_kill_9_over_many_seeds(rig, row):
    """One worker after the other is killed and replaced."""
    rig.offer(rig.origin.urls(SEEDS))
    running = [rig.worker() for _ in range(WORKERS)]
    began, in_flight = time.monotonic(), 0
    for kill in range(KILLS):
        rig.until(lambda kill=kill: rig.ended() >= SEEDS * (kill + 1) // (KILLS + 1), "pages", 600, 0.1)
        running.pop(0).kill()
        in_flight += rig.counts()["executing"]
        running.append(rig.worker())
    rig.until_done(600)
    seconds = time.monotonic() - began
    audit = rig.audit()
    row(
        f"kill -9, {KILLS} times over {SEEDS:,} seeds",
        lost=audit.lost,
        stuck=audit.stuck,
        mongo_duplicates=audit.mongo_duplicates,
        kafka_duplicates=f"{audit.kafka_duplicates} of {in_flight} in flight",
        seconds=f"{seconds:.0f}",
    )
    assert (audit.lost, audit.stuck, audit.mongo_duplicates, audit.difference) == (0, 0, 0, 0)
    assert audit.kafka_duplicates <= in_flight
    assert rig.counts()["failed"] == 0

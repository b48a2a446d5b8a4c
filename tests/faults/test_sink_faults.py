"""A sink dies, is away, or has no room; what it has acknowledged stays, what it hasn't waits."""

from __future__ import annotations

import time

import psutil
import pytest
from faults.disks import own_disk, resize
from faults.rig import FULL
from waiting import until

pytestmark = pytest.mark.faults

KILL_SECONDS, ITEMS = (30.0, 100_000) if FULL else (5.0, 2_500)
AWAY_SECONDS = 300.0 if FULL else 6.0
GROWTH_MB = 200
SMALL_DISK, LARGE_DISK = "300k", "64m"


def test_kafka_is_killed_again_and_again(rig, row):
    """Every item that it acknowledged, or that counts as finished, is there."""
    rig.offer(rig.origin.urls(ITEMS))
    workers = rig.joined(2)
    kills, counts = 0, rig.counts()
    until(lambda: rig.ended() > 0, "the first pages")
    began, killed = time.monotonic(), time.monotonic()
    while counts["ready"] or counts["executing"]:
        soon = not kills and counts["finished"] >= ITEMS // 4  # the short form may be over before its time has come
        if soon or time.monotonic() - killed >= KILL_SECONDS:
            rig.kafka_server.kill()
            rig.kafka_server.start()
            kills, killed = kills + 1, time.monotonic()
        assert time.monotonic() - began < 60 * KILL_SECONDS + 300, counts
        time.sleep(0.1)
        counts = rig.counts()
    audit, fault = rig.audit(), f"Kafka killed every {KILL_SECONDS:g} s over {ITEMS:,} items"
    row(fault, audit, kills=kills, kafka_duplicates=audit.kafka_duplicates)
    assert kills > 0
    assert all(worker.running for worker in workers)


@pytest.mark.parametrize("sink", ["kafka", "mongo"])
def test_a_sink_is_away(rig, row, sink):
    """Claims pause, memory stays bounded, no worker exits, everything goes on by itself."""
    rig.offer(rig.origin.urls(3_000))
    worker = rig.worker()
    until(lambda: rig.ended() >= 100, "pages")
    process = psutil.Process(worker.pid)
    before = most = process.memory_info().rss
    server = rig.kafka_server if sink == "kafka" else rig.mongo_server
    server.kill()
    away = time.monotonic()
    while time.monotonic() - away < AWAY_SECONDS:
        most = max(most, process.memory_info().rss)
        time.sleep(0.2)
    ended, carrying = rig.ended(), rig.counts()["executing"]
    server.start()
    until(lambda: rig.ended() > ended, "the worker to go on")
    rig.until_done(180)
    growth = (most - before) / 1e6
    figures = {"carried_meanwhile": carrying, "memory_grew_mb": f"{growth:.0f}"}
    row(f"{sink} away for {AWAY_SECONDS:g} s", rig.audit(), **figures)
    assert worker.running
    assert growth <= GROWTH_MB


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of its own with little room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with own_disk(folder, f"size={SMALL_DISK}"):
        yield folder


def test_no_room_for_files(files_rig, row, small_disk):
    """Items wait; there is no half line; with room all of them arrive."""
    rig = files_rig
    pages = rig.origin.urls(600)
    rig.offer(pages)
    worker = rig.worker(ITEMS_DIR=small_disk)
    until(lambda: "files: down" in worker.log.read_text(), "a full disk")
    lines = b"".join(file.read_bytes() for file in small_disk.glob("*.jsonl"))
    finished = rig.ended()
    resize(small_disk, f"size={LARGE_DISK}")
    rig.until_done()
    worker.stop()
    (rig.folder / "items").symlink_to(small_disk)
    row("disk full at the file sink", rig.audit(), finished=finished)
    assert lines.endswith(b"\n")
    assert lines.count(b"\n") >= finished
    assert rig.counts()["failed"] == 0


def test_no_room_for_media(files_rig, row, small_disk):
    """Pages wait for their images; none is finished without its own."""
    rig = files_rig
    rig.offer(rig.origin.urls(200, "album"))
    worker = rig.worker(FILES_STORE=small_disk)
    until(lambda: "the media store takes nothing" in worker.log.read_text(), "a full disk")
    resize(small_disk, f"size={LARGE_DISK}")
    rig.until_done()
    whole = [one for one in rig.items() if (small_disk / one["images"][0]["path"]).stat().st_size > 0]
    row("disk full at the media store", rig.audit(), items=len(whole))
    assert len(whole) == len(rig.items()) == len(rig.account)
    assert not list(small_disk.rglob("*.tmp"))

"""Redis dies, forgets its last second, or can't be reached; workers stay and lose nothing."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
from faults.rig import FULL, Rig, in_time
from faults.wire import Wire
from waiting import until

from testbed.servers import Redis

pytestmark = pytest.mark.faults

CUT_SECONDS = 60.0 if FULL else 8.0
SESSION_SECONDS = 3.0
AWAY_SECONDS = [1, 2 * SESSION_SECONDS] * (5 if FULL else 1)
RECONNECT_SECONDS = 10.0


def test_redis_is_killed_and_restarted(files_rig, row):
    """No worker exits; each goes on within seconds, with what it held, though Redis was away for sessions."""
    rig = files_rig
    rig.offer(rig.origin.urls(400 * len(AWAY_SECONDS), "slow"), site="paced")
    workers = rig.joined(4, SESSION_SECONDS=SESSION_SECONDS, CONCURRENT_REQUESTS=4)
    waits = []
    for number, away_s in enumerate(AWAY_SECONDS, 1):
        until(lambda number=number: rig.ended() >= 50 * number, "pages", 180)
        rig.redis_server.kill()
        time.sleep(away_s)  # it is away for so long: that is the fault, not a wait for something
        rig.redis_server.start()
        back, ended = time.monotonic(), rig.ended()
        until(lambda ended=ended: rig.ended() > ended, "workers to go on", RECONNECT_SECONDS + 20)
        waits.append(time.monotonic() - back)
    rig.until_done(240)
    waited = f"{max(waits):.1f}"
    row(f"Redis killed and restarted, {len(AWAY_SECONDS)} times", rig.audit(), goes_on_after_s_at_most=waited)
    assert all(worker.running for worker in workers)
    sessions_lost = sum(worker.log.read_text().count("was lost") for worker in workers)
    assert (sessions_lost, rig.counts()["reclaimed"]) == (0, 0)
    assert in_time(max(waits), RECONNECT_SECONDS)


def test_redis_forgets_its_last_second(fork_server, tmp_path, origin, row):
    """What it had acknowledged is gone; after one pass of the same offers nothing is missing."""
    with Redis(tmp_path / "own") as server:
        rig = Rig(fork_server, tmp_path, origin, server)
        try:
            rig.offer(origin.urls(600, "slow"))
            workers = rig.joined(2)
            until(lambda: rig.ended() >= 100, "pages")
            log = next((tmp_path / "own" / "redis" / "appendonlydir").glob("*.incr.aof"))
            kept = log.stat().st_size
            finished = rig.ended()  # before the offer: while its command starts, all may end
            rig.offer(origin.urls(100, "slow", first=600))
            until(lambda: rig.ended() >= finished + 20, "more pages")
            server.kill()
            cut = log.stat().st_size - kept
            with log.open("r+b") as file:
                file.truncate(kept)
            server.start()
            rig.offer(sorted(rig.account))  # the one pass
            rig.until_done(120)
            row("AOF cut by its last second", rig.audit(), bytes_cut=cut)
            assert cut > 0
            assert all(worker.running for worker in workers)
        finally:
            rig.close()


def test_a_worker_is_cut_off_from_redis(files_rig, row):
    """It stops fetching at its deadline; others do its work; when the wire is mended it joins them again."""
    rig = files_rig
    settings = {"SESSION_SECONDS": SESSION_SECONDS, "CONCURRENT_REQUESTS": 8}  # fewer than the turns: both get some
    with closing(Wire(rig.redis_server.port)) as wire:
        lonely = rig.worker(environment={"REDIS_URL": wire.url}, **settings)
        rig.offer(rig.origin.urls(800, "slow"), site="paced")
        until(lambda: rig.ended() >= 10, "pages")
        log = rig.origin.size()
        wire.cut()
        cut = time.monotonic()
        rig.worker(**settings)
        until(lambda: time.monotonic() - cut > CUT_SECONDS, "the wire to be mended", CUT_SECONDS + 10)
        asked = [at - cut for at, _, agent, _ in rig.origin.requests(log) if agent == lonely.name]
        log = rig.origin.size()
        wire.mend()
        rig.offer(rig.origin.urls(800, "slow", first=800), site="paced")
        until(lambda: any(agent == lonely.name for *_, agent, _ in rig.origin.requests(log)), "it to work again")
        rig.until_done(240)
    last = f"{max(asked, default=0):.1f} of {SESSION_SECONDS:g}"
    row(f"worker and Redis cut off for {CUT_SECONDS:g} s", rig.audit(), last_fetch_after_the_cut_s=last)
    assert lonely.running
    assert in_time(max(asked, default=0), SESSION_SECONDS + 0.1)


def test_pages_are_broken_off_at_the_deadline_when_redis_is_cut_off(files_rig, row):
    """By then another worker may ask the host: never are two of its pages open at once."""
    rig = files_rig
    settings = {"SESSION_SECONDS": SESSION_SECONDS, "CONCURRENT_REQUESTS": 8}
    with closing(Wire(rig.redis_server.port)) as wire:
        lonely = rig.worker(environment={"REDIS_URL": wire.url}, **settings)
        log = rig.origin.size()
        rig.offer(rig.origin.urls(8, "hang"))
        until(lambda: len(rig.origin.requests(log)) == 8, "pages to be asked for")
        assert rig.open_pages(lonely) == 8
        wire.cut()
        cut = time.monotonic()
        until(lambda: rig.open_pages(lonely) == 0, "them to be broken off")
        broken_off_s = time.monotonic() - cut
    row("cut off from Redis, 8 hanging pages", open_s=f"{broken_off_s:.1f} of {SESSION_SECONDS:g}")
    assert lonely.running
    assert in_time(broken_off_s, SESSION_SECONDS + 0.5)

"""A turn delays requests to its host, and records the host's health."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from samples import TURN
from waiting import PATIENCE_SECONDS

from crawler.base.errors import HostBackoffError
from crawler.frontier.settlement import TurnRelease
from crawler.worker.visits.turn import Turn

DELAY_S = 0.05


async def test_a_turn_sends_one_request_at_a_time_a_delay_apart():
    turn, loop, starts, at_once = Turn("a.test", TURN, 0, DELAY_S), asyncio.get_running_loop(), [], []

    async def request():
        await turn.start()
        starts.append(loop.time())
        at_once.append(1)
        await asyncio.sleep(0)
        assert len(at_once) == 1
        at_once.clear()
        turn.finish()

    await asyncio.gather(*(request() for _ in range(4)))
    assert all(later - earlier >= DELAY_S for earlier, later in itertools.pairwise(starts))


async def test_a_cancelled_start_leaves_the_turn_free():
    turn = Turn("a.test", TURN, 0, 60.0)
    await turn.start()
    queued = asyncio.create_task(turn.start())
    await asyncio.sleep(0)
    queued.cancel()
    await asyncio.wait([queued])
    turn.finish()
    paused = asyncio.create_task(turn.start())
    await asyncio.sleep(0)
    paused.cancel()
    await asyncio.wait([paused])
    turn.delay_s = 0.0
    async with asyncio.timeout(PATIENCE_SECONDS):
        await turn.start()


async def test_the_longest_backoff_counts():
    turn = Turn("a.test", TURN, 0, 0.0)
    assert (turn.backoff_s, turn.pause_s()) == (0.0, 0.0)
    turn.back_off(30.0)
    turn.back_off(0.0)  # the next answer doesn't say
    turn.back_off(5.0)
    assert 29 < turn.pause_s() <= 30
    assert 29_000 < turn.release().backoff_ms <= 30_000


async def test_a_released_turn_tells_when_its_last_request_started():
    turn = Turn("a.test", TURN, 0, 0.0)
    assert not turn.released
    assert turn.release() == TurnRelease("a.test", TURN, -1, 0)
    assert turn.released
    await turn.start()
    assert 0 <= turn.release().since_start_ms < 1_000


@pytest.mark.parametrize(
    ("sign", "delay_s", "pause_s"), [("failures", 20, 0), ("overloads", 0, 1), ("overloads", 20, 20)]
)
async def test_an_overload_begins_a_backoff_at_once(sign, delay_s, pause_s):
    turn = Turn("a.test", TURN, 0, delay_s)
    turn.record(sign)
    assert pause_s - 1 < turn.backoff_s <= pause_s


async def test_a_long_backoff_refuses_a_request_that_waits_already():
    turn = Turn("a.test", TURN, 0, 0.0)
    await turn.start()
    queued = asyncio.create_task(turn.start())
    await asyncio.sleep(0)
    turn.back_off(3_600)
    turn.finish()
    with pytest.raises(HostBackoffError):
        await queued

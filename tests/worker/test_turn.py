"""A turn paces requests to its host, and keeps what they tell of the host's health."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from crawler.errors import HostBackoffError
from crawler.frontier.settlement import TurnRelease
from crawler.worker.turn import Turn

DELAY_S = 0.05


async def test_a_turn_sends_one_request_at_a_time_a_delay_apart():
    turn, loop, starts, at_once = Turn("a.test", 1001, 0, DELAY_S), asyncio.get_running_loop(), [], []

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


async def test_waiting_on_a_turn_may_be_given_up():
    turn = Turn("a.test", 1001, 0, 60.0)
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
    async with asyncio.timeout(1):
        await turn.start()  # nobody kept it


async def test_a_host_that_wants_to_be_left_alone_is_left_alone_on_the_turn_at_hand():
    turn = Turn("a.test", 1001, 0, 0.0)
    assert (turn.backoff_s, turn.pause_s()) == (0.0, 0.0)
    turn.back_off(30.0)
    turn.back_off(0.0)  # the next answer doesn't say
    turn.back_off(5.0)
    assert 29 < turn.pause_s() <= 30
    assert 29_000 < turn.release().backoff_ms <= 30_000


async def test_a_turn_goes_back_with_the_age_of_its_last_start():
    turn = Turn("a.test", 1001, 0, 0.0)
    assert not turn.released
    assert turn.release() == TurnRelease("a.test", 1001, -1, 0)
    assert turn.released
    await turn.start()
    assert 0 <= turn.release().since_start_ms < 1_000


async def test_a_host_that_recovered_while_a_page_was_under_way_is_well():
    turn = Turn("a.test", 1001, 0, 0.0)
    turn.record(success=False)
    assert turn.failing
    turn.record(success=True)
    assert not turn.failing


@pytest.mark.parametrize(
    ("failures", "delay_s", "pause_s"), [(1, 0, 1), (2, 0, 2), (5, 0, 16), (1, 20, 20), (3, 20, 80), (12, 0, 300)]
)
async def test_a_page_s_further_requests_wait_ever_longer_for_a_failing_host(failures, delay_s, pause_s):
    turn = Turn("a.test", 1001, 0, delay_s)
    for _ in range(failures):
        turn.record(success=False)
    assert pause_s - 0.1 < turn.backoff_s <= pause_s


async def test_they_don_t_wait_for_long():
    turn = Turn("a.test", 1001, 0, 0.0)
    turn.back_off(11)
    with pytest.raises(HostBackoffError) as caught:
        await turn.start()
    assert 10 < caught.value.wait_s <= 11
    assert not turn._in_use.locked()


async def test_who_queues_when_the_host_asks_to_be_left_alone_is_told():
    turn = Turn("a.test", 1001, 0, 0.0)
    await turn.start()
    queued = asyncio.create_task(turn.start())
    await asyncio.sleep(0)
    turn.back_off(3_600)
    turn.finish()
    with pytest.raises(HostBackoffError):
        await queued

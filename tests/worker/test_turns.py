"""Turns are acquired for hosts of which the worker holds no seed."""

from __future__ import annotations

import asyncio

import pytest
from samples import a_visit

from crawler.errors import FrontierError, HostBackoffError, SessionLostError
from crawler.frontier.settlement import TurnRelease
from crawler.worker.turns import HostBackoff

HOST = "img.test"
ANSWER_SECONDS = 5.0


@pytest.fixture
async def turns(frontier, turns_of):
    await frontier.polite(delay_ms=30)
    return turns_of("A")


async def test_a_turn_is_waited_for(frontier, turns):
    first = await turns.acquire(HOST, a_visit())
    assert (first.host, first.delay_s) == (HOST, 0.03)
    waiting = asyncio.create_task(turns.acquire(HOST, a_visit()))
    await frontier.until(lambda: asyncio.sleep(0, turns.queued))
    assert not waiting.done()
    turns.release(first)
    async with asyncio.timeout(ANSWER_SECONDS):
        assert (await waiting).token != first.token
    assert turns.queued == 0


async def test_a_host_with_a_long_backoff_is_not_waited_for(frontier, turns):
    lane = await turns.acquire(HOST, a_visit())
    await frontier.settle("A", [], [TurnRelease(HOST, lane.token, 0, backoff_ms=3_600_000)])
    with pytest.raises(HostBackoffError) as caught:
        await turns.acquire(HOST, a_visit())
    assert 3_590 < caught.value.wait_s <= 3_600


async def test_a_short_backoff_is_waited_for(frontier, turns):
    lane = await turns.acquire(HOST, a_visit())
    await frontier.settle("A", [], [TurnRelease(HOST, lane.token, 0, backoff_ms=50)])
    async with asyncio.timeout(ANSWER_SECONDS):
        assert (await turns.acquire(HOST, a_visit())).token


async def test_waiting_for_a_turn_outlasts_an_outage_of_redis(turns, outage, caplog):
    outage(calls=2)
    assert (await turns.acquire(HOST, a_visit())).host == HOST
    assert caplog.text.count("waiting for Redis: away") == 2


async def test_a_worker_that_stops_or_has_no_session_acquires_none(turns, turns_of):
    with pytest.raises(FrontierError):
        await turns_of(None).acquire(HOST, a_visit())
    turns._stopping.set()
    with pytest.raises(FrontierError):
        await turns.acquire(HOST, a_visit())


async def test_a_visit_that_has_ended_acquires_none(turns):
    visit = a_visit()
    visit.abandon()
    with pytest.raises(SessionLostError):
        await turns.acquire(HOST, visit)


async def test_a_report_is_published_and_reaches_the_frontier_while_the_turn_is_kept(frontier, turns, turns_of):
    lane = await turns.acquire(HOST, a_visit())
    heard = []
    turns._events.subscribe(HostBackoff, heard.append)
    lane.back_off(3_600)
    turns.report(lane)
    assert [event.host for event in heard] == [HOST]
    assert heard[0].seconds > 3_590
    assert await turns._settler.drain(ANSWER_SECONDS)
    with pytest.raises(HostBackoffError):
        await turns_of("B").try_acquire(HOST, "s")
    assert not lane.released

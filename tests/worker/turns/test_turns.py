"""Turns are acquired for hosts of which the worker holds no seed."""

from __future__ import annotations

import asyncio

import pytest
from samples import a_visit

from crawler.base.errors import FrontierError, HostBackoffError, SessionLostError
from crawler.frontier.settlement import TurnRelease
from crawler.worker.turns.turns import MAX_POLL_SECONDS, SURPLUS_TURN, CrawlDelay, HostBackoff
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import Purpose, RequestState, TurnUse

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


async def test_waiting_for_a_turn_outlasts_an_outage_of_redis(turns, outage, caplog):
    outage(calls=2)
    assert (await turns.acquire(HOST, a_visit())).host == HOST
    assert caplog.text.count("waiting for Redis: away") == 1


async def test_a_worker_that_stops_acquires_none(turns):
    turns._stopping.set()
    with pytest.raises(FrontierError):
        await turns.acquire(HOST, a_visit())


async def test_without_a_session_a_turn_is_waited_for_until_the_visit_ends(turns_of):
    turns, visit = turns_of(None), a_visit()
    assert await turns.try_acquire(HOST, "s") == (None, MAX_POLL_SECONDS)
    visit.abandon()
    with pytest.raises(SessionLostError):
        await turns.acquire(HOST, visit)


async def test_a_request_ends_its_use_of_its_turns_once(turns):
    visit = a_visit()
    lane = await turns.acquire(HOST, visit)
    address, _ = await turns.try_acquire_address("@127.0.0.1", 4, 0.0)
    turns.note_use(address, visit)
    await lane.start()
    assert turns.users(lane.partition) == {visit}
    state = RequestState(Purpose(visit))
    state.turn_use = TurnUse(lane, is_acquired=True, address=address, start_again=None, may_send=lambda: True)
    turns.end_request(state)
    assert (lane.released, address.released) == (True, True)
    assert state.turn_use is None
    assert turns.users(lane.partition) == set()
    turns.end_request(state)


async def test_a_request_on_the_lane_of_its_visit_leaves_it_for_others(turns):
    lane = await turns.acquire(HOST, a_visit())
    await lane.start()
    state = RequestState(Purpose(a_visit(), lane))
    state.turn_use = TurnUse(lane, is_acquired=False, address=None, start_again=None, may_send=lambda: True)
    turns.end_request(state)
    turns.end_request(state)  # what a middleware has ended is left
    assert (lane.released, state.held_lane) == (False, lane)
    async with asyncio.timeout(ANSWER_SECONDS):
        await lane.start()


async def test_a_report_is_published_and_reaches_the_frontier_while_the_turn_is_kept(frontier, turns, turns_of):
    lane = await turns.acquire(HOST, a_visit())
    heard = []
    turns._events.subscribe(HostBackoff, heard.append)
    lane.back_off(3_600)
    turns.report(lane)
    assert [event.host for event in heard] == [HOST]
    assert heard[0].seconds > 3_590
    assert await turns._settler.send_all(ANSWER_SECONDS)
    with pytest.raises(HostBackoffError):
        await turns_of("B").try_acquire(HOST, "s")
    assert not lane.released


async def test_a_turn_that_was_acquired_before_a_crawl_delay_waits_for_those_before_it(frontier, turns, monkeypatch):
    monkeypatch.setattr("crawler.worker.turns.turns.MAX_POLL_SECONDS", 0.01)
    await frontier.polite(concurrency=2)
    heard = []
    turns._events.subscribe(CrawlDelay, heard.append)
    first, second = [await turns.acquire(HOST, a_visit()) for _ in range(2)]
    for turn in (first, second):
        turn.slow_down(0.2)
    new, begun = a_visit(), a_visit()
    begun.started = True
    with pytest.raises(RefusedError) as caught:
        await turns.heed_politeness(second, new)
    assert caught.value.outcome == SURPLUS_TURN
    assert heard == [(HOST, 0.2)]
    waiting = asyncio.create_task(turns.heed_politeness(second, begun))
    await turns.heed_politeness(first, begun)
    assert 0 < first.pause_s() <= 0.2
    assert not waiting.done()
    turns.release(first)
    async with asyncio.timeout(ANSWER_SECONDS):
        await waiting
    assert (second.must_ask, second.delay_s) == (False, 0.2)


async def test_a_turn_keeps_the_politeness_that_its_host_has_by_now(frontier, turns):
    await frontier.polite(concurrency=2)
    first, second = [await turns.acquire(HOST, a_visit()) for _ in range(2)]
    await frontier.polite(delay_ms=200)
    for turn in (first, second):
        turn.change_politeness()
    begun = a_visit()
    begun.started = True
    await turns.heed_politeness(first, begun)
    assert (first.must_ask, first.delay_s) == (False, 0.2)
    with pytest.raises(RefusedError) as caught:
        await turns.heed_politeness(second, a_visit())
    assert caught.value.outcome == SURPLUS_TURN
    turns.release(second)
    assert await turns._settler.send_all(ANSWER_SECONDS)
    await frontier.polite(delay_ms=100)
    first.change_politeness()
    await turns.heed_politeness(first, begun)
    assert (first.must_ask, first.delay_s) == (False, 0.1)

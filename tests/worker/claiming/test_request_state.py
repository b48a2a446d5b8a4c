"""The state of a visit's request is one object in its meta."""

from __future__ import annotations

import asyncio
import gc

import pytest
from samples import RecordedVisit, a_visit
from scrapy import Request

from crawler.base.events import Events
from crawler.worker.claiming.request_state import META_KEY, RequestState, state_of
from crawler.worker.claiming.visits import PageFetched, VisitEnded


def test_only_requests_of_visits_have_a_state():
    state = RequestState(a_visit())
    request = Request("http://a.test/", meta=state.meta(download_timeout=3))
    assert state_of(request) is state
    assert request.meta == {META_KEY: state, "download_timeout": 3}
    assert state_of(request.replace(url="http://a.test/moved")) is state  # a redirect's
    assert state_of(Request("http://a.test/")) is None
    assert state_of(None) is None


async def test_a_request_doesn_t_hold_a_turn_that_was_released():
    visit = a_visit()
    state = RequestState(visit, visit.lane)
    assert state.held_lane is visit.lane
    visit.lane.release()
    assert state.held_lane is None


@pytest.mark.parametrize("keeps_lane", [True, False])
async def test_a_callback_ends_once(keeps_lane):
    events, heard = Events(), []
    for kind in (PageFetched, VisitEnded):
        events.subscribe(kind, lambda event: heard.append(type(event)))
    visit = a_visit(events=events)
    visit.begin_part(fetches=True)  # the page's own callback is still at work
    state = RequestState(visit, keeps_lane=keeps_lane)
    state.end_callback()
    state.end_callback()
    assert heard == []
    visit.end_fetch()
    visit.end_part()
    assert heard == [PageFetched, VisitEnded]


@pytest.mark.parametrize("has_cycle", [False, True], ids=["plain", "in a reference cycle"])
async def test_a_request_that_nobody_holds_any_more_ends_its_part(has_cycle):
    recorded = RecordedVisit()
    request = recorded.request(is_page=True, loop=asyncio.get_running_loop())
    if has_cycle:
        request.meta["itself"] = request
    gc.disable()
    try:
        del request
        await asyncio.sleep(0)
        assert bool(recorded.outcomes) != has_cycle  # a cycle waits for the garbage collector
    finally:
        gc.enable()
    gc.collect()
    await asyncio.sleep(0)
    assert recorded.outcomes == [("fail", "request-dropped")]


async def test_a_request_in_a_reference_cycle_that_the_collector_finds_in_another_thread_ends_its_part():
    recorded = RecordedVisit()
    request = recorded.request(is_page=True, loop=asyncio.get_running_loop())
    request.meta["itself"] = request
    del request
    await asyncio.to_thread(gc.collect)
    await asyncio.sleep(0)
    assert recorded.outcomes == [("fail", "request-dropped")]

"""No request leaves without a turn, and no turn stays with a request that is over."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request

from crawler.errors import FrontierError, SessionLostError
from crawler.middlewares.turns import TurnMiddleware
from crawler.worker.outcomes import Outcome, outcome_of_error
from crawler.worker.refused import RefusedError
from crawler.worker.request_state import state_of


@pytest.fixture
def middleware(worker):
    return TurnMiddleware(worker)


async def refused(middleware, request):
    with pytest.raises((RefusedError, SessionLostError)) as caught:
        await middleware.process_request(request)
    assert outcome_of_error(caught.value) == ("release", "no-session")


async def test_requests_of_other_spiders_pass_untouched(middleware, worker):
    request = Request("http://a.test/")
    assert await middleware.process_request(request) is None
    middleware.process_exception(request, ValueError())
    assert (request.meta, worker.turns.acquired) == ({}, [])


@pytest.mark.parametrize("how", ["response", "exception"])
async def test_a_request_holds_its_lane_until_it_is_over(middleware, held, how):
    request = held.request()
    await middleware.process_request(request)
    assert held.lane._in_use.locked()
    if how == "response":
        response = held.response(request)
        assert middleware.process_response(request, response) is response
    else:
        assert middleware.process_exception(request, TimeoutError()) is None
    assert not held.lane._in_use.locked()
    assert not state_of(request).in_flight


async def test_what_was_never_sent_frees_nothing(middleware, held):
    sending, refused_before = held.request(), held.request()
    await middleware.process_request(sending)
    middleware.process_exception(refused_before, RefusedError(Outcome("fail", "robots")))
    assert held.lane._in_use.locked()


async def test_without_a_lane_one_is_borrowed_and_given_back(middleware, held, worker):
    request = held.request("http://b.test/x", lane=None)
    await middleware.process_request(request)
    assert worker.turns.acquired == [("b.test", "s")]
    middleware.process_response(request, held.response(request))
    assert [turn.host for turn in worker.turns.released] == ["b.test"]
    assert state_of(request).lane is None
    await middleware.process_request(request)  # its redirect, say
    assert len(worker.turns.acquired) == 2


async def test_a_lane_that_was_given_back_is_used_no_more(middleware, held, worker):
    held.lane.release()
    await middleware.process_request(held.request())
    assert worker.turns.acquired == [("a.test", "s")]


@pytest.mark.parametrize("why", ["ended", "dead", "another session", "given back meanwhile"])
async def test_nothing_is_sent_for_a_seed_that_isn_t_ours(middleware, held, worker, why):
    request = held.request()
    if why == "ended":
        held.visit.abandon()
    elif why == "dead":
        worker.session.alive = False
    elif why == "another session":
        worker.session.owner = "B"
    else:
        held.lane.delay_s = 0.02
        await held.lane.start()
        held.lane.finish()
        asyncio.get_running_loop().call_later(0.005, held.lane.release)
    await refused(middleware, request)
    assert not held.lane._in_use.locked()


async def test_a_visit_that_is_cut_off_doesn_t_wait_out_the_delay(middleware, held, worker):
    held.lane.delay_s = 3_600
    await held.lane.start()
    held.lane.finish()
    waiting = asyncio.create_task(refused(middleware, held.request()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    held.visit.release()
    async with asyncio.timeout(1):
        await waiting
    assert not held.lane._in_use.locked()


async def test_a_cancelled_request_leaves_no_borrowed_turn_behind(middleware, held, worker, monkeypatch):
    async def busy(host, visit, real=worker.turns.acquire):
        lane = await real(host, visit)
        await lane.start()  # somebody else's request is on it
        return lane

    monkeypatch.setattr(worker.turns, "acquire", busy)
    task = asyncio.create_task(middleware.process_request(held.request("http://b.test/", lane=None)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert [turn.host for turn in worker.turns.released] == ["b.test"]


async def test_a_worker_without_a_session_lends_nothing(middleware, held, worker, monkeypatch):
    async def none(host, visit):
        raise FrontierError("no session")

    monkeypatch.setattr(worker.turns, "acquire", none)
    with pytest.raises(FrontierError):
        await middleware.process_request(held.request("http://b.test/", lane=None))
    assert worker.turns.released == []

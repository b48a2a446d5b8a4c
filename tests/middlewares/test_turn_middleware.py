"""No request is sent without a turn, and no turn is held after a request has ended."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadTimeoutError
from waiting import PATIENCE_SECONDS

from crawler.base.errors import HostBackoffError, SessionLostError
from crawler.middlewares.turns import TurnMiddleware
from crawler.worker.reports.answer_counts import Traffic
from crawler.worker.visits.outcomes import Outcome, outcome_of_error
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of


@pytest.fixture
def middleware(worker):
    return TurnMiddleware(worker, None)


async def refused(middleware, request):
    with pytest.raises((RefusedError, SessionLostError)) as caught:
        await middleware.process_request(request)
    assert outcome_of_error(caught.value) == ("release", "no-session")


async def test_requests_of_other_spiders_pass_untouched(middleware, worker):
    request = Request("http://a.test/")
    assert await middleware.process_request(request) is None
    await middleware.process_exception(request, ValueError())
    assert (request.meta, worker.turns.acquired) == ({}, [])


@pytest.mark.parametrize("how", ["response", "exception"])
async def test_a_request_holds_its_lane_until_it_has_ended(middleware, recorded, how):
    request = recorded.request()
    await middleware.process_request(request)
    assert recorded.lane._in_use.locked()
    if how == "response":
        response = recorded.response(request)
        assert middleware.process_response(request, response) is response
    else:
        assert await middleware.process_exception(request, TimeoutError()) is None
    assert not recorded.lane._in_use.locked()
    assert state_of(request).turn_use is None


async def test_the_worker_learns_how_large_answers_are_and_whose(middleware, recorded, worker):
    request = recorded.request()
    await middleware.process_request(request)
    middleware.process_response(request, recorded.response(request).replace(body=b"words"))
    assert worker.life.headroom.answers == [5]
    assert worker.reports.tally.answers == [("a.test", 200, 5)]


async def test_what_came_back_is_counted_by_host_and_plan(middleware, recorded, worker):
    first = recorded.request()
    await middleware.process_request(first)
    state_of(first).bytes_in, state_of(first).bytes_out = 700, 90
    first.meta["download_latency"] = 0.2
    middleware.process_response(first, recorded.response(first, 404))
    second = recorded.request()
    await middleware.process_request(second)
    await middleware.process_exception(second, DownloadTimeoutError())
    third = recorded.request()
    await middleware.process_request(third)
    await middleware.process_exception(third, SessionLostError("abandoned"))  # says nothing of the host
    plan, delay_s = recorded.visit.seed.plan, recorded.lane.delay_s
    assert worker.reports.answers.counted == [
        ("a.test", plan, "404", Traffic(700, 90, 0.2, delay_s)),
        ("a.test", plan, "timeout", Traffic(0, 0, 0.0, delay_s)),
    ]


@pytest.mark.parametrize("url", ["http://a.test", "HTTP://A.test?x", "http://a.test:80/x"])
async def test_a_host_that_answers_shows_that_there_is_a_way_out(middleware, recorded, worker, url):
    request = recorded.request(url)
    await middleware.process_request(request)
    middleware.process_response(request, recorded.response(request))
    assert worker.life.egress.places == [("http://a.test", "s")]


@pytest.mark.parametrize("status", [200, 503])
async def test_an_answer_of_another_middleware_says_nothing_of_the_host_or_the_way_out(
    middleware, recorded, worker, status
):
    request = recorded.request()
    request.meta["proxy"] = "http://proxy.test"
    worker.life.egress.blames_host = False
    response = recorded.response(request, status)
    assert middleware.process_response(request, response) is response  # as from a cache
    assert (worker.life.egress.places, recorded.lane.failing) == ([], False)


async def test_a_request_that_was_never_sent_frees_no_lane(middleware, recorded):
    sending, refused_before = recorded.request(), recorded.request()
    await middleware.process_request(sending)
    await middleware.process_exception(refused_before, RefusedError(Outcome("fail", "robots")))
    assert recorded.lane._in_use.locked()


async def test_a_request_without_a_lane_acquires_a_turn_and_releases_it(middleware, recorded, worker):
    request = recorded.request("http://b.test/x", lane=None)
    await middleware.process_request(request)
    assert worker.turns.acquired == [("b.test", "s")]
    middleware.process_response(request, recorded.response(request))
    assert [turn.host for turn in worker.turns.released] == ["b.test"]
    assert state_of(request).turn_use is None
    await middleware.process_request(request)  # its redirect, say
    assert len(worker.turns.acquired) == 2


async def test_a_lane_that_was_released_is_not_used_again(middleware, recorded, worker):
    recorded.lane.release()
    await middleware.process_request(recorded.request())
    assert worker.turns.acquired == [("a.test", "s")]


async def test_a_crawl_delay_is_kept_also_when_it_becomes_known_while_a_request_waits(middleware, recorded, worker):
    recorded.lane.delay_s = 0.02
    await middleware.process_request(recorded.request(crawl_delay_s=0.01))
    sent_s = asyncio.get_running_loop().time()
    recorded.lane.finish()
    asyncio.get_running_loop().call_later(0.01, recorded.lane.slow_down, 0.05)
    await middleware.process_request(recorded.request(crawl_delay_s=0.01))
    assert worker.turns.kept == [0.01, 0.05]
    assert asyncio.get_running_loop().time() - sent_s >= 0.05


async def test_a_request_that_is_sent_again_starts_as_if_it_were_new(middleware, recorded, worker):
    request, lane = recorded.request(), recorded.lane
    lane.delay_s = 0.03
    await middleware.process_request(request)
    sent_s = asyncio.get_running_loop().time() - lane.elapsed_s()
    lane.slow_down(0.05)
    await state_of(request).turn_use.start_again(request)
    assert asyncio.get_running_loop().time() - sent_s >= 0.05
    assert worker.turns.kept == [0.05]
    lane.back_off(60.0)
    with pytest.raises(HostBackoffError):
        await state_of(request).turn_use.start_again(request)
    assert lane._in_use.locked()  # until the request has ended
    lane._backoff_until, worker.life.session.leases[0].owner = 0.0, "B"
    with pytest.raises(RefusedError) as caught:
        await state_of(request).turn_use.start_again(request)
    assert caught.value.outcome == ("release", "no-session")


@pytest.mark.parametrize("why", ["ended", "dead", "another session", "released meanwhile"])
async def test_nothing_is_sent_for_a_seed_of_another_worker(middleware, recorded, worker, why):
    request = recorded.request()
    if why == "ended":
        recorded.visit.abandon()
    elif why == "dead":
        worker.life.session.leases[0].alive = False
    elif why == "another session":
        worker.life.session.leases[0].owner = "B"
    else:
        recorded.lane.delay_s = 0.02
        await recorded.lane.start()
        recorded.lane.finish()
        asyncio.get_running_loop().call_later(0.005, recorded.lane.release)
    await refused(middleware, request)
    assert not recorded.lane._in_use.locked()


async def test_a_visit_that_is_released_doesn_t_wait_for_the_delay(middleware, recorded, worker):
    recorded.lane.delay_s = 3_600
    await recorded.lane.start()
    recorded.lane.finish()
    waiting = asyncio.create_task(refused(middleware, recorded.request()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    recorded.visit.release()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await waiting
    assert not recorded.lane._in_use.locked()


async def test_a_request_that_is_cancelled_as_its_turn_falls_free_leaves_it_free(middleware, recorded):
    first = recorded.request()
    await middleware.process_request(first)
    waiting = asyncio.ensure_future(middleware.process_request(recorded.request()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    recorded.lane.finish()
    for _ in range(20):  # step by step, until the turn is taken and whoever waits hasn't heard of it
        if recorded.lane._in_use.locked():
            break
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not recorded.lane._in_use.locked()

"""Whatever a callback does, its visit ends exactly once, after all that it yielded."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from twisted.python.failure import Failure

from crawler.base.errors import ExtractError
from crawler.base.item import Item
from crawler.middlewares.visits import VisitSpiderMiddleware
from crawler.worker.visits.request_state import state_of

PAGE = Item("id", "text", "s", "http://a.test/", "2026-11-21T00:00:00Z")


@pytest.fixture
def middleware():
    return VisitSpiderMiddleware(media=True, retry_base_s=2, retry_max_s=600)


async def as_generator(*outputs, error=None):
    for output in outputs:
        yield output
    if error:
        raise error


async def collect(outputs):
    return [output async for output in outputs]


async def run(middleware, response, *outputs, error=None):
    return await collect(middleware.process_spider_output(response, as_generator(*outputs, error=error)))


def failure_of(request, error):
    failure = Failure(error)
    failure.request = request
    return failure


async def test_outputs_of_other_spiders_pass_untouched(middleware, recorded):
    response = recorded.response(Request("http://a.test/"))
    assert await run(middleware, response, {"x": 1}, None) == [{"x": 1}, None]


async def test_a_visit_ends_when_all_of_its_items_are_delivered(middleware, recorded):
    assert await run(middleware, recorded.response(), PAGE, None, {"x": 1}) == [PAGE, {"x": 1}]
    assert (recorded.outcomes, recorded.fetched) == ([], [])
    recorded.visit.end_fetch()  # the page's media
    assert recorded.fetched == [recorded.visit]
    recorded.visit.end_part()
    recorded.visit.end_part()
    assert recorded.outcomes == [("finish", "")]


async def test_without_media_an_item_keeps_no_lane(recorded):
    middleware = VisitSpiderMiddleware(media=False, retry_base_s=2, retry_max_s=600)
    await run(middleware, recorded.response(), PAGE)
    assert (recorded.fetched, recorded.outcomes) == ([recorded.visit], [])


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ZeroDivisionError(), ("fail", "callback-error")),
        (ExtractError("no-text"), ("fail", "no-text")),
        (asyncio.CancelledError(), ("retry", "download-error")),
    ],
)
@pytest.mark.parametrize("before", [0, 1])
async def test_a_callback_that_raises_decides_its_seed_when_its_items_are_delivered(
    middleware, recorded, before, error, outcome
):
    with pytest.raises(type(error)):
        await run(middleware, recorded.response(), *[{"x": 1}] * before, error=error)
    if before:
        assert recorded.outcomes == []
        recorded.visit.end_part()
    assert recorded.outcomes == [outcome]


async def test_a_visit_that_has_ended_yields_nothing_more(middleware, recorded):
    recorded.visit.release()
    assert await run(middleware, recorded.response(), PAGE) == []
    assert recorded.outcomes == [("release", "stopped")]


async def test_a_request_to_the_same_host_runs_on_the_same_lane(middleware, recorded):
    first = recorded.response()
    [request] = await run(middleware, first, Request("http://a.test/2", meta=dict(first.meta)))
    assert state_of(request).held_lane is recorded.lane
    assert (recorded.fetched, recorded.outcomes) == ([], [])
    await run(middleware, recorded.response(request))
    assert (recorded.fetched, recorded.outcomes) == ([recorded.visit], [("finish", "")])


async def test_a_request_to_another_host_doesn_t_keep_the_lane(middleware, recorded):
    [request] = await run(
        middleware, recorded.response(), Request("http://b.test/", meta=dict(recorded.request().meta))
    )
    assert state_of(request).held_lane is None
    assert (recorded.fetched, recorded.outcomes) == ([recorded.visit], [])
    await run(middleware, recorded.response(request))
    assert recorded.outcomes == [("finish", "")]


async def test_a_follow_up_that_fails_decides_the_outcome(middleware, recorded):
    [request] = await run(middleware, recorded.response(), Request("http://a.test/2"))
    assert await collect(request.errback(failure_of(request, TimeoutError()))) == []
    assert recorded.outcomes == [("retry", "download-error")]
    assert recorded.settlements[0].amount_ms > 0


async def test_a_request_yielded_twice_is_two_parts(middleware, recorded):
    twice = Request("http://a.test/2")
    requests = await run(middleware, recorded.response(), twice, twice)
    assert len({id(request) for request in requests}) == 2
    for request in requests:
        assert recorded.outcomes == []
        await run(middleware, recorded.response(request))
    assert (recorded.fetched, recorded.outcomes) == ([recorded.visit], [("finish", "")])


@pytest.mark.parametrize("again", [lambda request: request, Request.copy, Request.replace], ids=["same", "copy", "new"])
async def test_the_request_that_was_answered_may_be_yielded_again(middleware, recorded, again):
    def errback(failure):
        return [{"instead": 1}]

    [first] = await run(middleware, recorded.response(), Request("http://a.test/2", errback=errback))
    state = state_of(first)
    [second] = await run(middleware, recorded.response(first), again(first))
    assert state_of(first) is state
    assert state.purpose.part.ended
    assert not state_of(second).purpose.part.ended
    assert await collect(second.errback(failure_of(second, TimeoutError()))) == [{"instead": 1}]
    recorded.visit.end_part()  # the item of the errback
    assert recorded.outcomes == [("finish", "")]


async def test_an_error_does_not_end_the_part_of_a_request_that_was_yielded_again(middleware, recorded):
    response = recorded.response()
    with pytest.raises(ZeroDivisionError):
        await run(middleware, response, response.request, error=ZeroDivisionError())
    middleware.raised(response)  # as Scrapy tells of the error
    assert recorded.outcomes == []  # the second request is under way


@pytest.mark.parametrize("kind", ["function", "generator", "coroutine"])
async def test_a_follow_up_s_own_errback_is_called_and_may_yield(middleware, recorded, kind):
    def function(failure):
        return [{"instead": 1}]

    def generator(failure):
        yield {"instead": 1}

    async def coroutine(failure):
        return [{"instead": 1}]

    errback = {"function": function, "generator": generator, "coroutine": coroutine}[kind]
    [request] = await run(middleware, recorded.response(), Request("http://a.test/2", errback=errback))
    assert await collect(request.errback(failure_of(request, TimeoutError()))) == [{"instead": 1}]
    assert recorded.outcomes == []
    recorded.visit.end_part()
    assert recorded.outcomes == [("finish", "")]


async def test_an_errback_that_raises_ends_its_part_once(middleware, recorded):
    def broken(failure):
        raise ZeroDivisionError

    [request] = await run(middleware, recorded.response(), Request("http://a.test/2", errback=broken))
    failure = failure_of(request, TimeoutError())
    with pytest.raises(ZeroDivisionError):
        await collect(request.errback(failure))
    middleware.raised(failure)
    assert recorded.outcomes == [("finish", "")]

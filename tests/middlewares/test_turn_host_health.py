"""Every answer says how its host is, whatever was asked for, and the host's turns keep it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from scrapy import exceptions
from twisted.internet.error import NoRouteError

from crawler.errors import HostBackoffError, SessionLostError
from crawler.middlewares.turns import TurnMiddleware
from crawler.worker.lanes import Lane
from crawler.worker.refused import RefusedError


@pytest.fixture
def middleware(worker):
    return TurnMiddleware(worker)


async def answered(middleware, held, status, **headers):
    request = held.request()
    await middleware.process_request(request)
    middleware.process_response(request, held.response(request, status, **headers))
    return held.lane


@pytest.mark.parametrize("status", [200, 204, 301, 304, 400, 401, 403, 404, 408, 410, 451])
async def test_an_answer_shows_that_the_host_is_well(middleware, held, status):
    lane = await answered(middleware, held, status)
    assert (lane.release().error_level_change, lane.failing) == (-1, False)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 520, 599])
async def test_an_answer_shows_that_the_host_has_too_much_to_do(middleware, held, worker, status):
    lane = await answered(middleware, held, status)
    assert lane.failing
    assert [(news.turn, news.error_level_change, news.error_level_min) for news in worker.turns.reports] == [
        (0, 1, 1)
    ]  # said at once
    back = lane.release()
    assert 900 < back.backoff_ms <= 1_000
    assert (back.turn, back.error_level_change, back.error_level_min) == (1001, 0, 0)  # and once


@pytest.mark.parametrize(
    "error",
    [
        exceptions.DownloadTimeoutError(),
        exceptions.DownloadConnectionRefusedError(),
        exceptions.DownloadFailedError(),  # reset, TLS
        NoRouteError(),
    ],
)
async def test_no_answer_says_the_same(middleware, held, error):
    request = held.request()
    await middleware.process_request(request)
    middleware.process_exception(request, error)
    assert held.lane.failing


@pytest.mark.parametrize(
    "error",
    [
        exceptions.CannotResolveHostError(),
        exceptions.DownloadCancelledError(),
        exceptions.ResponseDataLossError(),
        SessionLostError("cut off"),
        ValueError("ours"),
    ],
)
async def test_what_is_not_the_host_s_fault_says_nothing(middleware, held, error):
    request = held.request()
    await middleware.process_request(request)
    middleware.process_exception(request, error)
    back = held.lane.release()
    assert (back.error_level_change, back.error_level_min, back.backoff_ms) == (0, 0, 0)


def in_90_s():
    return format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)


@pytest.mark.parametrize(
    ("status", "retry_after", "seconds"),
    [
        (429, "90", 90),
        (503, "90", 90),
        (500, "90", 90),
        (503, in_90_s, 90),
        (503, "99999999999", 3_600),
        (503, "-90", 1),  # no more than any other failure
        (503, "Wed, 21 Oct 2015 07:28:00 GMT", 1),
        (503, "soon", 1),
        (200, "90", 0),
        (301, "90", 0),
        (404, "90", 0),
    ],
)
async def test_a_host_is_left_alone_for_as_long_as_it_asks(middleware, held, status, retry_after, seconds):
    text = retry_after() if callable(retry_after) else retry_after
    lane = await answered(middleware, held, status, retry_after=text)
    assert max(0, seconds - 2) <= lane.backoff_s <= seconds


async def test_a_borrowed_turn_takes_the_news_back_to_its_host(middleware, held, worker):
    request = held.request("http://b.test/i.png", lane=None)
    await middleware.process_request(request)
    middleware.process_response(request, held.response(request, 429, retry_after="600"))
    for told in (*worker.turns.reports, *worker.turns.released):
        assert told.host == "b.test"
        assert 599_000 < told.backoff_ms <= 600_000
    assert [news.error_level_change for news in worker.turns.reports] == [1]
    assert len(worker.turns.released) == 1
    assert not held.lane.backoff_s


async def test_a_page_that_was_not_begun_goes_back_without_a_try(middleware, held):
    held.lane.back_off(60)
    with pytest.raises(RefusedError) as caught:
        await middleware.process_request(held.request())
    assert caught.value.outcome == ("release", "left-alone")
    assert not held.visit.started


async def test_robots_txt_is_no_try_of_the_page(middleware, held):
    request = held.request("http://a.test/robots.txt", robots_bytes=0)
    await middleware.process_request(request)
    middleware.process_response(request, held.response(request, 503, retry_after="60"))
    with pytest.raises(RefusedError):
        await middleware.process_request(held.request())


async def test_a_page_under_way_does_without_what_the_host_won_t_give(middleware, held):
    await answered(middleware, held, 200)
    held.lane.back_off(60)
    with pytest.raises(HostBackoffError):
        await middleware.process_request(held.request("http://a.test/i.png"))
    assert not held.lane._in_use.locked()


async def ask(middleware, held, took_s, monkeypatch):
    """Sends a request that is answered after so long; returns how late it is taken to have arrived."""
    request, late = held.request(), []
    await middleware.process_request(request)
    monkeypatch.setattr(held.lane, "elapsed_s", lambda: took_s)
    monkeypatch.setattr(held.lane, "delay_start", late.append)
    middleware.headers_received(request)
    middleware.process_response(request, held.response(request))
    return late[0]


class SlowableLane(Lane):
    """A lane whose methods a test may replace."""


async def test_the_delay_counts_from_when_the_host_may_have_got_the_request(middleware, held, monkeypatch):
    """A busy worker holds a request up by 0.3 s: the host, which answers in 0.05 s, may have got it as late."""
    held.lane = SlowableLane("a.test", 1001, 0, 0.0)
    for _ in range(20):  # of a host that isn't known yet, all the time may have been the request's way there
        assert await ask(middleware, held, 0.05, monkeypatch) == 0.05
    assert await ask(middleware, held, 0.05, monkeypatch) == 0
    assert await ask(middleware, held, 0.35, monkeypatch) == pytest.approx(0.3)
    assert await ask(middleware, held, 0.05, monkeypatch) <= 0


async def test_a_host_that_got_slower_is_not_taken_for_late_for_ever(middleware, held, monkeypatch):
    held.lane = SlowableLane("a.test", 1001, 0, 0.0)
    for _ in range(20):
        await ask(middleware, held, 0.05, monkeypatch)
    late = [await ask(middleware, held, 1.0, monkeypatch) for _ in range(200)]
    assert late[0] > 0.9
    assert all(after <= before for before, after in pairwise(late))
    assert late[-1] < 0.05


async def test_a_late_request_puts_off_the_next(middleware, held):
    held.lane.delay_s = 60.0
    request = held.request()
    await middleware.process_request(request)
    await asyncio.sleep(0.1)
    middleware.headers_received(request)
    assert held.lane.pause_s() > 59.98
    middleware.process_response(request, held.response(request))


async def test_one_that_failed_may_have_arrived_just_before(middleware, held):
    held.lane.delay_s = 60.0
    request = held.request()
    await middleware.process_request(request)
    await asyncio.sleep(0.05)
    middleware.process_exception(request, ValueError())
    assert held.lane.pause_s() > 59.99

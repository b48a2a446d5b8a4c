"""The result of every request is recorded on its turn as the host's health."""

from __future__ import annotations

import asyncio
import errno
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from samples import TURN, RecordedVisit
from scrapy import exceptions
from twisted.internet.error import NoRouteError

from crawler.base import reasons
from crawler.base.errors import AnswerError, HostBackoffError, NodeError, PageTimeoutError, SessionLostError
from crawler.middlewares.turns import TurnMiddleware
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.visit import Lane


@pytest.fixture
def middleware(worker):
    return TurnMiddleware(worker, None)


async def answered(middleware, recorded, status, **headers):
    request = recorded.request()
    await middleware.process_request(request)
    middleware.process_response(request, recorded.response(request, status, **headers))
    return recorded.lane


@pytest.mark.parametrize("status", [200, 204, 301, 304, 400, 401, 403, 404, 408, 410, 451])
async def test_most_statuses_say_that_the_host_is_healthy(middleware, recorded, status):
    lane = await answered(middleware, recorded, status)
    assert (lane.release().answers, lane.failing) == (1, False)


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520, 599])
async def test_some_statuses_say_that_the_host_may_be_failing(middleware, recorded, worker, status):
    lane = await answered(middleware, recorded, status)
    assert lane.failing
    assert [(report.turn, report.failures, report.overloads) for report in worker.turns.reports] == [(0, 1, 0)]
    back = lane.release()
    assert (back.turn, back.backoff_ms, back.failures) == (TURN, 0, 0)  # it was reported at once, and only once


@pytest.mark.parametrize(("status", "headers"), [(429, {}), (503, {"retry_after": "1"})])
async def test_a_host_may_say_itself_that_it_is_overloaded(middleware, recorded, worker, status, headers):
    lane = await answered(middleware, recorded, status, **headers)
    assert lane.failing
    assert [(report.failures, report.overloads) for report in worker.turns.reports] == [(0, 1)]
    assert 900 < lane.release().backoff_ms <= 1_000


@pytest.mark.parametrize(("status", "reports"), [(500, 0), (503, 0), (429, 1)])
async def test_a_page_that_fails_again_says_nothing_of_its_host(middleware, worker, status, reports):
    recorded = RecordedVisit(tries=1)
    lane = await answered(middleware, recorded, status)
    assert (len(worker.turns.reports), lane.failing) == (reports, reports == 1)


async def failed(middleware, recorded, error):
    request = recorded.request()
    await middleware.process_request(request)
    await middleware.process_exception(request, error)
    return recorded.lane


NO_ANSWER = [exceptions.DownloadTimeoutError, exceptions.DownloadConnectionRefusedError, NoRouteError]


@pytest.mark.parametrize("error", [*NO_ANSWER, exceptions.DownloadFailedError])  # the last: reset, TLS
async def test_no_answer_says_that_the_host_is_failing(middleware, recorded, error):
    assert (await failed(middleware, recorded, error())).failing


NOT_THE_HOSTS = [exceptions.CannotResolveHostError, exceptions.DownloadCancelledError, exceptions.ResponseDataLossError]


@pytest.mark.parametrize("error", [*NOT_THE_HOSTS, SessionLostError, ValueError])
async def test_an_error_that_is_not_the_host_s_fault_is_not_recorded(middleware, recorded, error):
    back = (await failed(middleware, recorded, error("cut off"))).release()
    assert (back.answers, back.failures, back.backoff_ms) == (0, 0, 0)


@pytest.mark.parametrize("error", [*NO_ANSWER, exceptions.CannotResolveHostError])
async def test_a_failure_that_may_be_this_node_s_is_no_try_and_not_the_host_s(middleware, recorded, worker, error):
    worker.life.egress.blames_host = False
    with pytest.raises(RefusedError) as caught:
        await failed(middleware, recorded, error())
    assert caught.value.outcome == ("release", "no-egress")
    assert (worker.turns.reports, recorded.lane.failing) == ([], False)
    assert not recorded.lane._in_use.locked()


@pytest.mark.parametrize("is_own", [True, False])
async def test_a_rejected_certificate_is_a_try_only_where_it_is_the_host_s_fault(middleware, recorded, worker, is_own):
    worker.life.second_opinions.are_hosts_own = is_own
    error = AnswerError(reasons.TLS, "certificate is not yet valid")
    if is_own:
        await failed(middleware, recorded, error)
    else:
        with pytest.raises(RefusedError) as caught:
            await failed(middleware, recorded, error)
        assert caught.value.outcome == ("postpone", "tls-doubted")
    assert not recorded.lane.failing
    assert not recorded.lane._in_use.locked()


@pytest.mark.parametrize("error", [NodeError("memory"), MemoryError(), OSError(errno.ENOMEM, "no memory")])
async def test_a_node_that_lacks_what_a_request_needs_claims_nothing_for_a_while(middleware, recorded, worker, error):
    lane = await failed(middleware, recorded, error)
    assert (worker.life.headroom.lacking, worker.turns.reports, lane.failing) == (["memory"], [], False)


@pytest.mark.parametrize("is_up", [True, False], ids=["up", "soon up"])
@pytest.mark.parametrize("at_fault", [True, False])
async def test_when_a_page_s_time_is_up_the_host_may_still_be_innocent(
    middleware, recorded, worker, monkeypatch, at_fault, is_up
):
    request, visit = recorded.request(), recorded.visit
    await middleware.process_request(request)

    async def blames(_host, _site, _ask):
        for _ in range(3):  # the time would be up meanwhile
            await asyncio.sleep(0)
        visit.check()
        return at_fault

    monkeypatch.setattr(worker.life.egress, "blames", blames)
    visit.deadline.start(0.0)
    if is_up:
        await asyncio.sleep(0.001)
        assert visit.deadline.passed
    error = PageTimeoutError("its time is up") if is_up else exceptions.DownloadTimeoutError("silent")
    judged = middleware.process_exception(request, error)
    if at_fault:
        assert await judged is None
    else:
        with pytest.raises(RefusedError) as caught:
            await judged
        assert caught.value.outcome == ("release", "no-egress")
    assert recorded.lane.failing == (at_fault and not is_up)


@pytest.mark.parametrize(
    ("status", "proxy", "is_own"),
    [(407, 1, 1), (502, 1, 1), (502, 0, 0), (500, 1, 1), (500, 0, 0), (404, 1, 0), (511, 0, 1), (511, 1, 1)],
)
async def test_an_answer_may_be_a_proxy_s_own(middleware, recorded, worker, status, proxy, is_own):
    worker.life.egress.blames_host = False
    request = recorded.request()
    request.meta.update({"proxy": "http://proxy.test:3128"} if proxy else {})
    await middleware.process_request(request)
    result = middleware.process_response(request, recorded.response(request, status))
    if is_own:
        with pytest.raises(RefusedError):
            await result
    assert worker.life.egress.places == ([] if is_own else [("http://a.test", "s")])


@pytest.mark.parametrize(("status", "headers"), [(403, {}), (404, {"x_squid_error": "ERR_DNS_FAIL 0"})])
@pytest.mark.parametrize("is_own", [True, False])
async def test_a_refusal_by_a_proxy_fails_a_page_only_where_it_is_the_host_s(
    middleware, recorded, worker, status, headers, is_own
):
    worker.life.second_opinions.are_hosts_own = is_own
    request = recorded.request()
    request.meta["proxy"] = "http://proxy.test:3128"
    await middleware.process_request(request)
    response = recorded.response(request, status, **headers)
    judged = middleware.process_response(request, response)
    if is_own:
        assert await judged is response
    else:
        with pytest.raises(RefusedError) as caught:
            await judged
        assert caught.value.outcome == ("postpone", "proxy-refuses")
    assert len(worker.life.egress.places) == is_own
    assert recorded.lane.idle


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
        (429, "-90", 1),  # no more than any other overload
        (503, "-90", 0),
        (503, "Wed, 21 Oct 2015 07:28:00 GMT", 0),
        (503, "soon", 0),
        (200, "90", 0),
        (301, "90", 0),
        (404, "90", 0),
    ],
)
async def test_a_host_s_backoff_is_as_long_as_it_asks(middleware, recorded, status, retry_after, seconds):
    text = retry_after() if callable(retry_after) else retry_after
    lane = await answered(middleware, recorded, status, retry_after=text)
    assert max(0, seconds - 2) <= lane.backoff_s <= seconds


async def test_an_acquired_turn_reports_the_health_of_its_own_host(middleware, recorded, worker):
    request = recorded.request("http://b.test/i.png", lane=None)
    await middleware.process_request(request)
    middleware.process_response(request, recorded.response(request, 429, retry_after="600"))
    for told in (*worker.turns.reports, *worker.turns.released):
        assert told.host == "b.test"
        assert 599_000 < told.backoff_ms <= 600_000
    assert [report.overloads for report in worker.turns.reports] == [1]
    assert len(worker.turns.released) == 1
    assert not recorded.lane.backoff_s


async def test_a_backoff_releases_a_visit_that_has_not_started(middleware, recorded):
    recorded.lane.back_off(60)
    with pytest.raises(RefusedError) as caught:
        await middleware.process_request(recorded.request())
    assert caught.value.outcome == ("release", "left-alone")
    assert not recorded.visit.started


async def test_a_request_for_robots_txt_doesn_t_start_the_visit(middleware, recorded):
    request = recorded.request("http://a.test/robots.txt", is_robots_txt=True)
    await middleware.process_request(request)
    middleware.process_response(request, recorded.response(request, 503, retry_after="60"))
    with pytest.raises(RefusedError):
        await middleware.process_request(recorded.request())


async def test_a_started_visit_goes_on_without_what_a_backoff_keeps_from_it(middleware, recorded):
    await answered(middleware, recorded, 200)
    recorded.lane.back_off(60)
    with pytest.raises(HostBackoffError):
        await middleware.process_request(recorded.request("http://a.test/i.png"))
    assert not recorded.lane._in_use.locked()


async def lateness(middleware, recorded, took_s, monkeypatch):
    """Sends a request that is answered after so long; returns how late it is taken to have arrived."""
    request, late = recorded.request(), []
    await middleware.process_request(request)
    monkeypatch.setattr(Lane, "elapsed_s", lambda _lane: took_s)
    monkeypatch.setattr(Lane, "delay_start", lambda _lane, late_s: late.append(late_s))
    middleware.headers_received(request)
    middleware.process_response(request, recorded.response(request))
    return late[0]


async def test_the_delay_counts_from_when_the_request_may_have_arrived(middleware, recorded, monkeypatch):
    """A busy worker holds a request up by 0.3 s: the host, which answers in 0.05 s, may have got it as late."""
    for _ in range(20):  # of a host that isn't known yet, all the time may have been the request's way there
        assert await lateness(middleware, recorded, 0.05, monkeypatch) == 0.05
    assert await lateness(middleware, recorded, 0.05, monkeypatch) == 0
    assert await lateness(middleware, recorded, 0.35, monkeypatch) == pytest.approx(0.3)
    assert await lateness(middleware, recorded, 0.05, monkeypatch) <= 0


async def test_a_host_that_got_slower_is_not_taken_for_late_for_ever(middleware, recorded, monkeypatch):
    for _ in range(20):
        await lateness(middleware, recorded, 0.05, monkeypatch)
    late = [await lateness(middleware, recorded, 1.0, monkeypatch) for _ in range(200)]
    assert late[0] > 0.9
    assert all(after <= before for before, after in pairwise(late))
    assert late[-1] < 0.05


@pytest.mark.parametrize("how", ["answered", "failed"])
async def test_a_request_that_may_have_arrived_late_delays_the_next(middleware, recorded, how):
    recorded.lane.delay_s = 60.0
    request = recorded.request()
    await middleware.process_request(request)
    await asyncio.sleep(0.1)
    if how == "answered":
        middleware.headers_received(request)
    else:
        await middleware.process_exception(request, ValueError())
    assert recorded.lane.pause_s() > 59.98


@pytest.mark.parametrize("by_proxy", [True, False])
@pytest.mark.parametrize("reason", ["bad-response", "bad-headers", "truncated"])
async def test_nonsense_may_be_of_the_network_instead_of_the_host(middleware, recorded, worker, by_proxy, reason):
    worker.life.egress.blames_host, worker.life.egress.suspects_itself = False, not by_proxy
    request = recorded.request()
    request.meta.update({"proxy": "http://proxy.test:3128"} if by_proxy else {})
    await middleware.process_request(request)
    with pytest.raises(RefusedError) as caught:
        await middleware.process_exception(request, AnswerError(reason))
    assert caught.value.outcome == ("release", "no-egress")


async def test_a_captive_portal_is_no_host_even_while_others_answer(middleware, recorded):
    request = recorded.request()
    await middleware.process_request(request)
    with pytest.raises(RefusedError) as caught:
        await middleware.process_response(request, recorded.response(request, 511))
    assert (caught.value.outcome, caught.value.wait_s) == (("postpone", "network-login"), 60.0)
    assert not recorded.lane.failing

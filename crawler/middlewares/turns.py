"""Downloader middleware, the last before the wire: no request is sent without its host's turn and a live session.

Every request of a visit passes here: the page, its robots.txt, its further pages, its redirects on the host, its media.
Requests outside the frontier (`scrapy shell`, a user's own spider) pass untouched.
"""

from __future__ import annotations

import logging
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Self

from redis.exceptions import RedisError
from scrapy import signals
from scrapy.utils.httpobj import urlparse_cached

from crawler.base import log_events, reasons, urls
from crawler.base.errors import HostBackoffError, UnavailableError
from crawler.base.seldom import Seldom
from crawler.download.targets import Targets
from crawler.middlewares.egress_check import EgressCheck
from crawler.worker.life.egress import PROBE_TIMEOUT_SECONDS, Place
from crawler.worker.life.proxy_refusals import is_a_proxys, may_be_a_proxys
from crawler.worker.reports.answer_counts import UNANSWERED, Traffic
from crawler.worker.turns.ip_budget import IpBudget
from crawler.worker.turns.lateness import Lateness
from crawler.worker.turns.request_starts import RequestStarts
from crawler.worker.visits.outcomes import (
    BAD_ANSWERS,
    HOST_FAULTS,
    NETWORK_LOGIN,
    NO_ANSWER,
    Outcome,
    is_overload,
    may_be_the_networks,
    node_lacks,
    outcome_of_error,
    retry_after_s,
)
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.visits.visit import BODY_BYTES, AnswerHead
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.base.log_events import EventLogger
    from crawler.worker.visits.request_state import RequestState
    from crawler.worker.visits.turn import HostSign
    from crawler.worker.visits.visit import Lane, Visit

LEASE_LOST = Outcome("release", reasons.NO_SESSION)
# Nothing was sent for the seed, so no try is counted. Once its visit has started, `outcome_of_error` makes it a retry.
HOST_LEFT_ALONE = Outcome("release", reasons.LEFT_ALONE)
EGRESS_AT_FAULT = Outcome("release", reasons.NO_EGRESS)
PORTAL = Outcome("postpone", reasons.NETWORK_LOGIN)  # it holds while other hosts answer; a portal may let some through
PORTAL_SECONDS = 60.0  # when a page is asked for again in place of which a portal answered
# The page is handed back, so that another node may claim it.
PROXY_REFUSES = Outcome("postpone", reasons.PROXY_REFUSES)
TLS_DOUBTED = Outcome("postpone", reasons.TLS_DOUBTED)
SECOND_OPINION_SECONDS = 20.0
logger: EventLogger = logging.getLogger(__name__)


class TurnMiddleware:
    """Sends each request when its turns allow it, and learns from what comes back how its host is, or the way out."""

    def __init__(
        self, worker: Worker, ask: Callable[[Place, Visit], Awaitable[None]], ip_budget: IpBudget | None = None
    ) -> None:
        self._turns, self._session, self._queue = worker.turns, worker.life.session, worker.claiming.queue
        self._second_opinions, self._warn = worker.life.second_opinions, Seldom(logger.warning)
        self._headroom, self._egress, self._tally = worker.life.headroom, worker.life.egress, worker.reports.tally
        self._answers = worker.reports.answers
        self._ask = ask
        self._starts = RequestStarts(worker.turns, ip_budget)
        self._lateness = Lateness()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware over the worker extension."""
        worker = Worker.of(crawler)
        look_up = Targets.from_settings(crawler.settings).addresses_of
        check = EgressCheck(crawler, worker)
        middleware = cls(worker, check.ask, IpBudget.from_settings(worker.turns, look_up, crawler.settings))
        crawler.signals.connect(middleware.headers_received, signal=signals.headers_received)
        return middleware

    async def process_request(self, request: Request) -> None:
        """Returns when the request may be sent.

        Raises:
            RefusedError: The seed is no longer this worker's; or the visit hasn't started, and its host has a backoff,
                or fewer turns than before.
            SessionLostError: The visit has ended, or did so while a turn was waited for.
            PageTimeoutError: The visit's deadline has passed.
            UnavailableError: Redis is away, and must be told before this page is fetched.
            HostBackoffError: The visit has started, and the host of this request has a backoff.
        """
        state = state_of(request)
        if state is None:
            return
        visit = state.visit
        if visit.claimed.suspected and not visit.started:
            await self._report_fetch(visit)
        lane = state.held_lane
        is_acquired = lane is None
        if lane is None:
            lane = await self._turns.acquire(urls.host(urls.canonical(request.url)), visit)
        lane.slow_down(state.crawl_delay_s)
        try:
            await self._starts.start(
                request,
                state,
                lane,
                is_acquired=is_acquired,
                start_again=self.start_again,
                may_send=partial(self._is_ours, visit),
            )
        except HostBackoffError as error:
            lane.back_off(error.wait_s)
            if visit.started:
                raise
            raise RefusedError(HOST_LEFT_ALONE) from None
        if lane.released or not self._is_ours(visit):
            self._end(state)
            raise RefusedError(LEASE_LOST)
        visit.started = visit.started or not state.purpose.is_robots_txt
        if self._egress.is_down:
            timeout_s = float(request.meta.get("download_timeout", PROBE_TIMEOUT_SECONDS))
            request.meta["download_timeout"] = min(timeout_s, PROBE_TIMEOUT_SECONDS)

    async def start_again(self, request: Request) -> None:
        """Returns when a request in flight may be sent once more: it starts on all of its turns as if it were new.

        Raises:
            RefusedError: The seed is no longer this worker's.
            HostBackoffError: The host has a backoff, or so many requests wait for the address that this one can't.
            HeadroomError: The visit may fetch no more, or the session was lost.
        """
        state = state_of(request)
        assert state is not None and state.turn_use is not None  # noqa: PT018 -- `process_request` has seen to both
        visit = state.visit
        await self._starts.start_again(request, state.turn_use, visit)
        visit.check()
        if not self._is_ours(visit):
            raise RefusedError(LEASE_LOST)

    def headers_received(self, request: Request) -> None:
        """Corrects when the request counts as started: it may have reached the host later than it was sent."""
        state = state_of(request)
        if state is None or (use := state.turn_use) is None:
            return
        late_s = self._lateness.of_answer(use.lane.host, use.lane.elapsed_s())
        use.lane.delay_start(late_s)
        if use.address is not None:
            use.address.delay_start(late_s)

    def process_response(self, request: Request, response: Response) -> Response | Awaitable[Response]:
        """Frees the lane for its next request, and begins the backoff that the host asks for (RFC 9110, 10.2.3).

        The worker learns how large answers are. An answer of the host's is returned at once; where it has to be found
        out whose an answer is, that is awaited.

        Raises:
            RefusedError: The answer may be of a proxy or of the network, and this worker's way out may be at fault.
        """
        self._headroom.answered(len(response.body))
        state = state_of(request)
        if state is None or (use := state.turn_use) is None:  # another middleware has answered, not the host
            return response
        by_proxy = bool(request.meta.get("proxy"))
        if may_be_the_networks(response.status, by_proxy=by_proxy):
            return self._after_network_answer(response, state, use.lane)
        if by_proxy and may_be_a_proxys(response):
            return self._after_proxy_refusal(request, response, state, use.lane)
        return self._after_host_answer(request, response, state, use.lane)

    async def _after_network_answer(self, response: Response, state: RequestState, lane: Lane) -> Response:
        """Does what `process_response` does, for an answer that may be the proxy's or the network's own.

        Raises:
            RefusedError: This worker's way out may be at fault; or a portal has answered.
        """
        self._end(state)
        await self._require_hosts_fault(lane, state)
        if response.status == NETWORK_LOGIN:
            raise RefusedError(PORTAL, PORTAL_SECONDS)
        sign, backoff_s = _sign_of(response)
        lane.back_off(backoff_s)
        self._record(lane, sign, state)
        return response

    async def _after_proxy_refusal(
        self, request: Request, response: Response, state: RequestState, lane: Lane
    ) -> Response:
        """Does what `process_response` does, for a refusal that may be the proxy's own.

        Raises:
            RefusedError: It may be; the page waits until that is known.
        """
        in_the_end = not is_a_proxys(response)
        if await self._second_opinions.is_hosts_own("refused", lane.host, in_the_end=in_the_end):
            return self._after_host_answer(request, response, state, lane)
        self._warn(log_events.PROXY_REFUSES, lane.host, response.status)
        self._end(state)
        raise RefusedError(PROXY_REFUSES, SECOND_OPINION_SECONDS)

    def _after_host_answer(self, request: Request, response: Response, state: RequestState, lane: Lane) -> Response:
        """Does what `process_response` does, for an answer of the host's."""
        state.visit.answer = AnswerHead(response.url, response.status, response.headers, response.body[:BODY_BYTES])
        self._tally.answered(lane.host, response.status, len(response.body))
        answer_s = request.meta.get("download_latency", 0.0)
        self._count(lane, state, str(response.status), answer_s, len(response.body))
        place = f"{urlparse_cached(request).scheme}://{lane.host}"  # the URL of a user's request may lack its `/`
        self._egress.answered(Place(place, state.visit.seed.site))
        self._end(state, *_sign_of(response))
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        """Frees the lane for its next request; records a failure if the error may be the host's fault.

        Raises:
            RefusedError: No answer of the host's may have come, and this worker's way out may be at fault.
        """
        state = state_of(request)
        if state is None:
            return
        use = state.turn_use
        if use is not None:
            use.lane.mark_start()  # the host may have got the request as late as now
        self._end(state)
        if lack := node_lacks(exception):
            self._headroom.lacks(lack)
        reason = outcome_of_error(exception).reason
        if use is None:
            return
        lane = use.lane
        is_doubtful = reason in BAD_ANSWERS and (self._egress.suspects(lane.host) or "proxy" in request.meta)
        if is_doubtful or reason in NO_ANSWER or reason == reasons.PAGE_TIMEOUT:
            await self._require_hosts_fault(lane, state)
            if reason == reasons.TLS:
                await self._require_second_opinion(lane, state)
            if reason in HOST_FAULTS:
                self._record(lane, "failures", state)
        if reason in UNANSWERED:
            self._count(lane, state, reason)

    def _count(self, lane: Lane, state: RequestState, came: str, answer_s: float = 0.0, body_bytes: int = 0) -> None:
        """Counts what came back for a request; another download handler than Headroom's says of bytes the body's."""
        traffic = Traffic(state.bytes_in or body_bytes, state.bytes_out, answer_s, lane.delay_s)
        state.bytes_in = state.bytes_out = 0  # a redirect's request goes on with this state
        self._answers.count(lane.host, state.visit.seed.plan, came, traffic)

    async def _require_hosts_fault(self, lane: Lane, state: RequestState) -> None:
        """Finds out whether the host of a lane is at fault for a failed request; returns if it is.

        Raises:
            RefusedError: This worker's way out may be at fault.
        """
        if state.purpose.checks_egress:
            return
        visit, egress = state.visit, self._egress
        with visit.deadline.paused():  # finding that out takes none of the page's time, and is done when that is up
            is_at_fault = await visit.run(
                egress.blames(lane.host, visit.seed.site, lambda place: self._ask(place, visit))
            )
        if not is_at_fault:
            raise RefusedError(EGRESS_AT_FAULT)

    async def _require_second_opinion(self, lane: Lane, state: RequestState) -> None:
        """Returns if a host with which there is no TLS is at fault for it.

        Raises:
            RefusedError: This node's clock or authorities may be; the page waits until that is known.
        """
        if state.purpose.checks_egress or await self._second_opinions.is_hosts_own("tls", lane.host):
            return
        self._warn(log_events.TLS_DOUBTED, lane.host)
        raise RefusedError(TLS_DOUBTED, SECOND_OPINION_SECONDS)

    def _record(self, lane: Lane, sign: HostSign, state: RequestState) -> None:
        """Records what a request says of its host, and reports to the frontier what isn't well."""
        if not _says_little(sign, state):
            lane.record(sign)
            if sign != "answers":
                self._turns.report(lane)

    async def _report_fetch(self, visit: Visit) -> None:
        """Tells the frontier that a suspected page is about to be fetched, which may kill this worker."""
        try:
            await self._queue.begin_fetch(visit.claimed)
        except RedisError as error:
            raise UnavailableError(f"a suspected page waits for Redis: {error}") from error

    def _is_ours(self, visit: Visit) -> bool:
        """Returns whether the visit goes on under a lease that is alive, and under which its seed was claimed."""
        lease = self._session.leases[visit.claimed.partition]
        return not visit.ended and lease.alive and visit.claimed.owner == lease.owner

    def _end(self, state: RequestState, sign: HostSign | None = None, backoff_s: float = 0.0) -> None:
        """Ends a request's use of its lane, and releases the turns that were acquired for it alone.

        Args:
            sign: What the request says of its host; None: nothing.
            backoff_s: The pause that the host asked for, in seconds.
        """
        if (use := state.turn_use) is not None:  # if not, another middleware answered or refused the request
            use.lane.back_off(backoff_s)
            if sign is not None:
                self._record(use.lane, sign, state)
        self._turns.end_request(state)


def _says_little(sign: HostSign, state: RequestState) -> bool:
    """Returns whether a request's end says little of its host.

    A seed that failed before fails again by its page's fault rather than by its host's. And many a host answers for its
    robots.txt while its pages fail; when to ask again for one that is unreachable is said in `crawler/robots/file.py`.
    """
    if state.purpose.is_robots_txt:  # also of a check of the egress
        return sign != "overloads"
    return sign == "failures" and state.visit.claimed.tries > 0


def _sign_of(response: Response) -> tuple[HostSign, float]:
    """Returns what a response says of its host, and the seconds of pause that the host asks for (RFC 9110, 10.2.3)."""
    if not is_overload(response.status):
        return "answers", 0.0
    backoff_s = retry_after_s(response.headers)
    said_so = backoff_s or response.status == HTTPStatus.TOO_MANY_REQUESTS
    return "overloads" if said_so else "failures", backoff_s

"""Downloader middleware, the last before the wire: no request is sent without its host's turn and a live session.

Every request of a visit passes here: the page, its robots.txt, its further pages, its redirects on the host, its media.
Requests outside the frontier (`scrapy shell`, a user's own spider) pass untouched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from redis.exceptions import RedisError
from scrapy import signals
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.httpobj import urlparse_cached

from crawler import urls
from crawler.download.targets import Targets
from crawler.errors import HostBackoffError, UnavailableError
from crawler.worker.ip_budget import IpBudget
from crawler.worker.outcomes import HOST_FAULTS, Outcome, is_overload, outcome_of_error, retry_after_s
from crawler.worker.refused import RefusedError
from crawler.worker.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.worker.lanes import Lane
    from crawler.worker.request_state import RequestState
    from crawler.worker.visits import Visit

NO_SESSION = Outcome("release", "no-session")
# Nothing was sent for the seed, so no try is counted. Once its visit has started, `outcome_of_error` makes it a retry.
HOST_BACKOFF = Outcome("release", "left-alone")
MAX_HOSTS = 10_000  # whose fastest answer is remembered, in some 200 bytes each
MIN_ANSWERS = 20  # of a host, before its fastest answer counts: the first few may all have been late
FASTEST_SMOOTHING = 0.02  # weight of a slower answer, so that a host that got slower isn't taken for late for ever


class TurnMiddleware:
    """Waits for the lane of each request, and for a turn of its IP address where addresses have a budget."""

    def __init__(self, worker: Worker, ip_budget: IpBudget | None = None) -> None:
        self._worker = worker
        self._ip_budget = ip_budget
        self._fastest: LocalCache[str, tuple[int, float]] = LocalCache(MAX_HOSTS)  # answers, s of the fastest

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware over the worker extension.

        Raises:
            ConfigError: A setting is wrong.
        """
        worker = Worker.of(crawler)
        look_up = Targets.from_settings(crawler.settings).addresses_of
        middleware = cls(worker, IpBudget.from_settings(worker.turns, look_up, crawler.settings))
        crawler.signals.connect(middleware.headers_received, signal=signals.headers_received)
        return middleware

    async def process_request(self, request: Request) -> None:
        """Returns when the request may be sent.

        Raises:
            RefusedError: The seed is no longer this worker's, or the visit hasn't started and its host has a backoff.
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
        if lane is None:
            lane = state.lane = await self._worker.turns.acquire(urls.host(urls.canonical(request.url)), visit)
            state.acquired = True
        try:
            visit.check()
            await (lane.start() if lane.idle else visit.run(lane.start()))
            state.in_flight = True
            if self._ip_budget is not None:
                await self._acquire_address(self._ip_budget, request, state, lane)
        except HostBackoffError as error:
            self._end(state)
            lane.back_off(error.wait_s)
            if visit.started:
                raise
            raise RefusedError(HOST_BACKOFF) from None
        except BaseException:
            self._end(state)
            raise
        if visit.ended or lane.released or not self._is_ours(visit):
            self._end(state)
            raise RefusedError(NO_SESSION)
        visit.started = visit.started or state.robots_bytes is None

    def headers_received(self, request: Request) -> None:
        """Corrects when the request counts as started: it may have reached the host later than it was sent.

        A busy worker or network holds requests up. If the delay were counted from when such a request was sent, the
        next one could reach the host too soon after it. What an answer takes longer than the host's fastest answer
        therefore counts as the request's way to the host.
        """
        state = state_of(request)
        if state is None or not state.in_flight or state.lane is None:
            return
        lane = state.lane
        answers, fastest_s = self._fastest.get(lane.host, (0, math.inf))
        took_s = lane.elapsed_s()
        late_s = took_s - (fastest_s if answers >= MIN_ANSWERS else 0.0)
        lane.delay_start(late_s)
        if state.address is not None:
            state.address.delay_start(late_s)
        if took_s > fastest_s:
            took_s = fastest_s + FASTEST_SMOOTHING * (took_s - fastest_s)
        self._fastest[lane.host] = (answers + 1, took_s)

    def process_response(self, request: Request, response: Response) -> Response:
        """Frees the lane for its next request; begins the backoff that the host asks for (RFC 9110, 10.2.3)."""
        if (state := state_of(request)) is not None:
            overloaded = is_overload(response.status)
            backoff_s = retry_after_s(response.headers.get("Retry-After")) if overloaded else 0.0
            self._end(state, success=not overloaded, backoff_s=backoff_s)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Frees the lane for its next request; records a failure if the error is the host's fault."""
        if (state := state_of(request)) is not None:
            if state.in_flight and state.lane is not None:
                state.lane.mark_start()  # the host may have got the request as late as now
            self._end(state, success=False if outcome_of_error(exception).reason in HOST_FAULTS else None)

    async def _acquire_address(self, ip_budget: IpBudget, request: Request, state: RequestState, lane: Lane) -> None:
        """Waits for a turn of the address, unless the request goes to a proxy instead."""
        if request.meta.get("proxy"):
            return
        visit = state.visit
        state.address = await visit.run(ip_budget.acquire(urlparse_cached(request).hostname or "", visit))
        if state.address is not None:
            lane.mark_start()  # again: the request is sent only now

    async def _report_fetch(self, visit: Visit) -> None:
        """Tells the frontier that a suspected page is about to be fetched, which may kill this worker.

        Raises:
            UnavailableError: Redis is away.
        """
        try:
            await self._worker.queue.begin(visit.claimed)
        except RedisError as error:
            raise UnavailableError(f"a suspected page waits for Redis: {error}") from error

    def _is_ours(self, visit: Visit) -> bool:
        """Returns whether the session is alive and is the one in which the seed was claimed."""
        session = self._worker.session
        return session.alive and visit.claimed.owner == session.owner

    def _end(self, state: RequestState, *, success: bool | None = None, backoff_s: float = 0.0) -> None:
        """Ends a request's use of its lane, and releases the turns that were acquired for it alone.

        Args:
            success: False: the request failed by the host's fault; None: nothing is recorded about the host.
            backoff_s: The pause that the host asked for, in seconds.
        """
        turns, lane = self._worker.turns, state.lane
        if state.in_flight and lane is not None:  # if not, another middleware answered or refused the request
            state.in_flight = False
            if success is not None:
                lane.record(success=success)
            lane.back_off(backoff_s)
            if success is False:
                turns.report(lane)
            lane.finish()
        if (address := state.address) is not None:
            state.address = None
            address.back_off(address.pause_s())  # the address's delay applies to all of its turns
            turns.release(address)
        if state.acquired and lane is not None:
            state.acquired, state.lane = False, None
            turns.release(lane)

"""Downloader middleware, the last before the wire: nothing leaves without its host's turn, its delay, a live session.

Every request of a visit passes here: the page, its robots.txt, its further pages, its redirects on the host, its media.
Requests outside the frontier (`scrapy shell`, a spider of one's own) are Scrapy's business and pass untouched.
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
HOST_BACKOFF = Outcome("release", "left-alone")
HOSTS_REMEMBERED = 10_000  # their shortest answer times, some 200 bytes each
ANSWERS_TO_KNOW = 20  # of a host, before its shortest answer time counts: a few may all have been held up a little
SHORTEST_FOLLOWS = 0.02  # of the way to a longer time: a host that got slower doesn't look delayed for ever


class TurnMiddleware:
    """Waits for the lane of each request, and for its address where those have a budget."""

    def __init__(self, worker: Worker, ip_budget: IpBudget | None = None) -> None:
        self._worker = worker
        self._ip_budget = ip_budget
        self._shortest: LocalCache[str, tuple[int, float]] = LocalCache(HOSTS_REMEMBERED)  # number of answers, s

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
        """Lets the request through when its turn allows.

        Raises:
            RefusedError: The visit is no longer this worker's, or its host has a backoff; nothing was sent for it.
            FrontierError: The visit came to its end while a turn was waited for.
            PageTimeoutError: Its time was up meanwhile.
            UnavailableError: Redis is away, and must know of this page before it is fetched.
            HostBackoffError: The host of a further page, or of the page's media, has a backoff.
        """
        state = state_of(request)
        if state is None:
            return
        visit = state.visit
        if visit.claimed.suspected and not visit.started:
            await self._begin(visit)
        lane = state.turn
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
        """Notes when the host may have got the request: at the latest, its shortest answer time before its answer.

        A busy worker or network holds requests up. Counted from when it meant to send one, the next request, sent in
        time, would reach the host too soon after it.
        """
        state = state_of(request)
        if state is None or not state.in_flight or state.lane is None:
            return
        lane = state.lane
        answers, shortest_s = self._shortest.get(lane.host, (0, math.inf))
        took_s = lane.elapsed_s()
        late_s = took_s - (shortest_s if answers >= ANSWERS_TO_KNOW else 0.0)
        lane.delay_start(late_s)
        if state.address is not None:
            state.address.delay_start(late_s)
        if took_s > shortest_s:
            took_s = shortest_s + SHORTEST_FOLLOWS * (took_s - shortest_s)
        self._shortest[lane.host] = (answers + 1, took_s)

    def process_response(self, request: Request, response: Response) -> Response:
        """Frees the lane for its next request; keeps the pause that the host asks for (RFC 9110, 10.2.3)."""
        if (state := state_of(request)) is not None:
            strained = is_overload(response.status)
            backoff_s = retry_after_s(response.headers.get("Retry-After")) if strained else 0.0
            self._end(state, success=not strained, backoff_s=backoff_s)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Frees the lane. Only an error that is the host's fault says anything about it."""
        if (state := state_of(request)) is not None:
            if state.in_flight and state.lane is not None:
                state.lane.mark_start()  # nobody knows when the host got the request: at the latest now
            self._end(state, success=False if outcome_of_error(exception).reason in HOST_FAULTS else None)

    async def _acquire_address(self, ip_budget: IpBudget, request: Request, state: RequestState, lane: Lane) -> None:
        """Waits for the address. What goes through a proxy isn't sent there."""
        if request.meta.get("proxy"):
            return
        visit = state.visit
        state.address = await visit.run(ip_budget.acquire(urlparse_cached(request).hostname or "", visit))
        if state.address is not None:
            lane.mark_start()  # not before, however long it was waited for

    async def _begin(self, visit: Visit) -> None:
        """Tells the frontier, before a suspected page is fetched, that it is: it may kill this worker.

        Raises:
            UnavailableError: Redis is away.
        """
        try:
            await self._worker.queue.begin(visit.claimed)
        except RedisError as error:
            raise UnavailableError(f"a suspected page waits for Redis: {error}") from error

    def _is_ours(self, visit: Visit) -> bool:
        """Whether the session is alive, and is the one that the seed was claimed in."""
        session = self._worker.session
        return session.alive and visit.claimed.claim.startswith(f"{session.owner}#")

    def _end(self, state: RequestState, *, success: bool | None = None, backoff_s: float = 0.0) -> None:
        """Lets go of all that the request holds.

        Args:
            success: False: it failed by the host's fault; None: it says nothing about the host.
            backoff_s: How long the host asked to be left in peace.
        """
        turns, lane = self._worker.turns, state.lane
        if state.in_flight and lane is not None:  # else it was never sent: another middleware answered or refused it
            state.in_flight = False
            if success is not None:
                lane.record(success=success)
            lane.back_off(backoff_s)
            if success is False:
                turns.report(lane)
            lane.finish()
        if (address := state.address) is not None:
            state.address = None
            address.back_off(address.pause_s())  # the address's delay counts for all of its turns
            turns.release(address)
        if state.acquired and lane is not None:
            state.acquired, state.lane = False, None
            turns.release(lane)

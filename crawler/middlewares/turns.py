"""Downloader middleware, the last before the wire: nothing leaves without its host's turn, its delay, a live session.

Every request of a visit passes here: the page, its robots.txt, its further pages, its redirects on the host, its media.
Requests outside the frontier (`scrapy shell`, a spider of your own) are Scrapy's business and pass untouched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

from redis.exceptions import RedisError
from scrapy import signals
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.httpobj import urlparse_cached

from crawler import urls
from crawler.download.resolver import addresses_of
from crawler.errors import LeftAloneError, UnavailableError
from crawler.middlewares.refused import RefusedError
from crawler.worker.ip_budget import IpBudget
from crawler.worker.outcomes import FAULTS, Outcome, of_exception, retry_after_s, strains
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.worker.visits import Lane, Visit

NO_SESSION = Outcome("release", "no-session")
LEFT_ALONE = Outcome("release", "left-alone")
HOSTS_REMEMBERED = 10_000  # their quickest answers, some 200 bytes each
ANSWERS_TO_KNOW = 20  # of a host, before its quickest counts: fewer may all have been held up a little
QUICKEST_FOLLOWS = 0.02  # of the way to a slower answer: a host that got slower isn't taken for late for ever


class TurnMiddleware:
    """Waits for the lane of each request, and for its address where those have a budget."""

    def __init__(self, worker: Worker, addresses: IpBudget | None = None) -> None:
        self._worker = worker
        self._addresses = addresses
        self._quickest: LocalCache[str, tuple[int, float]] = LocalCache(HOSTS_REMEMBERED)  # answers, s

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware over the worker extension.

        Raises:
            ConfigError: A setting is wrong.
        """
        worker = Worker.of(crawler)
        middleware = cls(worker, IpBudget.from_settings(worker, addresses_of, crawler.settings))
        crawler.signals.connect(middleware.answered, signal=signals.headers_received)
        return middleware

    async def process_request(self, request: Request) -> None:
        """Lets the request through when its turn allows.

        Raises:
            RefusedError: The visit is no longer ours, or its host wants to be left alone; nothing was sent for it.
            FrontierError: The visit came to its end while a turn was waited for.
            PageTimeoutError: Likewise its time.
            UnavailableError: Redis is away, and must know of this page first.
            LeftAloneError: The host of a further page, or of its media, wants to be left alone.
        """
        visit: Visit | None = request.meta.get("visit")
        if visit is None:
            return
        if visit.claimed.suspected and not visit.begun:
            await self._begin(visit)
        lane: Lane | None = request.meta.get("lane")
        if lane is None or lane.released:
            lane = await self._worker.acquire_turn(urls.host(urls.canonical(request.url)), visit)
            request.meta["lane"] = request.meta["borrowed"] = lane
        try:
            visit.check()
            await (lane.start() if lane.free else visit.run(lane.start()))
            request.meta["sending"] = True
            if self._addresses is not None:
                await self._take_address(self._addresses, request, lane, visit)
        except LeftAloneError as error:
            self._done(request)
            lane.leave_s = error.wait_s
            if visit.begun:
                raise
            raise RefusedError(LEFT_ALONE) from None
        except BaseException:
            self._done(request)
            raise
        if visit.ended or lane.released or not self._is_ours(visit):
            self._done(request)
            raise RefusedError(NO_SESSION)
        visit.begun = visit.begun or "robots_bytes" not in request.meta

    def answered(self, request: Request) -> None:
        """Notes when the host may have got the request: at the latest, as long before its answer as that takes at best.

        A busy worker or network holds requests up, and the next one, sent in time, would come too soon after.
        """
        if "sending" not in request.meta:
            return
        lane: Lane = request.meta["lane"]
        answers, quickest_s = self._quickest.get(lane.host, (0, math.inf))
        took_s = lane.took_s()
        late_s = took_s - (quickest_s if answers >= ANSWERS_TO_KNOW else 0.0)
        lane.came_late(late_s)
        if address := request.meta.get("address"):
            address.came_late(late_s)
        if took_s > quickest_s:
            took_s = quickest_s + QUICKEST_FOLLOWS * (took_s - quickest_s)
        self._quickest[lane.host] = (answers + 1, took_s)

    def process_response(self, request: Request, response: Response) -> Response:
        """Frees the lane for its next request; keeps what the host asks for (RFC 9110, 10.2.3)."""
        strained = strains(response.status)
        leave_s = retry_after_s(response.headers.get("Retry-After")) if strained else 0.0
        self._done(request, well=not strained, leave_s=leave_s)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Likewise. What failed by nobody's fault says nothing about the host, nor when it got the request."""
        if "sending" in request.meta:
            request.meta["lane"].sent()
        self._done(request, well=False if of_exception(exception).reason in FAULTS else None)

    async def _take_address(self, addresses: IpBudget, request: Request, lane: Lane, visit: Visit) -> None:
        """Waits for the address. What goes through a proxy isn't sent there."""
        if request.meta.get("proxy"):
            return
        address = await visit.run(addresses.take(urlparse_cached(request).hostname or "", visit))
        if address is not None:
            request.meta["address"] = address
            lane.sent()  # not before, however long it was waited for

    async def _begin(self, visit: Visit) -> None:
        """Says before a suspected page is fetched that its fetch begins: it may kill this worker.

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

    def _done(self, request: Request, *, well: bool | None = None, leave_s: float = 0.0) -> None:
        if request.meta.pop("sending", False):  # else never sent: another middleware answered or refused it
            lane: Lane = request.meta["lane"]
            if well is not None:
                lane.fared(well=well)
            lane.leave_s = leave_s
            if well is False:
                self._worker.tell(lane)
            lane.done()
        if address := request.meta.pop("address", None):
            address.leave_s = address.pause_s()  # for all of its turns
            self._worker.release_turn(address)
        if borrowed := request.meta.pop("borrowed", None):
            del request.meta["lane"]
            self._worker.release_turn(borrowed)

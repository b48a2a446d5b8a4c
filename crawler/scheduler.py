"""Scrapy's scheduler over the frontier.

A task claims ahead of need, as much as the worker has room for; `next_request` only pops from memory. Seeds lie in
lanes, one per held turn, and a lane gives out its next seed when the one before is fetched and the host's delay passed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections import deque
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_from_coro

from crawler import config, urls
from crawler.tasks import cancel
from crawler.worker.lanes import Lanes
from crawler.worker.visits import Lane, Visit
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from crawler.frontier.queue import ClaimAnswer
    from crawler.frontier.settlement import Settlement
    from crawler.models import Frontier

logger = logging.getLogger(__name__)
ROOM_SECONDS = 1.0  # between two looks at the headroom while there is none
TROUBLE_SECONDS = 1.0  # between two claims while they fail
STOP_LOOK_SECONDS = 0.25  # between two looks whether the engine is stopping
STOP_GRACE_SECONDS = 15.0  # what runs may still end; the whole stop has 30 s
DONE_LOOK_SECONDS = 1.0  # between two looks whether all is done, with STOP_WHEN_DONE
LOCK_WAIT_SECONDS = 0.01  # the lock is held for some ms; jitter keeps losers apart


class Scheduler(BaseScheduler):
    """Feeds the engine from one frontier.

    Args:
        parallel: CONCURRENT_REQUESTS: lanes that the worker likes to have at hand.
        idle_wait_s: Longest sleep with nothing due.
        page_s: PAGE_SECONDS.
        stop_when_done: End the crawl when nothing is ready, executing or on its way.
    """

    def __init__(
        self,
        crawler: Crawler,
        worker: Worker,
        *,
        parallel: int,
        idle_wait_s: float,
        page_s: float,
        stop_when_done: bool,
    ) -> None:
        self.crawler = crawler
        self.worker = worker
        self._parallel = parallel
        self._idle_wait_s = idle_wait_s
        self._page_s = page_s
        self._stop_when_done = stop_when_done
        self._lanes = Lanes(self._released, self._engine_wakes)
        self._extras: deque[Request] = deque()  # redirects on the same host, requests of users' callbacks
        self._visits: set[Visit] = set()
        self._errback: Any = None
        self._done = False
        self._alone = False
        self._tasks: list[asyncio.Task[None]] = []
        self._finishing: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the scheduler.

        Raises:
            HeadroomError: The worker extension is not among EXTENSIONS, or a setting is wrong.
        """
        settings = crawler.settings
        return cls(
            crawler,
            Worker.of(crawler),
            parallel=config.whole(settings, "CONCURRENT_REQUESTS", 1, 10_000),
            idle_wait_s=config.number(settings, "IDLE_WAIT_SECONDS", 0.1, 3_600),
            page_s=config.number(settings, "PAGE_SECONDS", 1, 86_400),
            stop_when_done=config.flag(settings, "STOP_WHEN_DONE"),
        )

    # -- Scrapy's interface -------------------------------------------------------------------------------------------

    def open(self, spider: Spider) -> Deferred[None]:
        """Joins the cluster and starts to claim."""
        self.crawler.signals.connect(self._stay, signal=signals.spider_idle)
        self._errback = getattr(spider, "errback", None)
        self.worker.on_lost.append(self._lost)
        self.worker.on_leave = self._lanes.leave
        return deferred_from_coro(self._open(getattr(spider, "frontier", "content")))

    def close(self, reason: str) -> Deferred[None]:  # noqa: ARG002 -- Scrapy's interface
        """Hands back what wasn't begun and leaves the cluster."""
        return deferred_from_coro(self._close())

    def has_pending_requests(self) -> bool:
        """Whether there is work in memory."""
        return bool(self._visits or self._extras)

    def enqueue_request(self, request: Request) -> bool:
        """Takes a follow-up request; it runs before new seeds. Seeds themselves go through the frontier."""
        self._extras.append(request)
        return True

    def next_request(self) -> Request | None:
        """Returns a request that may be sent now; None when there is none."""
        if self._extras:
            return self._extras.popleft()
        visit = self._lanes.next_visit()
        if visit is None:
            return None
        visit.deadline.start(self._page_s)
        return self._request(visit)

    # -- Claims -------------------------------------------------------------------------------------------------------

    async def _open(self, frontier: Frontier) -> None:
        await self.worker.open(frontier)
        self._tasks = [
            asyncio.create_task(self._claim_ahead(), name="claim ahead"),
            asyncio.create_task(self._watch_stop(), name="watch stop"),
        ]

    async def _close(self) -> None:
        self.worker.stopping = True
        await cancel(*self._tasks)  # first: a claim under way would bring seeds after the others were handed back
        self._lanes.hand_back()
        self._cut_off()
        await self.worker.close()

    async def _claim_ahead(self) -> None:
        while not self._done:
            self.worker.wake.clear()
            try:
                wait_s = await self._claim_once()
            except RedisError as error:
                logger.warning("claims wait for Redis: %s", error)
                wait_s = TROUBLE_SECONDS
            except Exception:
                logger.exception("claims go on after an error")  # a worker that stops claiming would look idle for ever
                wait_s = TROUBLE_SECONDS
            if wait_s > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.worker.wake.wait(), wait_s)

    async def _claim_once(self) -> float:
        """Claims, if there is need and room; returns the seconds until it is worth trying again unless woken before."""
        if self._alone:
            return self._idle_wait_s
        stuck = min(self._lanes.stuck() + self.worker.borrowing, self._parallel)
        most = self.worker.room(stuck) if self._lanes.near() < self._parallel else 0
        if most == 0:
            return ROOM_SECONDS
        answer = await self.worker.claim(most)
        if answer.seeds:
            await self._take(answer)
            return 0.0
        return await self._wait_s(answer)

    async def _wait_s(self, answer: ClaimAnswer) -> float:
        if answer.state == "locked":
            return random.uniform(0.1, 1.0) * LOCK_WAIT_SECONDS
        if answer.state in ("lapsed", "drain"):
            return ROOM_SECONDS
        wait_s = self._idle_wait_s
        if answer.wait_ms is not None:
            # A worker that is told "now" and got nothing met a host's turn being taken; a moment later is soon enough.
            wait_s = min(wait_s, max(answer.wait_ms / 1000, LOCK_WAIT_SECONDS))
        if self._stop_when_done and not self._visits:
            if self._engine_runs() and await self.worker.registry.is_done(self.worker.queues):
                self._finish()
                return 0.0
            wait_s = min(wait_s, DONE_LOOK_SECONDS)
        return wait_s

    async def _take(self, answer: ClaimAnswer) -> None:
        """Turns claimed seeds into visits. They are held before anything can fail, so that none is forgotten."""
        self._alone = answer.state == "quarantined"
        lanes: dict[tuple[str, int], Lane] = {}
        for claimed in answer.seeds:
            key = (claimed.seed.host, claimed.turn)
            if key not in lanes:
                lanes[key] = Lane(claimed.seed.host, claimed.turn, claimed.partition, claimed.delay_s)
            visit = Visit(claimed, lanes[key], self._fetched, self._ended)
            self._visits.add(visit)
            lanes[key].waiting.append(visit)
        self._lanes.hold(lanes.values())
        await self.worker.sites.load({claimed.seed.site for claimed in answer.seeds})
        if self.worker.stopping:
            self._lanes.hand_back()
        for lane in lanes.values():
            self._lanes.start(lane)

    def _request(self, visit: Visit) -> Request:
        seed = visit.seed
        headers = None
        site = self.worker.sites.get(seed.site)
        if seed.body and site is not None:
            headers = {"Content-Type": site.request_content_type}
        meta: dict[str, Any] = {"visit": visit, "lane": visit.lane}
        if urls.is_plain(seed.url):
            meta["verbatim_url"] = True  # Scrapy would escape what is
        return Request(
            seed.url,
            method=seed.method,
            body=seed.body,
            headers=headers,
            meta=meta,
            dont_filter=True,
            errback=self._errback,
        )

    # -- Visits -------------------------------------------------------------------------------------------------------

    def _fetched(self, visit: Visit) -> None:
        self._lanes.fetched(visit.lane)

    def _released(self, lane: Lane) -> None:
        self.worker.release_turn(lane)
        # The host may be claimed again after its delay, a little later for the settle to arrive.
        later_s = lane.pause_s() + 2 * self.worker.config.settle_wait_s
        asyncio.get_running_loop().call_later(later_s, self.worker.wake.set)

    def _ended(self, visit: Visit, settlement: Settlement) -> None:
        self._visits.discard(visit)
        if visit.claimed.quarantined:
            self._alone = False
        self.worker.settle(settlement)
        if not self._visits:
            self.worker.wake.set()

    def _lost(self) -> None:
        """The session was lost: everything held is somebody else's now."""
        for visit in self._visits:
            visit.abandon()
        self._visits.clear()
        self._lanes.forget()
        self._alone = False

    # -- The end ------------------------------------------------------------------------------------------------------

    def _stay(self) -> None:
        if not self._done:
            raise DontCloseSpider

    def _finish(self) -> None:
        self._done = True
        engine = self.crawler.engine
        assert engine is not None  # it runs us
        self._finishing = asyncio.create_task(
            engine.close_spider_async(reason="finished"), name="finish"
        )  # it calls close

    def _cut_off(self) -> None:
        for visit in list(self._visits):
            visit.hand_back()
            self._lanes.release(visit.lane)

    async def _watch_stop(self) -> None:
        """Scrapy has no signal for "about to stop": SIGTERM shows only in the engine's state."""
        while not self._engine_stops():  # noqa: ASYNC110 -- there is no event for it
            await asyncio.sleep(STOP_LOOK_SECONDS)
        if self._done:
            return
        self.worker.stopping = True
        logger.info("stopping: %d seeds handed back", self._lanes.waiting)
        self._lanes.hand_back()
        await asyncio.sleep(STOP_GRACE_SECONDS)
        self._cut_off()  # a slow page, a sink that is away: others will do it

    def _engine_stops(self) -> bool:
        """Whether it was told to stop; one that was told so as it started has never run."""
        return self.crawler.engine is not None and self.crawler.engine._stopping  # noqa: SLF001

    def _engine_runs(self) -> bool:
        return self.crawler.engine is not None and self.crawler.engine.running

    def _engine_wakes(self) -> None:
        """Lets the engine ask at once; by itself it asks every 5 s. Scrapy 2.19 has no public way."""
        engine = self.crawler.engine
        if engine is not None and engine._slot is not None:  # noqa: SLF001
            engine._slot.nextcall.schedule()  # noqa: SLF001

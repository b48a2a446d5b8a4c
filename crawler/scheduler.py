"""Scrapy's scheduler over the frontier.

One task claims seeds ahead of need, as many as the worker has room for, so that `next_request` only takes from memory:
from the lanes of `crawler/worker/held_seeds.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from typing import TYPE_CHECKING, Any, Self, get_args

from redis.exceptions import RedisError
from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.reactor import is_reactor_installed

from crawler import config
from crawler.base import log_events, scrapy_private
from crawler.base.errors import ConfigError, HeadroomError
from crawler.base.models import Frontier
from crawler.base.seldom import Seldom
from crawler.base.tasks import TaskDied, cancel, start
from crawler.robots.finder import RobotsAsked
from crawler.servers.redis_retry import RETRY_SECONDS
from crawler.worker.held_seeds import HeldSeeds
from crawler.worker.life.orders import StopOrdered
from crawler.worker.life.required import require_components
from crawler.worker.turns.lanes import VisitReady
from crawler.worker.visits.page_request import page_request
from crawler.worker.visits.request_part import RequestPart
from crawler.worker.visits.request_state import part_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from crawler.base.log_events import EventLogger
    from crawler.worker.visits.visit import Visit

logger: EventLogger = logging.getLogger(__name__)
STOP_POLL_SECONDS = 0.25  # interval at which the engine's state is checked for a stop
# How long pages under way may go on when the worker is told to stop; the whole stop may take 30 s.
STOP_GRACE_SECONDS = 15.0
FORCED_STOP_SECONDS = 5.0  # how long telling Redis what is released may take when the worker is told to stop once more
DONE_POLL_SECONDS = 1.0  # interval at which an idle worker checks whether all plans are done, with STOP_WHEN_DONE


class Scheduler(BaseScheduler):
    """Feeds the engine from one frontier.

    Args:
        parallel: CONCURRENT_REQUESTS: no more is claimed while so many lanes have work to do.
        idle_wait_s: IDLE_WAIT_SECONDS: the longest sleep while no seed is due.
        page_s: PAGE_SECONDS: the longest time for all that one visit fetches.
        stop_when_done: STOP_WHEN_DONE: close the spider when no seed is ready or executing and none can follow.
        errback: The spider's, for each seed's request; None: the spider has none.
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
        errback: Callable[..., Any] | None = None,
    ) -> None:
        self.crawler = crawler
        self.worker = worker
        self._life, self._claiming = worker.life, worker.claiming
        self._headroom, self._events = worker.life.headroom, worker.events
        self._page_s = page_s
        self._stop_when_done = stop_when_done
        self._errback = errback
        self._seeds = HeldSeeds(worker, parallel=parallel, idle_wait_s=idle_wait_s)
        self._warn = Seldom(logger.warning)
        self._follow_ups: deque[Request] = deque()  # redirects on the same host, requests of users' callbacks
        self._asks_at = 0.0  # when the engine is made to ask for a request that couldn't start yet; the loop's clock
        self._closes = False  # this scheduler has the spider closed: all plans are done, or a task has died
        self._tasks: list[asyncio.Task[None]] = []
        self._finishing: asyncio.Task[None] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._leaving: asyncio.Future[None] | None = None

        subscribe = self._events.subscribe
        subscribe(VisitReady, self._visit_ready)
        subscribe(RobotsAsked, self._robots_asked)
        subscribe(StopOrdered, self._stop_ordered)
        subscribe(TaskDied, self._task_died)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the scheduler.

        Raises:
            HeadroomError: The spider isn't one of the frontier's, a component that it can't do without is switched off,
                or a setting is wrong.
        """
        settings, spider = crawler.settings, crawler.spidercls
        if getattr(spider, "frontier", None) not in get_args(Frontier):
            expected = f"another one for the spider {spider.name!r}: only a FrontierSpider crawls the frontier's seeds"
            raise ConfigError("SCHEDULER", settings["SCHEDULER"], expected)
        require_components(settings)  # here, since add-ons have changed the settings by now
        return cls(
            crawler,
            Worker.of(crawler),
            parallel=config.CONCURRENT_REQUESTS.of(settings),
            idle_wait_s=config.IDLE_WAIT_SECONDS.of(settings),
            page_s=config.PAGE_SECONDS.of(settings),
            stop_when_done=config.STOP_WHEN_DONE.of(settings),
            errback=getattr(crawler.spider, "errback", None),
        )

    # -- Starting -----------------------------------------------------------------------------------------------------

    def open(self, spider: Spider) -> Deferred[None]:  # noqa: ARG002 -- Scrapy's interface
        """Joins the cluster and begins to claim; the engine asks for requests once the result has fired."""
        self.crawler.signals.connect(self._spider_idle, signal=signals.spider_idle)
        if is_reactor_installed():
            from twisted.internet import reactor

            reactor.addSystemEventTrigger("before", "shutdown", self._leave_soon)  # type: ignore[arg-type]  # its own types are wrong
        self._opening = asyncio.create_task(self.worker.open())
        return deferred_from_coro(self._start(self._opening))

    async def _start(self, opening: asyncio.Task[None]) -> None:
        try:
            await opening
        except HeadroomError as error:
            # Scrapy would write tracebacks of what it can't close, since it wasn't opened. So it opens the spider, and
            # closes it as soon as it runs.
            self._events.publish(TaskDied("start", error))
        if self._life.stopping.is_set():
            return
        self._tasks = [
            start(self._feed(), name="feed", died=self._events.publish),
            start(self._watch_for_stop(), name="watch for stop", died=self._events.publish),
        ]

    # -- Feeding ------------------------------------------------------------------------------------------------------

    def has_pending_requests(self) -> bool:
        """Returns whether there is work in memory."""
        return bool(self._seeds.visits or self._follow_ups)

    def enqueue_request(self, request: Request) -> bool:
        """Queues a follow-up request, which runs before new seeds; seeds themselves come from the frontier."""
        self._follow_ups.append(request)
        if (part := part_of(request)) is not None:
            part.queued = True
        return True

    def next_request(self) -> Request | None:
        """Returns a request that may be sent now; None: there is none, or the node has no room for it.

        A page needs memory for one more answer, and CPU within the node's limit; a follow-up, which belongs to a page
        that has started, waits for memory alone. The engine asks again when an answer has come, or the CPU has room.
        """
        engine = self.crawler.engine
        if engine is not None and not self._headroom.may_send(len(engine.downloader.active)):
            return None
        if self._follow_ups:
            return self._follow_ups.popleft()
        if not self._seeds.lanes.startable:
            return None
        if wait_s := self._headroom.start_wait_s():
            self._ask_later(wait_s)
            return None
        visit = self._seeds.lanes.next_visit()
        if visit is None:
            return None
        self._headroom.starts()
        visit.deadline.start(self._page_s)
        return self._request_of(visit)

    def _ask_later(self, seconds: float) -> None:
        """Makes the engine ask for a request again; in the meantime at most one such moment is awaited."""
        loop = asyncio.get_running_loop()
        if self._asks_at < loop.time():
            self._asks_at = loop.time() + seconds
            loop.call_at(self._asks_at, self._make_engine_ask)

    def _request_of(self, visit: Visit) -> Request:
        site = self._claiming.sites.get(visit.seed.site)
        request = page_request(visit, site, RequestPart(visit, is_page=True))
        request.errback = self._errback
        return request

    async def _feed(self) -> None:
        """Claims seeds as long as the crawl runs; sleeps while no seed is due or there is no room for one.

        A loop of its own: it must outlast errors of every kind, and `wake` ends its sleep early. With STOP_WHEN_DONE it
        closes the spider when this worker holds nothing and all plans are done. So it does while the worker has no room
        for seeds: others may have crawled what there was.
        """
        while not self._closes:
            self._life.wake.clear()
            try:
                wait_s = await self._seeds.claim()
                if self._stop_when_done and not self._seeds.visits:
                    wait_s = min(wait_s, DONE_POLL_SECONDS)
                    if self._engine_runs() and await self.worker.is_done():
                        self._finish("finished")
                        return
            except RedisError as error:
                self._warn(log_events.CLAIMS_WAITING, error)
                wait_s = RETRY_SECONDS
            except Exception:  # without a loop that claims, the worker would look idle for ever
                logger.exception(log_events.CLAIMS_ERROR)
                wait_s = RETRY_SECONDS
            if wait_s > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._life.wake.wait(), wait_s)

    # -- Events -------------------------------------------------------------------------------------------------------

    def _visit_ready(self, _event: VisitReady) -> None:
        self._make_engine_ask()

    def _make_engine_ask(self) -> None:
        """Makes the engine ask for requests at once; by itself it asks every 5 s."""
        if self.crawler.engine is not None:
            scrapy_private.ask_for_request(self.crawler.engine)

    def _robots_asked(self, event: RobotsAsked) -> None:
        """Ends the visits that were held while their robots.txt was asked for, and haven't started."""
        self._seeds.lanes.end_not_started(
            event.host, lambda visit: visit.end_at_once(*event.outcome(visit.seed, visit.claimed.tries))
        )

    # -- Stopping -----------------------------------------------------------------------------------------------------
    # When the worker is told to stop (SIGTERM, Ctrl-C, an operator's order), `_watch_for_stop` releases the visits not
    # started, gives pages under way some time, and releases the rest. When all plans are done (STOP_WHEN_DONE),
    # `_finish` closes the spider. When it can't join the cluster or a background task has died, `_task_died` releases
    # all and closes it, too. In each case the engine then calls `close`. Told to stop once more, Scrapy stops the
    # reactor without a word to the engine: then `_leave_soon` has the same done within FORCED_STOP_SECONDS.

    def _spider_idle(self) -> None:
        """Keeps an idle spider open: more seeds may come."""
        if not self._closes:
            raise DontCloseSpider

    def _finish(self, reason: str) -> None:
        """Closes the spider in a new task, because closing waits for `close`, which cancels the task that runs this."""
        if not self._closes:
            self._closes = True
            self._finishing = start(self._close_spider(reason), name="finish", died=self._events.publish)

    async def _close_spider(self, reason: str) -> None:
        while not (self._engine_runs() or self._engine_stops()):  # noqa: ASYNC110 -- it is being started
            await asyncio.sleep(STOP_POLL_SECONDS)
        if self.crawler.engine is not None and not self._engine_stops():
            await self.crawler.engine.close_spider_async(reason=reason)

    def _stop_ordered(self, _event: StopOrdered) -> None:
        """Does what SIGTERM does."""
        self._finishing = start(self.crawler.stop_async(), name="ordered stop", died=self._events.publish)

    def _task_died(self, _event: TaskDied) -> None:
        self._finish("failed")
        self._seeds.lanes.release_not_started()
        self._seeds.release_all()

    async def _watch_for_stop(self) -> None:
        """Waits until the engine is told to stop, and releases visits while it stops.

        Scrapy has no signal for the beginning of a stop: SIGTERM shows in the engine's state alone.
        """
        while not self._engine_stops():  # noqa: ASYNC110 -- there is no event for it
            await asyncio.sleep(STOP_POLL_SECONDS)
        if self._closes:
            return
        self._life.stopping.set()
        logger.info(log_events.WORKER_STOPPING, self._seeds.lanes.not_started)
        self._seeds.lanes.release_not_started()
        await asyncio.sleep(STOP_GRACE_SECONDS)
        self._seeds.release_all()  # pages that are slow, or whose sink is away; other workers will visit them

    def close(self, reason: str) -> Deferred[None]:  # noqa: ARG002 -- Scrapy's interface
        """Releases every visit that hasn't ended, and leaves the cluster."""
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        if self._leaving is None:
            self._leaving = asyncio.ensure_future(self._leave())
        await asyncio.shield(self._leaving)

    def _leave_soon(self) -> Deferred[None]:
        """Does what `close` does, unless it was done, before the reactor stops; has some seconds for it."""
        return deferred_from_coro(self._close_within(FORCED_STOP_SECONDS))

    async def _close_within(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._close(), seconds)
        except TimeoutError:
            logger.warning(log_events.WORKER_FORCED)

    async def _leave(self) -> None:
        self._life.stopping.set()
        if self._opening is not None:
            await cancel(self._opening)  # a worker that is told to stop as it joins leaves nothing behind either
        await cancel(*self._tasks)  # first: a claim under way would bring seeds after the others were released
        await self._claiming.claims.close()
        self._seeds.lanes.release_not_started()
        self._seeds.release_all()
        await self.worker.close()

    def _engine_stops(self) -> bool:
        return self.crawler.engine is not None and scrapy_private.is_stopping(self.crawler.engine)

    def _engine_runs(self) -> bool:
        return self.crawler.engine is not None and self.crawler.engine.running

"""The worker: one Scrapy process as a member of the cluster. A Scrapy extension, which `Worker.of(crawler)` finds.

Scheduler, middlewares, pipelines and spiders reach the frontier through the parts that are built here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import RedisError

from crawler import __version__
from crawler.base.errors import HeadroomError
from crawler.base.events import Events
from crawler.base.tasks import TaskDied, cancel, start
from crawler.frontier import durability, preflight, scripts
from crawler.frontier.node_orders import NodeOrders
from crawler.frontier.render_verdicts import RenderVerdicts
from crawler.frontier.session import RENEWALS_PER_SESSION, Session, SessionLost, owner_node
from crawler.plans.registry import Registry
from crawler.servers.redis import SOCKET_SECONDS, redis_address, redis_async, redis_sync
from crawler.servers.redis_full import RedisFull
from crawler.worker.claiming.claims import Claims
from crawler.worker.claiming.claims_log import ClaimsLog
from crawler.worker.claiming.gaps import Gaps
from crawler.worker.claiming.hand_backs import HandBacks
from crawler.worker.claiming.offers import Offers
from crawler.worker.claiming.outcomes import OUT_OF_MEMORY
from crawler.worker.claiming.searches import Searches
from crawler.worker.claiming.settler import Settler
from crawler.worker.claiming.site_cache import SiteCache
from crawler.worker.claiming.teller import Teller
from crawler.worker.config import WorkerConfig
from crawler.worker.life.headroom import NodeHeadroom
from crawler.worker.life.heartbeat_file import HeartbeatFile
from crawler.worker.life.orders import Orders
from crawler.worker.life.required import refuse_command, require_parts
from crawler.worker.life.service_manager import ServiceManager
from crawler.worker.life.wakeups import WakeUps
from crawler.worker.rendering.browser_at_hand import BrowserAtHand
from crawler.worker.rendering.render_choice import RenderChoice
from crawler.worker.reports.failed_answers import FailedAnswers
from crawler.worker.reports.failure_log import FailureLog
from crawler.worker.reports.figures import Figures, load_figures
from crawler.worker.reports.newest_items import NewestItems
from crawler.worker.reports.tally import Tally
from crawler.worker.start_lists.start_lists import StartLists
from crawler.worker.turns.egress import Egress
from crawler.worker.turns.fair_share import FairShare
from crawler.worker.turns.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis import Redis
    from redis.asyncio import Redis as AsyncRedis
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from crawler.base.models import Frontier
    from crawler.frontier.settlement import Settlement
    from crawler.worker.claiming.visits import Visit

logger = logging.getLogger(__name__)
BEAT_SECONDS = 1.0  # between two samples of the load
MIN_RENEWAL_SECONDS = 0.5  # a busy machine may hold an answer up so long


class Worker:
    """Builds the parts of a worker, and connects them to Redis in `open`.

    Attributes:
        frontier: Which of the two frontiers it works on.
        wake: Set when a claim may succeed that couldn't before.
        stopping: Set when the worker stops: no more is claimed, and visits not started are released.
        death: The first background task that died, for which the worker ends; None: all are well.
        browser: Whether it can render pages.
    """

    def __init__(
        self,
        config: WorkerConfig,
        frontier: Frontier,
        *,
        redis: AsyncRedis,
        session_redis: Redis,
        redis_address: str,
        stats: StatsCollector,
    ) -> None:
        keys, partitions, session_s = config.frontier.keys, config.frontier.partitions, config.frontier.session_s
        self.config = config
        self.frontier: Frontier = frontier
        self.redis = redis
        self._redis_address = redis_address  # without its password, for messages
        self._stats = stats
        self._sinks_down: dict[str, str] = {}  # sinks that can't be reached, and why
        self._claims_log = ClaimsLog()
        self._tasks: list[asyncio.Task[None]] = []

        self.wake = asyncio.Event()
        self.stopping = asyncio.Event()
        self.death: TaskDied | None = None
        self.browser = BrowserAtHand(config.browser_path)
        self.events = Events()
        self.redis_full = RedisFull()
        self.headroom = NodeHeadroom(config.limits, batch_max=config.batch_max, claim_ahead_s=config.claim_ahead_s)
        self._hand_backs = HandBacks()
        self.registry = Registry(redis, keys, partitions)
        self.sites = SiteCache(self.registry, self.events)
        self.queues = config.frontier.queues(redis)
        self.queue = self.queues[frontier]
        self.session = Session(session_redis, keys, partitions=partitions, seconds=session_s, events=self.events)
        self.figures = Figures(keys, self.events, session_s, self._identity())
        self.tally = Tally(keys, self.events, stats)
        self._failed_answers = FailedAnswers(keys, self.events, config.failed_answers_bytes, config.redaction)
        self.newest_items = NewestItems(keys, self.events, config.newest_items_bytes)
        self._heartbeat_file = HeartbeatFile(config.heartbeat_file) if config.heartbeat_file else None
        self._service_manager = ServiceManager.from_environment()
        self.wakeups = WakeUps(redis, keys.wake(frontier), self.wake, self.events)
        self.orders = Orders(
            NodeOrders(redis, keys),
            owner_node(self.session.name),
            headroom=self.headroom,
            wake=self.wake,
            events=self.events,
        )
        self.fair_share = FairShare(redis, keys.wake(frontier), self.session.name, self.events)
        self.settler = Settler(
            self.queue, batch=config.settle_batch, wait_s=config.settle_wait_s, events=self.events, stats=stats
        )
        self.claims = Claims(
            self.queue,
            self.session,
            self.settler,
            browser=self.browser,
            drain_s=session_s,
            redis_full=self.redis_full,
            wake=self.wake,
            stats=stats,
        )
        self.offers = Offers(
            self.queues,
            self.session.leases,
            redis_full=self.redis_full,
            stopping=self.stopping,
            events=self.events,
            stats=stats,
        )
        self.start_lists = StartLists(
            config.start_lists if frontier == "content" else (),
            redis=redis,
            keys=keys,
            reader=self.session.name,
            offers=self.offers,
            registry=self.registry,
            site_cache=self.sites,
            sites_dir=config.sites_dir,
            stats=stats,
        )
        self.searches = Searches(redis, keys)
        self.render_choice = RenderChoice(RenderVerdicts(redis, keys), config.render_look_again_s, self.events)
        self.teller = Teller(self.events)
        self.gaps = Gaps()
        self.failures = FailureLog(self.events)
        self.turns = Turns(self.queue, self.session, self.settler, events=self.events, stopping=self.stopping)
        self.egress = Egress(redis, keys.reached, self.events, doubt_s=config.egress_doubt_s)

        self.events.subscribe(SessionLost, self._session_lost)
        self.events.subscribe(TaskDied, self._task_died)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the extension.

        Raises:
            ConfigError: A setting has a value that it can't have.
            SystemExit: `scrapy shell --spider consumer` builds the spider's parts, to fetch pages of its own with them.
        """
        if not crawler.crawling:
            refuse_command(crawler.spidercls.name)
        require_parts(crawler.settings)  # once more: add-ons have changed the settings by now
        settings: Mapping[str, Any] = crawler.settings
        assert crawler.stats is not None  # Scrapy makes the statistics before its extensions
        return cls(
            WorkerConfig.from_settings(settings),
            getattr(crawler.spider, "frontier", "content"),
            redis=redis_async(settings),
            session_redis=redis_sync(settings, timeout_s=_renewal_timeout_s(settings)),
            redis_address=redis_address(settings),
            stats=crawler.stats,
        )

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Returns the crawler's worker.

        Raises:
            HeadroomError: The extension isn't among EXTENSIONS.
        """
        worker = crawler.get_extension(cls)
        if worker is None:
            raise HeadroomError("setting EXTENSIONS: expected crawler.worker.worker.Worker in it, which is missing")
        return worker

    # -- Opening and closing -------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Waits for Redis, checks the frontier's format, opens the session and listens for wake-ups.

        Raises:
            UnavailableError: Redis couldn't be reached for CONNECT_SECONDS; nothing is left open.
            FrontierError: Redis holds a frontier that these settings can't work on; likewise.
        """
        try:
            await self._join()
        except BaseException:  # it may be told to stop while it waits for Redis
            await self._disconnect()
            raise
        self.settler.start()
        self._tasks = [
            start(self.session.watch(), name="session watch", died=self.events.publish),
            start(self._beat(), name="beat", died=self.events.publish),
            start(self.wakeups.listen(), name="wake-ups", died=self.events.publish),
            start(self.orders.follow(), name="orders", died=self.events.publish),
            start(self.start_lists.read(), name="start lists", died=self.events.publish),
        ]
        logger.info("worker %s on frontier %s", self.session.name, self.frontier)

    async def _join(self) -> None:
        await preflight.wait_until_ready(
            self.redis,
            self.config.frontier.keys,
            self.config.frontier.partitions,
            where=self._redis_address,
            seconds=self.config.connect_s,
            say=logger.warning,
        )
        await durability.log_advice(self.redis, self.config.frontier.session_s)
        scripts.read_ahead()
        opening = asyncio.ensure_future(asyncio.to_thread(self.session.open, asyncio.get_running_loop()))
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            while not opening.done():  # a thread can't be cancelled, however often: what it opens is closed after it
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([opening])
            raise

    async def close(self) -> None:
        """Sends the settlements left, ends the session and disconnects. Does nothing if it isn't open."""
        if not self._tasks:
            return
        await cancel(*self._tasks)
        if self._service_manager:
            self._service_manager.stopping()
        await self.start_lists.close()
        await self.sites.close()
        await self.teller.close()
        await self.render_choice.close()
        await self.offers.close()
        await self.fair_share.close()
        if not await self.settler.drain(self.config.frontier.session_s):
            logger.warning("Redis is away: other workers claim this worker's seeds when its session lapses")
        await self.settler.close()
        self.failures.close()  # last: visits and fetches may fail until here
        for lease in self.session.leases:
            if not lease.reachable:
                continue
            with contextlib.suppress(RedisError):
                await self.queue.recall(lease.partition, lease.owner)  # the seeds of a claim whose answer was lost
        await self._disconnect()

    async def _disconnect(self) -> None:
        self.tally.collect()
        await asyncio.to_thread(self.session.close)
        if self._heartbeat_file:
            self._heartbeat_file.remove()
        if self._service_manager:
            self._service_manager.close()
        await self.redis.aclose()

    async def is_done(self) -> bool:
        """Returns whether nothing is ready, executing or being offered, and no start list has entries.

        The lists are asked first: what has left them by then is in the frontier.
        """
        return not await self.start_lists.has_entries() and await self.registry.is_done(self.queues)

    # -- Seeds --------------------------------------------------------------------------------------------------------

    def why_no_claims(self) -> str:
        """Returns why nothing may be claimed but seeds to probe with, however little is carried; else an empty text."""
        sinks = ", ".join(f"{name} ({why})" for name, why in sorted(self._sinks_down.items()))
        short = self.headroom.short_of()
        reasons = {
            "it stops": self.stopping.is_set(),
            "an operator has drained its node": self.orders.drained,
            f"it waits for {sinks}": self._sinks_down,
            "its session isn't alive": not self.session.alive,
            "Redis is full": self.redis_full.now,
            "no host answers it": self.egress.is_down,
            f"its node has no {short} left": short,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def room(self, slow_visits: int = 0) -> int:
        """Returns how many seeds may be claimed now.

        That is 0 while it stops, its node is drained, a sink is down or the session isn't alive.

        Without a way out to the web it is one seed now and then.

        Args:
            slow_visits: Number of visits that are held up on slow lanes.
        """
        if self.stopping.is_set() or self.orders.drained or self._sinks_down or not self.session.alive:
            return 0
        if self.egress.is_down:
            return int(self.egress.probe_is_due and self.claims.carrying == 0)
        return self.headroom.room(self.claims.carrying, self.figures.workers_here, slow_visits)

    def may_send(self, running: int) -> bool:
        """Returns whether there is memory for the answer of one more request beside those that run."""
        return self.headroom.may_send(running, self.figures.workers_here)

    def start_wait_s(self) -> float:
        """Returns the seconds until one more page may be started; 0: now, and it counts as started."""
        return self.headroom.start_wait_s(self.figures.workers_here)

    def settle(self, settlement: Settlement) -> None:
        """Settles a claim; the frontier is told with the next batch."""
        if settlement.reason == OUT_OF_MEMORY.reason:
            self.headroom.lacks("memory")
            settlement = self._hand_backs.bounded(settlement)
        self.claims.carrying -= 1
        self.headroom.rate.count()
        if self.headroom.pace and settlement.operation not in ("release", "postpone"):
            self.headroom.pace.ended()
        self._stats.inc_value("/".join(filter(None, ("frontier", settlement.operation, settlement.reason))))
        self.tally.settled(settlement)
        self.settler.settle(settlement.claimed.owner, settlement)

    def abandon(self, visit: Visit) -> None:
        """Ends a visit whose seed others have claimed by now."""
        self.claims.carrying -= 1
        visit.abandon()

    # -- Sinks --------------------------------------------------------------------------------------------------------

    def sink_down(self, name: str, why: str) -> None:
        """Stops claims while a sink can't be reached, or takes nothing; `why` is for operators."""
        self._sinks_down[name] = why

    def sink_up(self, name: str) -> None:
        """Lets claims go on, unless another sink is down."""
        self._sinks_down.pop(name, None)
        self.wake.set()

    # -- Figures and session ------------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        while True:
            if self.session.is_looked_after:
                self._tell_alive()
            try:
                await asyncio.to_thread(self.headroom.sampler.sample)
            except OSError as error:
                logger.warning("the load can't be measured: %s", error)
            else:
                if self.headroom.pace:
                    self.headroom.pace.sample(self.headroom.sampler.newest)
            if self.browser.look():
                self.wake.set()
            await self.egress.share()
            self._claims_log.tick(self.why_no_claims())
            self.failures.tick()
            self.tally.collect()
            self.figures.latest = self._figures()
            await asyncio.sleep(BEAT_SECONDS)

    def _tell_alive(self) -> None:
        """Tells those who would start a dead worker again. One without Redis is alive: a new one would do no better."""
        if self._heartbeat_file:
            self._heartbeat_file.beat(is_ready=self.session.alive)
        if self._service_manager:
            self._service_manager.beat(is_ready=self.session.alive)

    def _identity(self) -> dict[str, Any]:
        return {"version": __version__, "frontier": self.frontier}

    def _figures(self) -> dict[str, Any]:
        return {
            **self._identity(),
            "carrying": self.claims.carrying,
            "pages_per_minute": round(self.headroom.rate.per_second() * 60),
            "room": self.room(),
            "why_no_claims": self.why_no_claims(),
            "why_no_browser": self.browser.why_no_browser if self.claims.left or self.browser.is_wanted else "",
            "drained": self.orders.drained,
            "memory_limit_percent": self.headroom.limits.memory_percent,
            "cpu_limit_percent": self.headroom.limits.cpu_percent,
            "first_batch": self.headroom.limits.first_batch,
            "sinks_down": sorted(self._sinks_down),
            "redis_full": self.redis_full.now,
            "egress_down_s": round(self.egress.down_s),
            **load_figures(self.headroom.sampler.load),
        }

    def _session_lost(self, event: SessionLost) -> None:
        """Forgets all that was held under the lost lease, and begins a new one."""
        logger.warning("session of %s was lost; its seeds go to others", event.owner)
        self._stats.inc_value("frontier/sessions_lost")
        self.settler.forget(event.partition, event.owner)
        self.queue.forget(event.partition, event.owner)
        self.session.begin_anew(event.partition)

    # -- Background tasks ---------------------------------------------------------------------------------------------

    def _task_died(self, event: TaskDied) -> None:
        """Says why the worker ends, which the scheduler sees to: without the task it would look idle for ever."""
        if isinstance(event.error, HeadroomError):
            logger.critical("this worker ends: %s", event.error)
        else:
            logger.critical("this worker ends, since its task %r died", event.name, exc_info=event.error)
        self.death = self.death or event
        self.stopping.set()


def _renewal_timeout_s(settings: Mapping[str, Any]) -> float:
    """Returns how long one renewal of a session may take: not longer than until the next, for others wait for it."""
    session_s = WorkerConfig.from_settings(settings).frontier.session_s
    return min(max(session_s / RENEWALS_PER_SESSION, MIN_RENEWAL_SECONDS), SOCKET_SECONDS)

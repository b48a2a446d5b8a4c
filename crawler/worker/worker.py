"""The worker: one Scrapy process as a member of the cluster. A Scrapy extension, which `Worker.of(crawler)` finds.

Scheduler, middlewares, pipelines and spiders reach the frontier through the parts that are built here, one a room.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from crawler.base import log_events
from crawler.base.errors import HeadroomError
from crawler.base.events import Events
from crawler.base.tasks import cancel, start
from crawler.frontier.render_verdicts import RenderVerdicts
from crawler.frontier.session import RENEWALS_PER_SESSION
from crawler.servers.redis import SOCKET_SECONDS, redis_address, redis_async, redis_sync
from crawler.worker.claiming.claiming import Claiming
from crawler.worker.config import WorkerConfig
from crawler.worker.duties import Duties
from crawler.worker.life.life import Life
from crawler.worker.life.required import refuse_command, require_parts
from crawler.worker.rendering.browser_at_hand import BrowserAtHand
from crawler.worker.rendering.render_choice import RenderChoice
from crawler.worker.reports.reports import Reports
from crawler.worker.start_lists.start_lists import StartLists
from crawler.worker.turns.turns import Turns

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable, Mapping

    from redis import Redis
    from redis.asyncio import Redis as AsyncRedis
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from crawler.base.log_events import EventLogger
    from crawler.base.models import Frontier
    from crawler.sites import Site
    from crawler.worker.turns.turns import TurnKeeper

logger: EventLogger = logging.getLogger(__name__)
MIN_RENEWAL_SECONDS = 0.5  # shortest time between two renewals, since a busy machine may hold an answer up that long


class Worker:
    """Builds the parts of a worker, and connects them to Redis in `open`.

    Args:
        turn_keeper: Gives turns and takes them back instead of the frontier, in a process without one.
        sites: Definitions that needn't be read from Redis.

    Attributes:
        frontier: Which of the two frontiers it works on.
        life: Its session, its node's load, and what operators want of it.
        browser: Whether it can render pages.
        render_choice: Whether pages of sites that leave it to the crawl are rendered.
        claiming: What it claims, settles and offers.
        turns: The turns of hosts that it holds beside those of its claims.
        start_lists: What others put into Redis to be crawled.
        reports: What it tells of itself.
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
        turn_keeper: TurnKeeper | None = None,
        sites: Iterable[Site] = (),
    ) -> None:
        self.config = config
        self.frontier: Frontier = frontier
        self.redis = redis
        self._redis_address = redis_address  # without its password, for messages
        self._tasks: list[asyncio.Task[None]] = []
        self._duties = duties = Duties()
        # Parts subscribe as they are built. Of those that act on an event, the part that stands above acts first here;
        # the scheduler, which is built over the worker, comes last: a visit is settled, noted, and then forgotten.
        self.events = events = Events()

        self.life = Life(config, frontier, redis, session_redis, events=events, duties=duties)
        self.browser = BrowserAtHand(config.browser_path, self.life.wake, duties)
        verdicts = RenderVerdicts(redis, config.frontier.keys)
        self.render_choice = RenderChoice(verdicts, config.render_look_again_s, events)
        self.claiming = Claiming(
            config, frontier, redis, self.life, self.browser, events=events, stats=stats, sites=sites
        )
        self.turns = Turns(
            turn_keeper or self.claiming.queue,
            self.life.session,
            turn_keeper or self.claiming.settler,
            events=events,
            stopping=self.life.stopping,
        )
        self.start_lists = StartLists(
            config.start_lists if frontier == "content" else (),
            redis=redis,
            keys=config.frontier.keys,
            reader=self.life.session.name,
            offers=self.claiming.offers,
            registry=self.claiming.registry,
            site_cache=self.claiming.sites,
            sites_dir=config.sites_dir,
            stats=stats,
        )
        self.reports = Reports(
            config, frontier, self.life, self.claiming, self.browser, events=events, duties=duties, stats=stats
        )

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
        config = WorkerConfig.from_settings(settings)
        # How long until the next renewal is due.
        renewal_s = max(config.frontier.session_s / RENEWALS_PER_SESSION, MIN_RENEWAL_SECONDS)
        assert crawler.stats is not None  # Scrapy makes the statistics before its extensions
        return cls(
            config,
            getattr(crawler.spider, "frontier", "content"),
            redis=redis_async(settings),
            session_redis=redis_sync(settings, timeout_s=min(renewal_s, SOCKET_SECONDS)),
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

    async def open(self) -> None:
        """Joins the cluster: waits for Redis, checks the frontier's format, opens the session and listens for wake-ups.

        Raises:
            UnavailableError: Redis couldn't be reached for CONNECT_SECONDS; nothing is left open.
            FrontierError: Redis holds a frontier that these settings can't work on; likewise.
        """
        try:
            await self.life.join(self._redis_address)
        except BaseException:  # it may be told to stop while it waits for Redis
            await self._leave()
            raise
        self.claiming.settler.start()
        in_background = {
            "session watch": self.life.session.watch(),
            "duties": self._duties.run(),
            "wake-ups": self.life.wakeups.listen(),
            "orders": self.life.orders.follow(),
            "preference": self.claiming.preference.follow(),
            "start lists": self.start_lists.read(),
        }
        self._tasks = [start(work, name=name, died=self.events.publish) for name, work in in_background.items()]
        logger.info(log_events.WORKER_STARTED, self.life.session.name, self.frontier)

    async def close(self) -> None:
        """Sends the settlements left, ends the session and disconnects. Does nothing if it isn't open."""
        if not self._tasks:
            return
        in_background, self._tasks = self._tasks, []
        await cancel(*in_background)
        self.life.announce_stop()
        await self.start_lists.close()
        await self.render_choice.close()
        await self.claiming.close()
        self.reports.close()
        await self._leave()

    async def _leave(self) -> None:
        await self.life.leave()
        await self.redis.aclose()

    async def is_done(self) -> bool:
        """Returns whether nothing is ready, executing or being offered, and no start list has entries.

        The lists are asked first: what has left them by then is in the frontier.
        """
        is_read = not await self.start_lists.has_entries()
        return is_read and await self.claiming.registry.is_done(self.claiming.queues)

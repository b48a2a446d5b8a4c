"""The crawl's downloader in a command: its settings, middlewares, handler, worker, in a process that joins no cluster.

What differs from a crawl is said here: sites come from files, nothing is claimed or delivered, and a host that doesn't
answer is blamed at once. Turns are the frontier's where there is one, else from memory. But for them there is no Redis;
what would ask one does as when Redis is away.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from redis import Redis
from redis.asyncio import Connection, ConnectionPool
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import ConnectionError as RedisConnectionError
from scrapy import Request, signals
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.extension import ExtensionManager
from scrapy.http import Response
from scrapy.statscollectors import DummyStatsCollector

from crawler.cli.frontier_turns import FrontierTurns
from crawler.cli.local_turns import LocalTurns
from crawler.spiders.base import FrontierSpider
from crawler.worker.config import WorkerConfig
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from scrapy.settings import Settings

    from crawler.base.models import Fetched, Frontier
    from crawler.sites import Site
    from crawler.worker.visits.visit import Visit


class LocalSpider(FrontierSpider):
    """Has the settings of the frontier's spiders. Commands read pages themselves, and say when one is rendered."""

    name = "local"
    frontier: Frontier = "content"
    custom_settings: dict[str, Any] | None = {  # noqa: RUF012 -- Scrapy's type
        "DOWNLOADER_MIDDLEWARES": {"crawler.middlewares.rendering.RenderMiddleware": None},
        "EGRESS_DOUBT_SECONDS": 0,
    }

    async def read(self, page: Fetched, visit: Visit, site: Site) -> NoReturn:
        """Is never called: nothing is scheduled."""
        raise NotImplementedError


class LocalDownloader:
    """Sends requests through the middlewares and handlers of a crawler, as Scrapy's engine does with `download_async`.

    Attributes:
        middleware: Scrapy's manager of the downloader middlewares.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.middleware = DownloaderMiddlewareManager.from_crawler(crawler)
        self._handlers = DownloadHandlers(crawler)

    async def download_async(self, request: Request) -> Response:
        """Returns the answer to a request, or to those that middlewares put in its place.

        Raises:
            Exception: What a middleware or the download raised.
        """
        while True:
            answer = await self.download_hop(request)
            if isinstance(answer, Response):
                return answer
            request = answer

    async def download_hop(self, request: Request) -> Response | Request:
        """Returns the answer to a request, or the request that a middleware puts in its place, such as a redirect."""
        answer = await self.middleware.download_async(self._handlers.download_request_async, request)
        if isinstance(answer, Response) and answer.request is None:
            answer.request = request
        return answer


class LocalCrawl(NamedTuple):
    """What sends requests as a crawl does.

    Attributes:
        crawler: Its engine is the downloader.
        worker: Stands alone.
    """

    crawler: Crawler
    worker: Worker
    downloader: LocalDownloader


@asynccontextmanager
async def local_crawl(settings: Settings, sites: Iterable[Site], delay_s: float) -> AsyncIterator[LocalCrawl]:
    """Gives a crawl of this process alone, and closes its connections.

    Args:
        settings: The project's.
        sites: Those whose pages are asked for.
        delay_s: Seconds between two starts of requests to a host, if its robots.txt asks for no more.
    """
    crawler = Crawler(LocalSpider, settings)
    crawler.stats = DummyStatsCollector(crawler)
    crawler.spider = LocalSpider.from_crawler(crawler)
    own = LocalTurns(delay_s)
    frontiers = await FrontierTurns.open(settings, own)
    try:
        worker = _worker(crawler, sites, frontiers or own)
        crawler.extensions = ExtensionManager(worker, crawler=crawler)
        downloader = LocalDownloader(crawler)
        crawler.engine = downloader  # type: ignore[assignment]  # all that is asked of an engine here
        try:
            yield LocalCrawl(crawler, worker, downloader)
        finally:
            await crawler.signals.send_catch_log_async(signals.engine_stopped)
    finally:
        if frontiers is not None:
            await frontiers.close()


def _worker(crawler: Crawler, sites: Iterable[Site], turns: LocalTurns | FrontierTurns) -> Worker:
    assert crawler.stats is not None  # set by `local_crawl`
    no_redis = AsyncRedis(connection_pool=ConnectionPool(connection_class=_NoConnection))
    worker = Worker(
        WorkerConfig.from_settings(crawler.settings),
        LocalSpider.frontier,
        redis=no_redis,
        session_redis=Redis(),  # connects when it is first used, which is never
        redis_address="",
        stats=crawler.stats,
        turn_keeper=turns,
        sites=sites,
    )
    for lease in worker.life.session.leases:
        lease.deadline = float("inf")  # nobody else could claim what this worker holds
        if isinstance(turns, FrontierTurns):
            lease.owner = turns.owners[lease.partition]
    return worker


class _NoConnection(Connection):
    """A connection to no Redis."""

    async def connect(self) -> None:
        """Fails at once."""
        raise RedisConnectionError("this command works without Redis")

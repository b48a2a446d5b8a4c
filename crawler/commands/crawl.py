"""`scrapy crawl`, as Scrapy has it; our spiders are started only with settings that fit and a Redis that answers."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.spiderloader import get_spider_loader

from crawler import logs
from crawler.commands.base import INTERRUPTED, complain
from crawler.errors import HeadroomError
from crawler.redaction import Redaction, redacted_address
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

logger = logging.getLogger(__name__)


class Command(ScrapyCrawl):
    """Runs a spider; one of ours that can't start ends with one line on stderr and exit status 1."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Reads the options, then looks whether the spider can start: nothing is running yet, not even the log.

        Raises:
            SystemExit: It can't.
        """
        super().process_options(args, opts)
        logs.install(self.settings or {})
        try:
            if settings := self._frontier_settings(args):
                _check_settings(settings)
                _wait_for_redis(settings)
        except HeadroomError as error:
            complain(error, self.settings or {})
            sys.exit(1)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Runs the spider. An error of ours that only shows as its parts are built is one line, too."""
        if len(args) != 1:
            super().run(args, opts)  # it says how the command is used
            return
        assert self.crawler_process is not None  # made before `run`, as requires_crawler_process says
        crawl: Any = self.crawler_process.crawl(self._create_crawler(args[0]), **opts.spargs)
        try:
            self.crawler_process.start()
        except HeadroomError as error:
            complain(error, self.settings or {})
            self.exitcode = 1
        if self.crawler_process.bootstrap_failed:
            self.exitcode = 1
        if isinstance(crawl, asyncio.Task) and crawl.done() and not crawl.cancelled():
            failure = crawl.exception()
            ours = _ours(failure)
            if ours is not None:
                complain(ours, self.settings or {})
            elif failure is not None:
                logger.error("the crawl failed", exc_info=failure)

    def _frontier_settings(self, args: list[str]) -> Mapping[str, Any] | None:
        """Returns the settings that the spider will run with; None for a spider that isn't ours.

        Raises:
            HeadroomError: There is no such spider.
        """
        from crawler.spiders.base import FrontierSpider

        assert self.settings is not None  # set before a command's options are read
        loader = get_spider_loader(self.settings)
        if len(args) != 1:
            return None
        if args[0] not in loader.list():
            raise HeadroomError(f"no spider {args[0]!r}; there are: {', '.join(sorted(loader.list()))}")
        spider = loader.load(args[0])
        if not issubclass(spider, FrontierSpider):
            return None
        settings = self.settings.copy()
        spider.update_settings(settings)
        return settings


def _check_settings(settings: Mapping[str, Any]) -> None:
    """Reads what the components will read.

    Raises:
        ConfigError: One of the settings has a value that it can't have.
    """
    from crawler import config
    from crawler.pipelines.batch import Hooks
    from crawler.pipelines.files import FilesSink
    from crawler.pipelines.kafka import KafkaSink
    from crawler.pipelines.mongo import MongoSink
    from crawler.pipelines.sink import SINKS
    from crawler.servers.redis import redis_sync
    from crawler.worker.config import WorkerConfig

    WorkerConfig.from_settings(settings)
    redis_sync(settings).close()
    chosen = config.words(settings, "ITEM_SINKS", SINKS)
    for sink in (FilesSink, KafkaSink, MongoSink):
        if sink.name in chosen:
            sink.from_settings(settings, Hooks())


def _wait_for_redis(settings: Mapping[str, Any]) -> None:
    """Waits until Redis answers, for CONNECT_SECONDS.

    Raises:
        UnavailableError: It doesn't.
        FrontierError: It holds something that these settings can't work on.
    """
    # A loop of its own: Scrapy is yet to install the one that the crawl runs on.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(_look_for_redis(settings))


async def _look_for_redis(settings: Mapping[str, Any]) -> None:
    from crawler.frontier.preflight import wait_until_ready
    from crawler.servers.redis import redis_async
    from crawler.worker.config import WorkerConfig

    def say(text: str) -> None:
        print(one_line(redact(text)), file=sys.stderr, flush=True)

    redact = Redaction.of(settings, os.environ)

    config = WorkerConfig.from_settings(settings)
    where = redacted_address(str(settings["REDIS_URL"]))
    redis = redis_async(settings)
    try:
        await wait_until_ready(
            redis, config.frontier.keys, config.frontier.partitions, where=where, seconds=config.connect_s, say=say
        )
    finally:
        await redis.aclose()


def _ours(failure: BaseException | None) -> HeadroomError | None:
    """Returns the error of ours behind a failure: Scrapy may fail again as it clears away what hadn't started."""
    while failure is not None and not isinstance(failure, HeadroomError):
        failure = failure.__context__
    return failure

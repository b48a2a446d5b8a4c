"""`scrapy crawl`, as in Scrapy. A spider of the frontier starts only with valid settings and a Redis that answers.

Scrapy finds the command by an entry point, in every project. One without the add-on gets Scrapy's command unchanged.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.addons import AddonManager
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.log import get_scrapy_root_handler, install_scrapy_root_handler
from scrapy.utils.project import inside_project

from crawler import addon, config, logs
from crawler.cli.command import INTERRUPTED
from crawler.cli.output import print_error
from crawler.config.check import misspelt_variables, redaction_of
from crawler.errors import ConfigError, HeadroomError, existing, shown
from crawler.scrapy_private import create_crawler
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)


class Command(ScrapyCrawl):
    """Runs a spider. A spider of the frontier that can't start ends with one line on stderr and exit status 1."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Reads the options, then checks that the spider can start. Nothing runs yet, not even the log.

        Raises:
            SystemExit: The spider can't start.
        """
        super().process_options(args, opts)
        if not inside_project():
            raise UsageError("scrapy crawl runs a spider of a project, and here is none", print_help=False)
        try:
            if settings := self._frontier_settings(args):
                logs.install(settings)
                for line in misspelt_variables():
                    print("warning:", line, file=sys.stderr)
                _check_settings(settings)
                _wait_for_servers(settings)
        except HeadroomError as error:
            self._tell(error)
            sys.exit(1)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Runs the spider. A HeadroomError that is raised only while the spider's parts are built is one line, too."""
        if len(args) != 1 or not addon.is_switched_on(self.settings or {}):
            super().run(args, opts)
            return
        assert self.crawler_process is not None  # Scrapy has made it, since requires_crawler_process is True
        crawler = create_crawler(self, args[0])
        crawl: Any = self.crawler_process.crawl(crawler, **opts.spargs)
        try:
            self.crawler_process.start()
        except HeadroomError as error:
            self._tell(error)
            self.exitcode = 1
        if self.crawler_process.bootstrap_failed or _has_died(crawler):
            self.exitcode = 1
        if isinstance(crawl, asyncio.Task) and crawl.done() and not crawl.cancelled():
            failure = crawl.exception()
            headroom_error = _headroom_error(failure)
            if headroom_error is not None:
                self._tell(headroom_error)
            elif failure is not None:
                logger.error("the crawl failed", exc_info=failure)

    def _tell(self, error: HeadroomError) -> None:
        """Says why a start failed: on stderr, and in the log where that is a file.

        Whoever started a worker with a log file, such as scrapyd, looks for the reason there.
        """
        assert self.settings is not None  # Scrapy has set it before it reads a command's options
        print_error(error, self.settings)
        if not self.settings["LOG_FILE"] or not self.settings.getbool("LOG_ENABLED"):
            return
        with contextlib.suppress(OSError):  # the log itself may be what can't be written
            if get_scrapy_root_handler() is None:  # Scrapy makes it only when it comes to run the spider
                logs.install(self.settings)
                install_scrapy_root_handler(self.settings)
            logger.error("the spider couldn't start", exc_info=error)

    def _frontier_settings(self, args: list[str]) -> BaseSettings | None:
        """Returns the settings that the spider will run with; None for a spider that doesn't use the frontier.

        Raises:
            HeadroomError: There is no such spider.
        """
        assert self.settings is not None  # set before a command's options are read
        if len(args) != 1 or not addon.is_switched_on(self.settings):
            return None
        from crawler.spiders.base import FrontierSpider

        settings = self.settings.copy()
        AddonManager.load_pre_crawler_settings(settings)  # as Scrapy does when it comes to run the spider
        loader = get_spider_loader(settings)
        if args[0] not in loader.list():
            raise HeadroomError(f"no spider {shown(args[0])}; {existing(args[0], loader.list(), 'there are')}")
        spider = loader.load(args[0])
        if not issubclass(spider, FrontierSpider):
            return None
        spider.update_settings(settings)
        return settings


def _check_settings(settings: BaseSettings) -> None:
    """Reads the settings as the worker, the download handler and the sinks will read them, against one another, too.

    Scrapy only logs it when a download handler can't be built, and would then fail every page.

    Raises:
        ConfigError: A setting has a value that it can't have.
    """
    from crawler.download.answer_limits import AnswerLimits
    from crawler.download.curl_options import CurlOptions
    from crawler.pipelines.batch import BatchConfig
    from crawler.pipelines.sink import chosen_sinks
    from crawler.servers.redis import redis_sync
    from crawler.worker.config import WorkerConfig

    WorkerConfig.from_settings(settings)
    redis_sync(settings).close()
    CurlOptions.from_settings(settings)
    AnswerLimits.from_settings(settings)
    if not closest_scrapy_cfg():
        _refuse_relative_folders(settings)
    if chosen_sinks(settings):
        BatchConfig.from_settings(settings)


def _refuse_relative_folders(settings: BaseSettings) -> None:
    """Refuses relative folders for items and media where the process runs in no project's folder.

    A daemon such as scrapyd starts its jobs in a folder of its own: what they deliver would lie there by accident.

    Raises:
        ConfigError: ITEMS_DIR or FILES_STORE is relative.
    """
    has_files = "files" in config.ITEM_SINKS.of(settings)
    for setting in (*[config.ITEMS_DIR] * has_files, config.FILES_STORE):
        folder = setting.of(settings)
        if folder and "://" not in folder and not Path(folder).is_absolute():
            raise ConfigError(
                setting.name, folder, f"an absolute path, since no scrapy.cfg is in {Path.cwd()} or above"
            )


def _wait_for_servers(settings: BaseSettings) -> None:
    """Waits until Redis answers, for at most CONNECT_SECONDS, and asks the sinks' servers whether they let us in.

    Raises:
        UnavailableError: Redis doesn't answer.
        AccessError: A server refuses this client.
        FrontierError: Redis holds something that these settings can't work on.
    """
    # In a loop of its own, since Scrapy has not yet installed the one that the crawl runs on.
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(_connect_to_redis(settings))
        runner.run(_check_sinks(settings))


async def _connect_to_redis(settings: Mapping[str, Any]) -> None:
    from crawler.frontier.preflight import wait_until_ready
    from crawler.servers.redis import redis_address, redis_async
    from crawler.worker.config import WorkerConfig

    redact = redaction_of(settings)

    def report(text: str) -> None:
        print(one_line(redact(text)), file=sys.stderr, flush=True)

    config = WorkerConfig.from_settings(settings)
    where = redis_address(settings)
    redis = redis_async(settings)
    try:
        await wait_until_ready(
            redis, config.frontier.keys, config.frontier.partitions, where=where, seconds=config.connect_s, say=report
        )
    finally:
        await redis.aclose()


async def _check_sinks(settings: BaseSettings) -> None:
    """Asks the servers of the chosen sinks whether they let this client in.

    Raises:
        AccessError: One doesn't.
    """
    from crawler.pipelines.sink import chosen_sinks

    sinks = chosen_sinks(settings).values()
    try:
        await asyncio.gather(*(sink.check_access() for sink in sinks))
    finally:
        await asyncio.gather(*(sink.close() for sink in sinks))


def _has_died(crawler: Crawler) -> bool:
    """Returns whether a worker ended because one of its background tasks died; its log says why."""
    from crawler.worker.worker import Worker

    worker = crawler.get_extension(Worker) if crawler.extensions is not None else None
    return worker is not None and worker.death is not None


def _headroom_error(failure: BaseException | None) -> HeadroomError | None:
    """Returns the HeadroomError that a failure began with: Scrapy may fail again while it stops what hadn't started."""
    while failure is not None and not isinstance(failure, HeadroomError):
        failure = failure.__context__
    return failure

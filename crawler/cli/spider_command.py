"""A command that runs a spider: one of the frontier's that can't start ends with one line and exit status 1."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from scrapy.commands import BaseRunSpiderCommand
from scrapy.utils.log import get_scrapy_root_handler, install_scrapy_root_handler

from crawler.base import log_events
from crawler.base.errors import HeadroomError
from crawler.base.scrapy_private import create_crawler
from crawler.cli.output import print_error
from crawler.config import logs

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from crawler.base.log_events import EventLogger
    from crawler.base.tasks import TaskDied

logger: EventLogger = logging.getLogger(__name__)


class SpiderCommand(BaseRunSpiderCommand):
    """What `scrapy crawl` and `scrapy runspider` have in common for spiders of the frontier."""

    def run_to_end(self, spider: str | type[Spider], opts: argparse.Namespace) -> None:
        """Runs a spider. A HeadroomError that is raised only while the spider's parts are built is one line, too."""
        assert self.crawler_process is not None  # Scrapy has made it, since requires_crawler_process is True
        crawler = create_crawler(self, spider)
        crawl: Any = self.crawler_process.crawl(crawler, **opts.spargs)
        try:
            self.crawler_process.start()
        except HeadroomError as error:
            self.tell(error)
            self.exitcode = 1
        if self.crawler_process.bootstrap_failed:
            self.exitcode = 1
        elif (death := _death_of(crawler)) is not None:
            self.exitcode = 1
            if isinstance(death.error, HeadroomError):
                assert self.settings is not None  # Scrapy has set it before it reads a command's options
                print_error(death.error, self.settings)
        if isinstance(crawl, asyncio.Task) and crawl.done() and not crawl.cancelled():
            failure = crawl.exception()
            headroom_error = _headroom_error(failure)
            if headroom_error is not None:
                self.tell(headroom_error)
            elif failure is not None:
                logger.error(log_events.CRAWL_FAILED, exc_info=failure)

    def tell(self, error: HeadroomError) -> None:
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
            logger.error(log_events.START_FAILED, exc_info=error)


def _death_of(crawler: Crawler) -> TaskDied | None:
    """Returns why a worker has ended by itself, which its log says, too; None: it hasn't."""
    from crawler.worker.worker import Worker

    worker = crawler.get_extension(Worker) if crawler.extensions is not None else None
    return None if worker is None else worker.life.death


def _headroom_error(failure: BaseException | None) -> HeadroomError | None:
    """Returns the HeadroomError that a failure began with: Scrapy may fail again while it stops what hadn't started."""
    while failure is not None and not isinstance(failure, HeadroomError):
        failure = failure.__context__
    return failure

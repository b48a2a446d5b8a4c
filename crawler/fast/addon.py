"""The Scrapy add-on that puts the parts of this package in the place of Scrapy's.

By public settings, where the project's own settings don't say otherwise: STATS_CLASS (stats.py) and LOG_FORMATTER
(logformatter.py). Components that are switched off are taken out of their settings (unused.py).

By other means, since Scrapy has no setting for them: the crawler makes a `LeanEngine` (engine.py) and has `LeanSignals`
(signals.py).
"""

from __future__ import annotations

import gc
import logging
from functools import partial
from typing import TYPE_CHECKING, Self

import scrapy
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import is_asyncio_reactor_installed, is_reactor_installed
from twisted.internet.asyncioreactor import AsyncioSelectorReactor

from crawler.base import scrapy_private
from crawler.fast.engine import LeanEngine
from crawler.fast.logformatter import LeanLogFormatter
from crawler.fast.signals import LeanSignals
from crawler.fast.stats import LeanStats
from crawler.fast.unused import leave_out_unused

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

# How the versions of Scrapy begin on which `make matrix` finds both engines equal (tests/fast). Before 2.18 Scrapy's
# own waits 0.1 s before it calls a callback, and again before it handles an error.
TESTED_VERSIONS = ("2.18.", "2.19.")
GC_YOUNG_OBJECTS = 20_000  # allocations between two runs of the garbage collector; Python's 700 make 30 runs a page

logger = logging.getLogger(__name__)


class FastEngine:
    """The add-on, on unless FAST_ENGINE is false, there is no asyncio, or Scrapy is none of `TESTED_VERSIONS`."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Returns the add-on for a crawler."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Replaces Scrapy's parts.

        Raises:
            NotConfigured: The add-on is off; all parts stay Scrapy's own.
            ValueError: FAST_ENGINE isn't a boolean.
        """
        try:
            is_on = settings.getbool("FAST_ENGINE", default=True)
        except ValueError as error:
            raise ValueError(f"FAST_ENGINE: {error}") from None
        if not is_on:
            raise NotConfigured
        if not _runs_on_asyncio(settings):
            logger.info("FAST_ENGINE: it needs asyncio, which TWISTED_REACTOR isn't; Scrapy's own engine runs")
            raise NotConfigured
        if not scrapy.__version__.startswith(TESTED_VERSIONS):
            logger.info(  # no warning: all works, only in more time
                "FAST_ENGINE: not tested with Scrapy %s, only with %sx; Scrapy's own engine runs",
                scrapy.__version__,
                "x, ".join(TESTED_VERSIONS),
            )
            raise NotConfigured
        if missing := scrapy_private.missing_methods():
            logger.warning("FAST_ENGINE: Scrapy has no %s any more; Scrapy's own engine runs", ", ".join(missing))
            raise NotConfigured
        settings.set("STATS_CLASS", LeanStats, "addon")
        settings.set("LOG_FORMATTER", LeanLogFormatter, "addon")
        leave_out_unused(settings)
        crawler = self._crawler
        crawler.signals = LeanSignals(crawler.signals.sender)
        crawler.signals.connect(_tune_garbage_collector, signal=signals.spider_opened)
        scrapy_private.replace_engine(crawler, partial(_create_engine, crawler))


def _runs_on_asyncio(settings: BaseSettings) -> bool:
    """Returns whether a crawl will have an asyncio loop, by its settings: its reactor may not be installed yet."""
    if not settings.getbool("TWISTED_REACTOR_ENABLED", default=True):
        return True
    if reactor := settings["TWISTED_REACTOR"]:
        return issubclass(load_object(reactor), AsyncioSelectorReactor)
    return is_reactor_installed() and is_asyncio_reactor_installed()


def _create_engine(crawler: Crawler) -> LeanEngine:
    return LeanEngine(crawler, lambda _spider: crawler.stop_async())


def _tune_garbage_collector() -> None:
    """Makes the collector run less often, and leave out what was loaded by now and lives as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_YOUNG_OBJECTS, *gc.get_threshold()[1:])

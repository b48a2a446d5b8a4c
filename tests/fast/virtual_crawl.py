"""Crawls in the test's own process, on either engine, in virtual time: waits take none, and always end in one order.

The event loop is asyncio's. Where it would sleep until its next timer, its clock is put forward to that timer instead,
so that a crawl of a virtual hour takes as long as its code. What both engines do at the same virtual moment may come in
another order, since they take different numbers of the loop's turns for it; between two moments nothing can. The pages
are answered by a download handler of the test's.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import sys
from types import SimpleNamespace

import pytest
from scrapy import Request, Spider, signals
from scrapy.core import downloader as scrapys_downloader
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils import asyncio as scrapys_asyncio

from crawler.fast import addon

ENGINES = pytest.mark.parametrize("fast", [False, True], ids=["scrapys engine", "fast engine"])
# Scrapy's middleware for error pages processes input, too: without it, the fast engine calls callbacks by itself.
SHORT_WAY = {"SPIDER_MIDDLEWARES": {"scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None}}
WAYS = pytest.mark.parametrize("way", [{}, SHORT_WAY], ids=["scrapys way", "short way"])
TICKS_A_SECOND = 2**20
MAX_TURNS = 200_000  # of the event loop; a crawl takes a few thousand
CRAWL_SECONDS = 3_600.0  # of virtual time; no crawl of a test takes a tenth of it
SETTINGS = {
    "ADDONS": {"crawler.fast.addon.FastEngine": 1000},
    "TWISTED_REACTOR_ENABLED": False,
    "LOG_LEVEL": "CRITICAL",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}


class StalledError(Exception):
    """The crawl waits for something that never comes."""


class JumpingSelector(selectors.DefaultSelector):
    """Never sleeps: puts the clock forward instead, in whole ticks, so that sums of times are exact."""

    def __init__(self):
        super().__init__()
        self.now = 0.0
        self._turns = 0  # of the loop

    def select(self, timeout=None):
        events = super().select(0)
        if not events and timeout is None:
            raise StalledError("nothing is left to wait for")
        if not events:
            self.now = math.ceil((self.now + timeout) * TICKS_A_SECOND) / TICKS_A_SECOND
        self._turns += 1
        if self._turns > MAX_TURNS:
            raise StalledError("the crawl runs in circles")
        if self.now > CRAWL_SECONDS:
            raise StalledError(f"the crawl goes on after {CRAWL_SECONDS:.0f} s")
        return events


class VirtualLoop(asyncio.SelectorEventLoop):
    """asyncio's event loop with a clock that jumps."""

    def __init__(self):
        self._clock = JumpingSelector()
        super().__init__(self._clock)
        self._clock_resolution = 1e-9

    def time(self):
        return self._clock.now


def run(coroutine_function, *arguments):
    """Runs a coroutine in virtual time; returns its result.

    Raises:
        StalledError: It waits for ever.
    """

    def now():
        return asyncio.get_running_loop().time()

    with pytest.MonkeyPatch.context() as patch, asyncio.Runner(loop_factory=VirtualLoop) as runner:
        patch.delitem(sys.modules, "twisted.internet.reactor", raising=False)  # a test before may have installed one
        patch.setattr(scrapys_downloader, "monotonic", now)
        patch.setattr(scrapys_asyncio, "time", SimpleNamespace(monotonic=now))
        patch.setattr(addon, "_tune_garbage_collector", lambda: None)  # it would tune the tests' own
        return runner.run(coroutine_function(*arguments))


class PageSpider(Spider):
    """Asks for one page; every page answers after a while."""

    name = "page"

    async def start(self):
        yield Request("http://a.test/")

    async def answer(self, request):
        await asyncio.sleep(0.1)
        return Response(request.url)

    def ignore(self, response):
        pass


class Answers:
    """A download handler that asks the crawl's spider: `spider.answer(request)` returns a response, or raises."""

    lazy = False

    def __init__(self, crawler):
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    async def download_request(self, request):
        return await self._crawler.spider.answer(request)

    async def close(self):
        pass


def crawl(spider, settings=None, *, fast, prepare=None):
    """Crawls to the end; returns the crawler.

    Args:
        spider: A class.
        settings: Beyond `SETTINGS`.
        fast: Whether the fast engine crawls.
        prepare: Called with the crawler before it starts.
    """
    answers = {"DOWNLOAD_HANDLERS": {"http": Answers, "https": None, "file": None, "s3": None, "data": None}}
    crawler = Crawler(spider, SETTINGS | answers | (settings or {}) | {"FAST_ENGINE": fast})
    crawler.items = []

    def keep(item):
        crawler.items.append(item)

    crawler.signals.connect(keep, signal=signals.item_scraped, weak=False)
    if prepare:
        prepare(crawler)
    run(crawler.crawl_async)
    return crawler

"""A Scrapy add-on: one asyncio task per request, from the download to its items.

Scrapy's engine takes a request through some ten tasks, futures and Deferreds, and looks for receivers of a dozen
signals; that costs more than to fetch and read a page. Here one task does the same steps, in the same order. There is
no public way to an engine of one's own, so the add-on replaces, privately:

- `Crawler._create_engine`, which makes Scrapy's engine: makes `LeanEngine` instead.
- `Crawler.signals`: a manager that asks first whether anybody listens (signals.py).

And in the engine: `_start_scheduled_request` and `download_async` (the task), and the way through Scrapy's scraper
while all spider middlewares only filter output; with any that looks at input or exceptions, Scrapy's own way is taken.

FAST_ENGINE=False leaves Scrapy's engine in place, and so does a Scrapy that this was not tested with.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from functools import partial
from inspect import isasyncgenfunction
from typing import TYPE_CHECKING, Any, Self

import scrapy
from scrapy import Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scraper import Scraper
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.spidermiddlewares.metacopy import MetaCopyDetectionMiddleware
from scrapy.spidermiddlewares.referer import RefererMiddleware
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.spidermiddlewares.urllength import UrlLengthMiddleware
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.log import logformatter_adapter
from twisted.python.failure import Failure

from crawler import config
from crawler.fast.downloader import LeanDownloader
from crawler.fast.signals import LeanSignals

if TYPE_CHECKING:
    from scrapy.core.spidermw import SpiderMiddlewareManager
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

TESTED = ("2.19.",)  # what Scrapy's version begins with, of those that tests/fast holds both engines against
REQUESTS_ONLY = (
    DepthMiddleware,
    MetaCopyDetectionMiddleware,
    RefererMiddleware,
    StartSpiderMiddleware,
    UrlLengthMiddleware,
)
GC_YOUNG_OBJECTS = 20_000  # allocations between two looks for cycles; Python's 700 looks 30 times a page

logger = logging.getLogger(__name__)
scrapy_logger = logging.getLogger("scrapy.core.engine")  # where people look for these lines


class FastEngine:
    """The add-on."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the add-on."""
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Puts the engine in its place.

        Raises:
            NotConfigured: FAST_ENGINE is off, or Scrapy's version is another one.
            ConfigError: FAST_ENGINE is neither on nor off.
        """
        if not config.flag(settings, "FAST_ENGINE"):
            raise NotConfigured
        if not scrapy.__version__.startswith(TESTED):
            logger.warning(
                "FAST_ENGINE: not tested with Scrapy %s, only with %sx; Scrapy's own engine runs",
                scrapy.__version__,
                "x, ".join(TESTED),
            )
            raise NotConfigured
        crawler = self.crawler
        crawler.signals = LeanSignals(crawler.signals.sender)
        crawler._create_engine = partial(_engine, crawler)  # type: ignore[method-assign]  # noqa: SLF001 -- see above
        crawler.signals.connect(_settle_memory, signal=signals.spider_opened)


def _engine(crawler: Crawler) -> ExecutionEngine:
    """Returns the engine; Scrapy's where there is no asyncio to run tasks on."""
    kind = LeanEngine if is_asyncio_available() else ExecutionEngine
    return kind(crawler, lambda _spider: crawler.stop_async())


def _settle_memory() -> None:
    """Spares the collector what was loaded by now: it will live as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_YOUNG_OBJECTS, *gc.get_threshold()[1:])


class LeanEngine(ExecutionEngine):
    """Scrapy's engine with one task per request."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tasks: set[asyncio.Task[None]] = set()  # asyncio itself holds them weakly
        methods = self.scraper.spidermw.methods
        self._plain = type(self.scraper) is Scraper and not (
            methods["process_spider_input"] or any(methods["process_spider_exception"])
        )
        self._hooks, filters = _split(self.scraper.spidermw)
        old = self.scraper.spidermw._mw_methods_requiring_spider  # noqa: SLF001
        self._filters = [(method, method in old) for method in filters]

    async def download_async(self, request: Request) -> Response:
        """Returns a response that only went through the downloader middlewares."""
        if self.spider is None:
            raise RuntimeError(f"No open spider to crawl: {request}")
        while True:
            assert self._slot is not None
            self._slot.add_request(request)
            try:
                result = await self._fetch(request)
            finally:
                self._slot.remove_request(request)
            if isinstance(result, Response):
                return result
            request = result

    def _start_scheduled_request(self) -> bool:
        assert self._slot is not None
        request = self._slot.scheduler.next_request()
        if request is None:
            self.signals.send_catch_log(signals.scheduler_empty)
            return False
        self._slot.add_request(request)
        self.downloader.active.add(request)  # at once: it counts for needs_backout
        task = asyncio.create_task(self._process(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _process(self, request: Request) -> None:
        """Takes a request from the scheduler to its end."""
        assert self._slot is not None
        slot = self._slot
        result: Response | Request | Failure
        try:
            try:
                result = await self._fetch(request)
            except Exception:  # noqa: BLE001 -- the errback's to know
                result = _failure()
            if isinstance(result, Request):  # a middleware's, such as a redirect
                self.crawl(result)
            else:
                await self._scrape(result, request)
        except Exception:
            scrapy_logger.exception("Error while enqueuing scrape", extra={"spider": self.spider})
        finally:
            slot.remove_request(request)
            slot.nextcall.schedule()

    async def _fetch(self, request: Request) -> Response | Request:
        """Downloads a request; what comes is logged and told."""
        assert self._slot is not None
        downloader = self.downloader
        try:
            if isinstance(downloader, LeanDownloader):
                result = await downloader.fetch_async(request)
            elif self._downloader_fetch_needs_spider:
                result = await maybe_deferred_to_future(downloader.fetch(request, self.spider))
            else:
                result = await maybe_deferred_to_future(downloader.fetch(request))
        finally:
            self._slot.nextcall.schedule()
        if isinstance(result, Response):
            if result.request is None:
                result.request = request
            self._log_page(result)
            self.signals.send_catch_log(
                signal=signals.response_received, response=result, request=result.request, spider=self.spider
            )
        elif not isinstance(result, Request):
            raise TypeError(f"Incorrect type: expected Response or Request, got {type(result)}: {result!r}")
        return result

    def _log_page(self, response: Response) -> None:
        assert response.request is not None
        assert self.spider is not None
        line = self.logformatter.crawled(response.request, response, self.spider)
        if line is not None:
            scrapy_logger.log(*logformatter_adapter(line), extra={"spider": self.spider})

    async def _scrape(self, result: Response | Failure, request: Request) -> None:
        """Reads what came and delivers its items; the scraper's books are kept as Scrapy keeps them."""
        scraper = self.scraper
        slot = scraper.slot
        assert slot is not None
        size = max(len(result.body), slot.MIN_RESPONSE_SIZE) if isinstance(result, Response) else slot.MIN_RESPONSE_SIZE
        slot.active.add(request)
        slot.active_size += size
        try:
            if self._plain and isinstance(result, Response):
                await self._read(result, request)
            else:
                await scraper._scrape(result, request)  # noqa: SLF001 -- with middlewares of every kind
        finally:
            slot.active.remove(request)
            slot.active_size -= size
            scraper._check_if_closing()  # noqa: SLF001

    async def _read(self, response: Response, request: Request) -> None:
        """Calls back, through middlewares that only filter output."""
        try:
            output = await self._called_back(response, request)
            if self._hooks:
                output = self._hooked(response, output)
            for method, is_old in self._filters:
                extra = {"spider": self.spider} if is_old else {}
                output = method(response=response, result=output, **extra)
        except Exception:  # noqa: BLE001 -- the spider's to hear of
            self.scraper.handle_spider_error(_failure(), request, response)
            return
        item = None  # a page's only one mostly: it needs no tasks of its own
        try:
            async for one in output:
                if isinstance(one, Request):
                    self.crawl(one)
                elif item is None:
                    item = one
                elif one is not None:
                    several, item = _chained(item, one, output), None
                    await self.scraper.handle_spider_output_async(several, request, response)
        except Exception:  # noqa: BLE001 -- likewise
            self.scraper.handle_spider_error(_failure(), request, response)
        if item is not None:
            await self.scraper.start_itemproc_async(item, response=response)

    async def _hooked(self, response: Response, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Does what Scrapy's own middlewares do next to the callback: something with requests, nothing with items."""
        for middleware in self._hooks:
            if isinstance(middleware, DepthMiddleware):
                middleware._init_depth(response)  # noqa: SLF001 -- callbacks read it
        async for one in output:
            passed = one
            if isinstance(one, Request):
                for middleware in self._hooks:
                    passed = passed and middleware.get_processed_request(passed, response)
            if passed is not None:
                yield passed

    async def _called_back(self, response: Response, request: Request) -> AsyncIterator[Any]:
        spider = self.spider
        assert spider is not None
        assert response.request is not None
        callback: Any = response.request.callback
        if callback is None and type(spider)._parse is Spider._parse:  # noqa: SLF001 -- which only calls `parse`
            callback = spider.parse
        if isasyncgenfunction(callback):
            output: AsyncIterator[Any] = callback(response, **response.request.cb_kwargs)
            return output
        some = await self.scraper.call_spider_async(response, request)
        return some if isinstance(some, AsyncIterator) else as_async_generator(some)


def _split(manager: SpiderMiddlewareManager) -> tuple[list[BaseSpiderMiddleware], list[Any]]:
    """Returns the middlewares of Scrapy's own next to the callback, and the others' ways to filter output."""
    filters = list(manager.methods["process_spider_output"])  # from the callback outwards
    hooks: list[BaseSpiderMiddleware] = []
    for middleware in reversed(manager.middlewares):
        if type(middleware) not in REQUESTS_ONLY:
            break
        hooks.append(middleware)
    return hooks, [method for method in filters[len(hooks) :] if method is not None]


async def _chained(first: Any, second: Any, rest: AsyncIterator[Any]) -> AsyncIterator[Any]:
    yield first
    yield second
    async for one in rest:
        yield one


def _failure() -> Failure:
    """Returns the exception that is being handled, as Scrapy's errbacks and signals get it."""
    return Failure()  # type: ignore[no-untyped-call]  # Twisted's types end here

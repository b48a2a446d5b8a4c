"""Scrapy's engine with one asyncio task per answer, from its callback to its items.

Scrapy's own engine takes an answer through some ten tasks, futures and Deferreds. Here a single task does the same
steps in the same order.

What is replaced, privately, is what follows a download (`_start_scheduled_request`) and the way of a response through
Scrapy's scraper. The latter only while every spider middleware just filters output: as soon as one processes input or
exceptions, Scrapy's own way is taken.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from inspect import isasyncgenfunction
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scraper import Scraper
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.depth import DepthMiddleware
from scrapy.spidermiddlewares.referer import RefererMiddleware
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.spidermiddlewares.urllength import UrlLengthMiddleware
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.log import logformatter_adapter
from twisted.python.failure import Failure

from crawler.base import scrapy_private
from crawler.fast.cancellation import is_being_cancelled
from crawler.fast.outputs import process_outputs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.core.spidermw import SpiderMiddlewareManager
    from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

# Scrapy's spider middlewares that change or drop requests and pass items on untouched.
REQUEST_MIDDLEWARES = (
    DepthMiddleware,
    RefererMiddleware,
    StartSpiderMiddleware,
    UrlLengthMiddleware,
    *scrapy_private.METACOPY_MIDDLEWARES,
)

# Scrapy's names, so that its lines are found where they were.
scrapy_logger = logging.getLogger("scrapy.core.engine")
scraper_logger = logging.getLogger("scrapy.core.scraper")


class LeanEngine(ExecutionEngine):
    """Scrapy's engine with one task per answer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tasks: set[asyncio.Task[None]] = set()  # asyncio keeps only weak references to tasks
        scraper, manager = self.scraper, self.scraper.spidermw
        self._only_filters_output = type(scraper) is Scraper and not (
            manager.methods["process_spider_input"] or any(manager.methods["process_spider_exception"])
        )
        if type(scraper) is Scraper:  # for errbacks, too, and for callbacks that Scrapy itself calls
            scraper.handle_spider_output_async = self._process_outputs  # type: ignore[method-assign]
            scraper.start_itemproc_async = self._process_item  # type: ignore[method-assign]  # also those of `start`
        self._request_middlewares, filters = _split(manager)
        with_spider = scrapy_private.methods_with_spider(manager)
        self._filters = [(method, method in with_spider) for method in filters]

    async def download_async(self, request: Request) -> Response:
        """Returns the response to a request that bypasses the scheduler and the spider middlewares."""
        return await super().download_async(self._apart(request))

    def _start_scheduled_request(self) -> bool:
        assert self._slot is not None
        request = self._slot.scheduler.next_request()
        if request is None:
            self.signals.send_catch_log(signals.scheduler_empty)
            return False
        request = self._apart(request)
        self._download(request).addBoth(self._downloaded, request)
        return True

    def _apart(self, request: Request) -> Request:
        """Returns a request, or a copy of one that is under way already.

        Scrapy keeps the requests under way in sets, and loses the answer to one that is in them twice.
        """
        assert self._slot is not None
        return request.copy() if request in self._slot.inprogress else request

    def _downloaded(self, result: Response | Request | Failure, request: Request) -> None:
        if isinstance(result, Request):  # returned by a downloader middleware, for example a redirect
            self._schedule_output(result)
            self._end(request)
        else:
            task = asyncio.create_task(self._process(result, request))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _process(self, result: Response | Failure, request: Request) -> None:
        """Takes a scheduled request from its download to its end."""
        try:
            await self._scrape(result, request)
        except Exception:
            scrapy_logger.exception("Error while enqueuing scrape", extra={"spider": self.spider})
        finally:
            self._end(request)

    def _end(self, request: Request) -> None:
        assert self._slot is not None
        self._slot.remove_request(request)
        self._slot.nextcall.schedule()

    async def _scrape(self, result: Response | Failure, request: Request) -> None:
        """Runs the callback or errback and the item pipelines, counted in the scraper's slot as Scrapy counts them."""
        scraper = self.scraper
        slot = scraper.slot
        assert slot is not None
        size = max(len(result.body), slot.MIN_RESPONSE_SIZE) if isinstance(result, Response) else slot.MIN_RESPONSE_SIZE
        slot.active.add(request)
        slot.active_size += size
        try:
            await _engine_has_looked()
            if self._only_filters_output and isinstance(result, Response):
                await self._scrape_response(result, request)
            else:
                await scrapy_private.scrape(scraper, result, request)
        except asyncio.CancelledError as error:
            if is_being_cancelled():
                raise
            self._handle_cancelled_error(error, result, request)
        finally:
            slot.active.remove(request)
            slot.active_size -= size
            if slot.closing is not None and not slot.closing.called:
                scrapy_private.end_closing(scraper)

    def _handle_cancelled_error(
        self, error: asyncio.CancelledError, result: Response | Failure, request: Request
    ) -> None:
        """Treats a CancelledError as Scrapy treats exceptions, of which it isn't one: Scrapy would wait for ever."""
        if isinstance(result, Failure) and error is result.value:  # of the download, and without an errback
            assert self.spider is not None
            line = self.logformatter.download_error(result, request, self.spider)
            scraper_logger.log(*logformatter_adapter(line), extra={"spider": self.spider}, exc_info=error)
        else:
            self.scraper.handle_spider_error(_current_failure(), request, result)

    async def _scrape_response(self, response: Response, request: Request) -> None:
        """Runs the callback; its output goes through the middlewares' filters to the scheduler and the pipelines."""
        try:
            output = await self._call_spider(response, request)
            if self._request_middlewares:
                output = self._requests_processed(response, output)
            for method, needs_spider in self._filters:
                extra = {"spider": self.spider} if needs_spider else {}
                output = method(response=response, result=output, **extra)
        except Exception:  # noqa: BLE001 -- any exception of a callback is a spider error
            self.scraper.handle_spider_error(_current_failure(), request, response)
        else:
            await self._process_outputs(output, request, response)

    async def _process_outputs(
        self, result: Iterable[Any] | AsyncIterator[Any], request: Request, response: Response | Failure
    ) -> None:
        """Has the outputs of a callback or an errback scheduled or sent through the item pipelines."""
        scraper = self.scraper
        await process_outputs(
            result if isinstance(result, AsyncIterator) else as_async_generator(result),
            self._schedule_output,
            partial(self._process_item_output, response),
            at_once=max(scraper.concurrent_items, 1),
            failed=lambda: scraper.handle_spider_error(_current_failure(), request, response),
        )

    async def _process_item(self, item: Any, *, response: Response | Failure | None) -> None:
        """Sends an item through the pipelines. A spider that closes waits for items that it started with, too.

        In Scrapy it waits for ever if they are the last, since only the end of a response ends the wait.
        """
        scraper, slot = self.scraper, self.scraper.slot
        assert slot is not None
        try:
            await Scraper.start_itemproc_async(scraper, item, response=response)
        except asyncio.CancelledError as error:
            if is_being_cancelled():
                raise
            await self._handle_item_error(error, item, response)
        finally:
            if slot.closing is not None and not slot.closing.called:
                scrapy_private.end_closing(scraper)

    def _schedule_output(self, request: Request) -> None:
        """Schedules a request; one that can't be scheduled keeps nothing else back."""
        try:
            self.crawl(request)
        except Exception:
            scrapy_logger.exception("Error while scheduling %s", request, extra={"spider": self.spider})

    async def _process_item_output(self, response: Response | Failure, item: Any) -> None:
        """Sends an item of a callback through the pipelines; None is none."""
        if item is None:
            return
        try:
            await self.scraper.start_itemproc_async(item, response=response)
        except Exception:
            scrapy_logger.exception("Error while processing %s", item, extra={"spider": self.spider})

    async def _handle_item_error(
        self, error: asyncio.CancelledError, item: Any, response: Response | Failure | None
    ) -> None:
        """Logs and signals the CancelledError of an item pipeline, as Scrapy does with its exceptions."""
        spider = self.spider
        assert spider is not None
        line = self.logformatter.item_error(item, error, response, spider)
        scraper_logger.log(*logformatter_adapter(line), extra={"spider": spider, "item": item}, exc_info=error)
        await self.signals.send_catch_log_async(
            signal=signals.item_error, item=item, response=response, spider=spider, failure=_current_failure()
        )

    async def _requests_processed(self, response: Response, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Does in one pass what Scrapy's request middlewares next to the callback do with its output.

        Saves 14 to 21 us of a page's 1,000 us of CPU: each middleware's own generator takes some 4 us.
        """
        for middleware in self._request_middlewares:
            if isinstance(middleware, DepthMiddleware):
                scrapy_private.set_depth(middleware, response)
        async for output_object in output:
            passed = output_object
            if isinstance(output_object, Request):
                for middleware in self._request_middlewares:
                    passed = passed and middleware.get_processed_request(passed, response)
            if passed is not None:
                yield passed

    async def _call_spider(self, response: Response, request: Request) -> AsyncIterator[Any]:
        spider = self.spider
        assert spider is not None
        assert response.request is not None
        callback: Any = response.request.callback
        if callback is None and scrapy_private.has_own_parse(spider):
            callback = spider.parse
        if isasyncgenfunction(callback):
            output: AsyncIterator[Any] = callback(response, **response.request.cb_kwargs)
            return output
        some = await self.scraper.call_spider_async(response, request)
        return some if isinstance(some, AsyncIterator) else as_async_generator(some)


async def _engine_has_looked() -> None:
    """Returns when the engine has looked for the next request, as it does in Scrapy before a callback adds some.

    The end of a download has it look by a timer that is due at once: asyncio runs that behind the next step of tasks.
    """
    for _ in range(2):
        await asyncio.sleep(0)


def _split(manager: SpiderMiddlewareManager) -> tuple[list[BaseSpiderMiddleware], list[Any]]:
    """Returns Scrapy's request middlewares that stand next to the callback, and the output filters of all others."""
    filters = list(manager.methods["process_spider_output"])  # from the callback outwards
    request_middlewares: list[BaseSpiderMiddleware] = []
    for middleware in reversed(manager.middlewares):
        if type(middleware) not in REQUEST_MIDDLEWARES:
            break
        request_middlewares.append(middleware)
    return request_middlewares, [method for method in filters[len(request_middlewares) :] if method is not None]


def _current_failure() -> Failure:
    """Returns the exception that is being handled in the form that Scrapy's errbacks and signals take."""
    return Failure()  # type: ignore[no-untyped-call]  # Twisted has no types here

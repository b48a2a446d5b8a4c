"""A spider that does everything that spiders may do, and what they shouldn't, crawled on both engines.

`python odd_crawl.py URL` crawls every variant, one after the other, and prints as JSON what each crawl yielded. The
crawls share a process, since starting Python and Scrapy takes longer than a crawl.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from itertools import product

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, IgnoreRequest
from scrapy.http import HtmlResponse
from scrapy.utils.defer import deferred_f_from_coro_f, deferred_from_coro
from scrapy.utils.reactor import install_reactor
from twisted.internet.endpoints import HostnameEndpoint

SIGNALS = (
    "spider_opened",
    "engine_started",
    "scheduler_empty",
    "request_scheduled",
    "request_dropped",
    "request_reached_downloader",
    "request_left_downloader",
    "response_received",
    "response_downloaded",
    "headers_received",
    "bytes_received",
    "item_scraped",
    "item_dropped",
    "item_error",
    "spider_error",
    "spider_closed",
)
# Parts of the names of statistics that differ between any two crawls.
VARYING = ("time", "memusage", "log_count", "scheduler", "start", "elapsed", "items_per", "responses_per", "periodic")


class Odd(Spider):
    name = "odd"
    base = ""

    async def start(self):
        yield {"from": "start"}
        for path in ("page", "missing", "moved", "loop", "flaky", "busy", "empty", "ignored", "answered", "swapped"):
            yield Request(f"{self.base}/{path}", errback=self.failed if path in {"busy", "ignored"} else None)
        yield Request("http://127.0.0.1:9/refused", errback=self.failed)
        yield Request("http://127.0.0.1:9/unheard")
        yield Request(f"{self.base}/twice", dont_filter=True)
        yield Request(f"{self.base}/errback-raises?refuse", errback=self.failed_badly, meta={"refuse": True})
        yield Request(f"{self.base}/errback-yields?refuse", errback=self.failed_well, meta={"refuse": True})
        for callback in (
            self.plain_list,
            self.sync_generator,
            self.async_function,
            self.async_generator,
            self.nothing,
            self.one_dict,
            self.inline,
            self.raises,
            self.raises_late,
            self.raises_async,
            self.bad_output,
            self.many,
            self.drops,
            self.breaks,
            self.follows,
        ):
            yield Request(f"{self.base}/{callback.__name__}", callback=callback, cb_kwargs={"word": "w"})

    def parse(self, response):
        yield {"status": response.status, "path": response.url.removeprefix(self.base), "flags": response.flags}

    def failed(self, failure):
        kind = failure.type.__name__
        response = getattr(failure.value, "response", None)
        return [{"failed": kind, "status": response and response.status, "path": _path(failure.request)}]

    def failed_badly(self, failure):
        raise RuntimeError("the errback, too")

    async def failed_well(self, failure):
        yield {"late": failure.type.__name__}

    def plain_list(self, response, word):
        return [{"list": 1, "word": word}, None, {"list": 2}]

    def sync_generator(self, response, word):
        yield {"sync": 1}
        yield {"sync": 2}

    async def async_function(self, response, word):
        await asyncio.sleep(0)
        return [{"async": word}]

    async def async_generator(self, response, word):
        yield {"async gen": 1}
        await asyncio.sleep(0.01)
        yield {"async gen": 2}

    def nothing(self, response, word):
        return None

    def one_dict(self, response, word):
        return {"one": word}

    async def inline(self, response, word):
        other = await self.crawler.engine.download_async(Request(f"{self.base}/within", dont_filter=True))
        yield {"inline": other.status, "request": other.request.url.removeprefix(self.base)}
        try:
            await self.crawler.engine.download_async(Request("http://127.0.0.1:9/within"))
        except Exception as error:  # noqa: BLE001 -- whatever it is must be the same
            yield {"inline": type(error).__name__}

    def raises(self, response, word):
        raise ValueError("at once")

    def raises_late(self, response, word):
        yield {"before": "sync"}
        raise ValueError("late")

    async def raises_async(self, response, word):
        yield {"before": "async"}
        await asyncio.sleep(0.01)  # its item is through by then
        raise KeyError("late")

    def bad_output(self, response, word):
        yield 5
        yield "text"

    def many(self, response, word):
        for number in range(30):
            yield {"many": number}

    def drops(self, response, word):
        yield {"drop": True}
        yield {"drop": False}

    def breaks(self, response, word):
        yield {"break": True}
        yield {"slow": True}

    async def follows(self, response, word):
        for number in range(5):
            yield Request(f"{self.base}/followed?{number}", callback=self.parse)
        yield Request(f"{self.base}/page", callback=self.parse)  # a duplicate


class AsyncPipeline:
    """Drops an item, fails on one, and waits before it returns one."""

    async def process_item(self, item):
        if isinstance(item, dict):
            if item.get("drop"):
                raise DropItem("as asked")
            if item.get("break"):
                raise OSError("as asked")
            if item.get("slow"):
                await asyncio.sleep(0.02)
            return {**item, "through": "async"}
        return item


class SyncPipeline:
    def process_item(self, item):
        return {**item, "then": "sync"} if isinstance(item, dict) else item


class DownloaderMiddleware:
    """Refuses, answers, repeats and replaces requests and responses."""

    async def process_request(self, request):
        await asyncio.sleep(0)
        if request.meta.get("refuse"):
            raise ConnectionRefusedError("refused by a middleware")
        if request.url.endswith("/ignored"):
            raise IgnoreRequest("ignored by a middleware")
        if request.url.endswith("/answered"):
            return HtmlResponse(request.url, body=b"answered", status=203)
        return None

    def process_response(self, request, response):
        if response.url.endswith("/twice") and not request.meta.get("again"):
            return request.replace(meta={**request.meta, "again": True})
        if response.url.endswith("/swapped"):
            return response.replace(status=299, flags=["swapped"])
        return response

    def process_exception(self, request, exception):
        if request.url.endswith("/unheard"):
            return HtmlResponse(request.url, body=b"made up", status=207)
        return None


class OutputMiddleware:
    """A spider middleware that only filters output: the engine may leave out Scrapy's own way through the scraper."""

    async def process_spider_output(self, response, result):
        async for output in result:
            if isinstance(output, dict) and output.get("many", 0) % 10 == 9:
                continue
            yield output


class EveryMiddleware(OutputMiddleware):
    """A spider middleware that also processes input and exceptions."""

    def process_spider_input(self, response):
        if response.url.endswith("/sync_generator"):
            raise PermissionError("not this one")

    def process_spider_exception(self, response, exception):
        if isinstance(exception, KeyError):
            return [{"rescued": type(exception).__name__}]
        return None


class SignalRecorder:
    """Records the signals of each request in their order."""

    def __init__(self, crawler):
        self.crawler = crawler
        self.recorded = defaultdict(list)
        for name in SIGNALS:
            self._connect(name)

    @classmethod
    def from_crawler(cls, crawler):
        crawler.recorder = cls(crawler)
        return crawler.recorder

    def _connect(self, name):
        def record(request=None, response=None, item=None, exception=None, failure=None, reason=None):
            of = request if request is not None else getattr(response, "request", None)
            details = [str(item)] if item is not None else []
            details += [type(error).__name__ for error in (exception, failure and failure.value) if error]
            if name == "scheduler_empty":  # how often the scheduler is asked in vain differs
                return None
            self.recorded[_path(of) if of else ""].append(" ".join([name, *details, reason or ""]).strip())
            return deferred_from_coro(asyncio.sleep(0)) if name == "item_scraped" else None

        async def record_later(item, response):
            await asyncio.sleep(0)
            self.recorded[_path(response.request) if response else ""].append(f"later {item}")

        self.crawler.signals.connect(record, signal=getattr(signals, name), weak=False)
        if name == "item_scraped":
            self.crawler.signals.connect(record_later, signal=signals.item_scraped, weak=False)


def _path(request):
    return "/" + request.url.partition("://")[2].partition("/")[2]


def settings_of(items_at_once, middleware, *, fast):
    return {
        "ADDONS": {"crawler.fast.addon.FastEngine": 1000},
        "FAST_ENGINE": fast,
        "LOG_LEVEL": "ERROR",
        "CONCURRENT_ITEMS": items_at_once,
        "CONCURRENT_REQUESTS": 1,  # makes the pages come in the same order
        "RETRY_TIMES": 2,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "REDIRECT_MAX_TIMES": 3,
        "DOWNLOADER_MIDDLEWARES": {DownloaderMiddleware: 500},
        "SPIDER_MIDDLEWARES": {middleware: 500}
        # Scrapy's middleware for error pages processes input, too, so that the short way needs it switched off.
        | ({} if middleware is EveryMiddleware else {"scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None}),
        "ITEM_PIPELINES": {AsyncPipeline: 1, SyncPipeline: 2},
        "EXTENSIONS": {SignalRecorder: 0},
    }


async def crawl(settings):
    crawler = Crawler(Odd, settings)
    items = []

    def keep(item):
        items.append(json.dumps(item, sort_keys=True))

    crawler.signals.connect(keep, signal=signals.item_scraped)
    await crawler.crawl_async()
    stats = crawler.stats.get_stats()
    return {
        "engine": type(crawler.engine).__name__,
        "parts": [type(part).__name__ for part in (crawler.engine.downloader, crawler.stats, crawler.logformatter)],
        "items": sorted(items),
        "stats": {name: value for name, value in stats.items() if not any(map(name.count, VARYING))},
        "signals": crawler.recorder.recorded,
    }


async def main(_reactor):
    Odd.base = sys.argv[1]
    results = {
        f"{items_at_once} {middleware.__name__} {fast}": await crawl(settings_of(items_at_once, middleware, fast=fast))
        for items_at_once, middleware, fast in product((1, 8), (OutputMiddleware, EveryMiddleware), (False, True))
    }
    print(json.dumps(results, sort_keys=True, default=str))


if __name__ == "__main__":
    HostnameEndpoint._DEFAULT_ATTEMPT_DELAY = 0.01  # seconds until a refused connection is told; 0.3 by default
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet.task import react

    react(deferred_f_from_coro_f(main))

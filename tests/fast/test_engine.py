"""The same crawl yields the same items, statistics and signals on both engines, the signals in order per request."""

import asyncio
from collections import Counter

import pytest
from fast.conftest import PageHandler
from fast.virtual_crawl import ENGINES, WAYS, PageSpider, crawl
from scrapy import Request, signals
from scrapy.core.downloader import Downloader


class OddServer(PageHandler):
    """Answers by the path; `/flaky` works at every third try."""

    def do_GET(self):  # noqa: N802 -- as http.server names it
        path = self.path.partition("?")[0]
        status, body, headers = 200, b"<html><body>a page</body></html>", {}
        match path:
            case "/missing":
                status = 404
            case "/moved":
                status, headers = 302, {"Location": "/page?moved"}
            case "/loop":
                status, headers = 301, {"Location": "/loop?" + "x" * (len(self.path) % 7 + 1)}
            case "/busy":
                status = 503
            case "/empty":
                body = b""
            case "/flaky":
                self.server.state[path] += 1
                status = 503 if self.server.state[path] % 3 else 200
        self.answer(status, body, **headers)


@pytest.fixture(scope="module")
def crawls(run_crawls):
    """What each crawl of `odd_crawl.py` yielded."""
    return run_crawls("odd_crawl.py", OddServer, Counter())


@pytest.mark.process
@pytest.mark.parametrize("middleware", ["OutputMiddleware", "EveryMiddleware"])
@pytest.mark.parametrize("items_at_once", [1, 8])
def test_an_odd_crawl_is_the_same_on_both_engines(crawls, items_at_once, middleware):
    scrapys, fast = (crawls[f"{items_at_once} {middleware} {is_fast}"] for is_fast in (False, True))
    assert (scrapys.pop("engine"), fast.pop("engine")) == ("ExecutionEngine", "LeanEngine")
    assert scrapys.pop("parts") == ["Downloader", "MemoryStatsCollector", "LogFormatter"]
    assert fast.pop("parts") == ["LeanDownloader", "LeanStats", "LeanLogFormatter"]
    assert len(scrapys["items"]) > 50
    assert fast["items"] == scrapys["items"]
    assert fast["stats"] == scrapys["stats"]
    if items_at_once > 1:  # a page's items overtake each other
        for result in (scrapys, fast):
            result["signals"] = {path: sorted(recorded) for path, recorded in result["signals"].items()}
    assert fast["signals"] == scrapys["signals"]


class OwnDownloader(Downloader):
    """A project's own downloader, which is Scrapy's."""


class ThreePages(PageSpider):
    """Each page leads to the next. As each is answered, something wakes the engine again and again."""

    async def answer(self, request):
        response = await super().answer(request)
        self.wake(20)
        return response

    def wake(self, times):
        if times and self.crawler.engine._slot is not None:
            self.crawler.engine._slot.nextcall()
            asyncio.get_running_loop().call_soon(self.wake, times - 1)

    def parse(self, response):
        number = len(self.crawler.items) + 1
        yield {"page": number}
        if number < 3:
            yield Request(f"http://a.test/{number}")


@ENGINES
@WAYS
def test_no_page_is_lost_with_a_projects_own_downloader(fast, way):
    crawler = crawl(ThreePages, way | {"DOWNLOADER": OwnDownloader}, fast=fast)
    assert crawler.items == [{"page": 1}, {"page": 2}, {"page": 3}]
    assert crawler.stats.get_value("finish_reason") == "finished"


class Twice(PageSpider):
    """Yields one request twice, and again the one that has just been answered; asks for a third in a callback."""

    async def parse(self, response):
        request = Request("http://a.test/twice", callback=self.count, dont_filter=True)
        yield request
        yield request
        yield response.request.replace(callback=self.count, dont_filter=True)
        response.request.dont_filter = True
        response.request.callback = self.count
        yield response.request
        again = await self.crawler.engine.download_async(response.request)
        yield {"page": f"again {again.url}"}

    def count(self, response):
        yield {"page": response.url}


# Scrapy's own engine loses the answer to a request that is under way twice.
@pytest.mark.parametrize(("fast", "at_once"), [(False, 1), (True, 1), (True, 8)])
@WAYS
def test_a_request_that_is_sent_twice_is_answered_twice(fast, way, at_once):
    crawler = crawl(Twice, way | {"CONCURRENT_REQUESTS": at_once}, fast=fast)
    pages = sorted(item["page"] for item in crawler.items)
    assert pages == ["again http://a.test/", *["http://a.test/"] * 2, *["http://a.test/twice"] * 2]
    assert crawler.stats.get_value("elapsed_time_seconds") < 4  # the engine didn't wait to look again by itself


def test_a_spider_that_closes_waits_for_the_items_that_it_started_with():
    class Slow:
        async def process_item(self, item):
            await asyncio.sleep(item["seconds"])
            return item

    class Items(PageSpider):
        async def start(self):
            for seconds in (1, 2):
                yield {"seconds": seconds}

    settings = {"ITEM_PIPELINES": {Slow: 1}, "CLOSESPIDER_ITEMCOUNT": 1}
    crawler = crawl(Items, settings, fast=True)  # Scrapy's own engine waits for ever
    assert crawler.items == [{"seconds": 1}, {"seconds": 2}]
    assert crawler.stats.get_value("finish_reason") == "closespider_itemcount"


class Lazy(PageSpider):
    """Starts with a request whenever the scheduler has none, as Scrapy's documentation shows it."""

    async def start(self):
        for number in (1, 2, 4):
            if self.crawler.engine.needs_backout():
                await self.crawler.signals.wait_for(signals.scheduler_empty)
            yield Request(f"http://a.test/{number}")

    def parse(self, response):
        yield {"page": response.url[-1]}
        if response.url.endswith("1"):
            yield Request("http://a.test/3")


@ENGINES
def test_the_next_request_is_looked_for_before_a_callback_adds_some(fast):
    crawler = crawl(Lazy, {"CONCURRENT_REQUESTS": 1}, fast=fast)
    assert [item["page"] for item in crawler.items] == ["1", "2", "3", "4"]

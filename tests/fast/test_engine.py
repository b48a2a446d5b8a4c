"""What random crawls (test_equivalence.py) can't hold the engines to: requests sent twice, slow items, lazy starts."""

import asyncio

import pytest
from fast.virtual_crawl import WAYS, PageSpider, crawl
from scrapy import Request, signals


class Twice(PageSpider):
    """Yields one request twice, and again the one that has just been answered; asks for it once more in a callback."""

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


@pytest.mark.parametrize("at_once", [1, 8])  # with 8, Scrapy's own engine loses an answer
@WAYS
def test_a_request_that_is_sent_twice_is_answered_twice(way, at_once):
    crawler = crawl(Twice, way | {"CONCURRENT_REQUESTS": at_once}, fast=True)
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


def test_the_next_request_is_looked_for_before_a_callback_adds_some():
    crawler = crawl(Lazy, {"CONCURRENT_REQUESTS": 1}, fast=True)
    assert [item["page"] for item in crawler.items] == ["1", "2", "3", "4"]

"""What callbacks yield is scheduled and processed in Scrapy's order and within its limits."""

import asyncio

import pytest
from fast.virtual_crawl import WAYS, PageSpider, crawl
from scrapy import Request, signals
from scrapy.core.scheduler import Scheduler


@WAYS
def test_a_callback_may_wait_for_what_becomes_of_its_own_item(way):
    class Waiting(PageSpider):
        async def parse(self, response):
            is_scraped = asyncio.Event()
            self.crawler.signals.connect(is_scraped.set, signal=signals.item_scraped)
            yield {"number": 1}
            await is_scraped.wait()
            yield {"number": 2}

    assert crawl(Waiting, way, fast=True).items == [{"number": 1}, {"number": 2}]


@WAYS
def test_an_item_does_not_wait_until_its_callback_has_ended(way):
    class Slow(PageSpider):
        async def parse(self, response):
            yield {"number": 1}
            await asyncio.sleep(60)
            self.scraped_by_then = list(self.crawler.items)

    assert crawl(Slow, way, fast=True).spider.scraped_by_then == [{"number": 1}]


@pytest.mark.parametrize("items_at_once", [1, 8])
@WAYS
def test_the_loop_runs_while_many_requests_are_scheduled(way, items_at_once):
    class Many(PageSpider):
        def count_turn(self):
            scheduled = self.crawler.stats.get_value("scheduler/enqueued", 0)
            self.most_a_turn = max(self.most_a_turn, scheduled - self.scheduled)
            self.scheduled = scheduled
            if scheduled < 300:
                asyncio.get_running_loop().call_soon(self.count_turn)

        def parse(self, response):
            self.most_a_turn, self.scheduled = 0, 1
            self.count_turn()
            for number in range(300):
                yield Request(f"http://a.test/{number}", callback=self.ignore)

    crawler = crawl(Many, way | {"CONCURRENT_ITEMS": items_at_once, "CLOSESPIDER_PAGECOUNT": 2}, fast=True)
    assert 0 < crawler.spider.most_a_turn <= 4 * items_at_once


@pytest.mark.parametrize("items_at_once", [1, 3])
@WAYS
def test_a_callback_runs_no_further_ahead_of_its_items_than_on_scrapys_engine(way, items_at_once):
    class Slow:
        async def process_item(self, item):
            await asyncio.sleep(1)
            return item

    class Ahead(PageSpider):
        def parse(self, response):
            self.yielded = []
            for number in range(20):
                self.yielded.append((number, asyncio.get_running_loop().time()))
                yield {"number": number}

    settings = way | {"CONCURRENT_ITEMS": items_at_once, "ITEM_PIPELINES": {Slow: 1}}
    scrapys, fast = (crawl(Ahead, settings, fast=is_fast) for is_fast in (False, True))
    assert fast.spider.yielded == scrapys.spider.yielded
    assert fast.items == scrapys.items


class Refusing(Scheduler):
    """A scheduler that fails on some requests."""

    def enqueue_request(self, request):
        if request.url.endswith("/refused"):
            raise OSError("no space left")
        return super().enqueue_request(request)


@WAYS
@pytest.mark.parametrize("items_at_once", [1, 8])
def test_a_request_that_cannot_be_scheduled_keeps_no_other_output_back(way, items_at_once, caplog):
    class Links(PageSpider):
        def parse(self, response):
            for number in range(10):
                yield Request("http://a.test/refused", callback=self.ignore, dont_filter=True)
                yield {"number": number}
            yield Request("http://a.test/last", callback=self.last)

        def last(self, response):
            yield {"number": "last"}

    settings = way | {"SCHEDULER": Refusing, "CONCURRENT_ITEMS": items_at_once}
    crawler = crawl(Links, settings, fast=True)  # Scrapy's own engine loses the others, or waits for ever
    assert [item["number"] for item in crawler.items] == [*range(10), "last"]
    assert caplog.text.count("OSError: no space left") == 10


@WAYS
def test_what_was_yielded_before_an_error_is_kept(way):
    class Failing(PageSpider):
        async def parse(self, response):
            yield {"number": 1}
            yield Request("http://a.test/next", callback=self.next)
            await asyncio.sleep(1)
            raise ValueError("late")

        def next(self, response):
            yield {"number": 2}

    crawler = crawl(Failing, way, fast=True)
    assert crawler.items == [{"number": 1}, {"number": 2}]
    assert crawler.stats.get_value("spider_exceptions/ValueError") == 1

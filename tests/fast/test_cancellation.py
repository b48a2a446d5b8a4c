"""A CancelledError that code of a crawl raises is an error like any other, and nothing waits for ever."""

import asyncio

import pytest
from fast.virtual_crawl import WAYS, PageSpider, crawl
from scrapy import Request, signals


class Cancelled:
    """Raises where a request's or an item's `fails` says so."""

    def process_request(self, request):
        self._fail(request.meta, "process_request")

    def process_response(self, request, response):
        self._fail(request.meta, "process_response")
        return response

    def process_item(self, item):
        self._fail(item, "process_item")
        return item

    def _fail(self, where, name):
        if where.get("fails") == name:
            raise asyncio.CancelledError


class Failures(PageSpider):
    """Takes what an errback is given for an item."""

    fails = ""

    async def start(self):
        yield Request("http://a.test/", errback=self.failed, meta={"fails": self.fails})
        yield Request("http://a.test/other")

    def failed(self, failure):
        yield {"failed": failure.type.__name__}

    def parse(self, response):
        yield {"path": response.url.removeprefix("http://a.test")}


def failures(**attributes):
    return type("Failing", (Failures,), attributes)


SETTINGS = {"DOWNLOADER_MIDDLEWARES": {Cancelled: 500}, "ITEM_PIPELINES": {Cancelled: 500}}


@pytest.mark.parametrize("where", ["process_request", "process_response"])
def test_a_middlewares_goes_to_the_errback(where):
    crawler = crawl(failures(fails=where), SETTINGS, fast=True)
    assert {"failed": "CancelledError"} in crawler.items
    assert {"path": "/other"} in crawler.items


def test_one_without_an_errback_is_logged_as_scrapy_logs_failed_downloads(caplog):
    class Unheard(Failures):
        fails = "process_request"

        async def start(self):
            async for request in super().start():
                yield request.replace(errback=None)

    assert crawl(Unheard, SETTINGS, fast=True).items == [{"path": "/other"}]
    assert "Error downloading <GET http://a.test/>" in caplog.text


def raising_at_once(self, response):
    if response.url == "http://a.test/":
        raise asyncio.CancelledError
    return [{"path": "/other"}]


async def raising_later(self, response):
    yield {"path": response.url.removeprefix("http://a.test")}
    await asyncio.sleep(1)
    if response.url == "http://a.test/":
        raise asyncio.CancelledError


@WAYS
@pytest.mark.parametrize("parse", [raising_at_once, raising_later])
def test_a_callbacks_is_a_spider_error(parse, way):
    crawler = crawl(failures(parse=parse), SETTINGS | way, fast=True)
    assert {"path": "/other"} in crawler.items
    assert crawler.stats.get_value("spider_exceptions/CancelledError") == 1


def test_a_pipelines_is_an_item_error():
    def parse(self, response):
        for number in range(30):
            yield {"number": number, "fails": "process_item" if number < 10 else ""}

    errors = []

    def prepare(crawler):
        crawler.signals.connect(lambda item: errors.append(item["number"]), signal=signals.item_error, weak=False)

    crawler = crawl(failures(parse=parse), SETTINGS, fast=True, prepare=prepare)
    assert sorted(errors) == sorted([*range(10)] * 2)
    assert len(crawler.items) == 40


def test_a_receivers_keeps_no_other_receiver_from_the_signal():
    async def cancelled_later():
        await asyncio.sleep(1)
        raise asyncio.CancelledError

    def cancelled_at_once():
        raise asyncio.CancelledError

    heard = []

    def hear(item):
        heard.append(item)

    def prepare(crawler):
        for receiver in (cancelled_at_once, cancelled_later, hear):
            crawler.signals.connect(receiver, signal=signals.item_scraped, weak=False)

    crawler = crawl(Failures, fast=True, prepare=prepare)
    assert heard == crawler.items
    assert len(heard) == 2

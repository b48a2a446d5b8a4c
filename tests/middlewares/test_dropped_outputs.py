"""A visit ends whoever drops what its callback yielded, on both engines."""

from __future__ import annotations

import gc

import pytest
from fast.virtual_crawl import ENGINES, WAYS, PageSpider, crawl
from samples import RecordedVisit
from scrapy import Request, signals
from scrapy.core.scheduler import Scheduler
from scrapy.exceptions import IgnoreRequest

from crawler.config import crawl_settings
from crawler.middlewares.visits import VisitSpiderMiddleware
from crawler.worker.settling.delivery import Delivery
from crawler.worker.visits.request_state import part_of

PATH = "crawler.middlewares.visits.VisitSpiderMiddleware"
ORDERS = [-100, 5, 500]  # of another spider middleware
SETTINGS = {
    "EXTENSIONS": {Delivery: 0},
    "FILES_STORE": "",
    "RETRY_BASE_SECONDS": 1,
    "RETRY_MAX_SECONDS": 1,
}


@pytest.fixture(autouse=True)
def no_garbage_collector():
    """A visit must not have to wait for it: an idle worker may not run it for long."""
    gc.disable()
    yield
    gc.enable()


class Dropping:
    """A spider middleware that drops what the page leads to."""

    def process_spider_output(self, response, result):
        return [one for one in result if response.url.endswith("kept")]

    async def process_spider_output_async(self, response, result):
        async for one in result:
            if response.url.endswith("kept"):
                yield one


class Recovering:
    """A spider middleware that has an item instead of an error."""

    def process_spider_exception(self, response, exception):
        return [{"recovered": 1}]


class Replacing:
    """A downloader middleware that sends another request instead of some."""

    def process_request(self, request):
        return Request("http://a.test/other", dont_filter=True) if request.url.endswith("/replaced") else None


class ReplacingLate:
    """The same, for a request that was answered."""

    def process_response(self, request, response):
        return Request("http://a.test/other", dont_filter=True) if request.url.endswith("/replaced") else response


class Disarming:
    """The same, without the errback of the first, and the other one fails."""

    def process_request(self, request):
        if request.url.endswith("/replaced"):
            return request.replace(url="http://a.test/other", errback=None)
        if request.url.endswith("/other"):
            raise OSError("broken")
        return None


class Queueing(Scheduler):
    """A scheduler in memory that says of requests that it has taken them, as the crawler's own does."""

    def enqueue_request(self, request):
        if part := part_of(request):
            part.queued = True
        return super().enqueue_request(request)


class Refusing(Queueing):
    """A scheduler that refuses some requests."""

    def enqueue_request(self, request):
        return not request.url.endswith("/refused") and super().enqueue_request(request)


class Failing(Queueing):
    """A scheduler that fails on some requests."""

    def enqueue_request(self, request):
        if request.url.endswith("/refused"):
            raise OSError("no space left")
        return super().enqueue_request(request)


def outcomes(way, settings, *, fast, path="", outputs=(), receiver=None, error=None):
    """Crawls a page of a visit whose callback yields some outputs; returns the visit's outcomes."""

    class VisitSpider(PageSpider):
        async def start(self):
            self.recorded = RecordedVisit()
            yield self.recorded.request(f"http://a.test/{path}", is_page=True)

        async def parse(self, response):
            if response.url.endswith("/other"):
                return
            for output in outputs:
                yield output() if callable(output) else output
            if error:
                raise error

    def prepare(crawler):
        if receiver:
            crawler.signals.connect(receiver, signal=signals.request_scheduled)

    settings = {"SCHEDULER": Queueing} | SETTINGS | way | settings
    settings["SPIDER_MIDDLEWARES"] = {
        **way.get("SPIDER_MIDDLEWARES", {}),
        **settings.get("OTHERS", {}),
        VisitSpiderMiddleware: crawl_settings.VALUES["SPIDER_MIDDLEWARES"][PATH],
    }
    spider = crawl(VisitSpider, settings, fast=fast, prepare=prepare).spider
    assert len(spider.recorded.fetched) == 1
    return spider.recorded.outcomes


def link():
    return Request("http://a.test/refused", callback=PageSpider.ignore)


@WAYS
@ENGINES
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("output", [{"number": 1}, link], ids=["item", "request"])
def test_a_spider_middleware_of_any_order_may_drop_outputs(fast, way, order, output):
    assert outcomes(way, {"OTHERS": {Dropping: order}}, fast=fast, outputs=[output]) == [("finish", "")]


@WAYS
@ENGINES
@pytest.mark.parametrize("order", ORDERS)
def test_a_spider_middleware_of_any_order_may_recover(fast, way, order):
    settings = {"OTHERS": {Recovering: order}}
    assert outcomes(way, settings, fast=fast, error=ValueError()) == [("finish", "")]


@WAYS
@ENGINES
def test_a_receiver_may_ignore_a_request(fast, way):
    def ignore(request):
        if request.url.endswith("/refused"):
            raise IgnoreRequest

    assert outcomes(way, {}, fast=fast, outputs=[link, {"number": 1}], receiver=ignore) == [("finish", "")]


@WAYS
@ENGINES
@pytest.mark.parametrize("outputs", [[link], [link, {"number": 1}]], ids=["alone", "with an item"])
def test_a_scheduler_may_refuse_a_request(fast, way, outputs):
    assert outcomes(way, {"SCHEDULER": Refusing}, fast=fast, outputs=outputs) == [("finish", "")]


@WAYS
def test_a_scheduler_may_fail(way):
    assert outcomes(way, {"SCHEDULER": Failing}, fast=True, outputs=[link]) == [("finish", "")]


@WAYS
@ENGINES
@pytest.mark.parametrize("middleware", [Replacing, ReplacingLate, Disarming])
def test_a_downloader_middleware_may_send_another_request_instead(fast, way, middleware):
    replaced = Request("http://a.test/replaced", callback=PageSpider.ignore)
    settings = {"DOWNLOADER_MIDDLEWARES": {middleware: 500}}
    assert outcomes(way, settings, fast=fast, outputs=[replaced.copy]) == [("finish", "")]


@WAYS
@ENGINES
@pytest.mark.parametrize("middleware", [Replacing, ReplacingLate])
def test_a_page_whose_own_request_is_replaced_fails(fast, way, middleware):
    settings = {"DOWNLOADER_MIDDLEWARES": {middleware: 500}}
    assert outcomes(way, settings, fast=fast, path="replaced") == [("fail", "request-dropped")]

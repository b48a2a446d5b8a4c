"""Spiders as people write them, each with a popular add-on, set up as the add-on's documentation says.

`python addon_spiders.py URL` crawls each spider in three projects: one that is Scrapy alone, ours with Scrapy's engine,
and ours with the fast one, for which a spider of a project's own must ask. It prints as JSON what each crawl yielded.
The crawls share a process, since starting Python and Scrapy takes longer than a crawl. The spiders know nothing of a
project.
"""

from __future__ import annotations

import json
import sys
from itertools import product

import attrs
from itemadapter import ItemAdapter
from scrapy import Field, Item, Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.reactor import install_reactor
from scrapy_poet import DummyResponse  # noqa: TC002 -- read at run time, like all that pages are injected by
from spidermon import Monitor, MonitorSuite
from spidermon.core.actions import Action
from web_poet import HttpClient, RequestUrl, WebPage
from web_poet.exceptions import Retry

COMMON = {"USER_AGENT": "of the settings", "ROBOTSTXT_OBEY": False, "DOWNLOAD_DELAY": 0}
PROJECTS = {
    "alone": COMMON,
    "ours on Scrapy's engine": COMMON | {"ALLOW_PRIVATE_ADDRESSES": 1, "FAST_ENGINE": 0},
    "ours": COMMON | {"ALLOW_PRIVATE_ADDRESSES": 1, "FAST_ENGINE": 1},
}


class Recorder:
    """An extension that records the items of a crawl."""

    def __init__(self, crawler):
        self.items = []
        self.dropped = []
        crawler.recorded = {"items": self.items, "dropped": self.dropped}
        crawler.signals.connect(self.scraped, signal=signals.item_scraped)
        crawler.signals.connect(self.lost, signal=signals.item_dropped)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def scraped(self, item):
        self.items.append(ItemAdapter(item).asdict())

    def lost(self, item, exception):
        self.dropped.append([ItemAdapter(item).asdict(), str(exception)])


class ShopSpider(Spider):
    """What the spiders have in common: one page at a time, so that pages come in the same order."""

    base = ""
    custom_settings = {"CONCURRENT_REQUESTS": 1}  # noqa: RUF012
    add_on = {}  # noqa: RUF012 -- what its documentation wants in the project's settings, beside what they have

    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        for name, value in {"EXTENSIONS": {}, **cls.add_on}.items():
            merged = {**settings.getdict(name), **value} if isinstance(value, dict) else value
            settings.set(name, merged, priority="spider")
        settings["EXTENSIONS"][Recorder] = 1000


# -- scrapy-poet ----------------------------------------------------------------------------------------------------
class ShelfPage(WebPage):
    @property
    def links(self):
        return self.css("a::attr(href)").getall()


@attrs.define
class BookPage(WebPage):
    http: HttpClient  # for what stands on another page

    async def to_item(self):
        if not self.css("h1"):
            raise Retry("half a page")
        price = await self.http.get(f"{self.url}/price")
        return {"title": self.css("h1::text").get(), "price": price.css("b::text").get()}


class PoetSpider(ShopSpider):
    name = "poet"

    add_on = {"ADDONS": {"scrapy_poet.Addon": 300}}  # noqa: RUF012

    async def start(self):
        yield Request(f"{self.base}/shelf", self.parse_shelf)
        yield Request(f"{self.base}/only-an-address", self.parse_address)

    def parse_shelf(self, response, page: ShelfPage):
        for link in page.links:
            yield response.follow(link, self.parse_book, cb_kwargs={"shelf": "first"})

    async def parse_book(self, response: DummyResponse, shelf, page: BookPage):
        yield {"shelf": shelf, **await page.to_item()}

    def parse_address(self, response: DummyResponse, url: RequestUrl):
        yield {"response": type(response).__name__, "path": str(url).removeprefix(self.base)}


# -- Spidermon ------------------------------------------------------------------------------------------------------
class Offer(Item):
    title = Field()
    price = Field()
    _validation = Field()


SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"title": {"type": "string"}, "price": {"type": "string", "pattern": "^[0-9]+$"}},
    "required": ["title", "price"],
}


class Counts(Monitor):
    def test_all_books_were_seen(self):
        assert self.data.stats["item_scraped_count"] + self.data.stats["item_dropped_count"] == 3

    def test_no_book_is_wrong(self):
        assert self.data.stats.get("spidermon/validation/items/errors", 0) == 0

    def test_it_ends_well(self):
        assert self.data.stats["finish_reason"] == "finished"


class Keep(Action):
    def run_action(self):
        results = [[result.monitor.name, result.status, result.reason] for result in self.result.monitor_results]
        self.data.crawler.recorded.setdefault("monitors", []).append(results)


class Suite(MonitorSuite):
    monitors = [Counts]  # noqa: RUF012
    monitors_finished_actions = [Keep]  # noqa: RUF012


class MonitoredSpider(ShopSpider):
    name = "monitored"

    add_on = {  # noqa: RUF012
        "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
        "ITEM_PIPELINES": {"spidermon.contrib.scrapy.pipelines.ItemValidationPipeline": 800},
        "SPIDERMON_ENABLED": True,
        "SPIDERMON_SPIDER_CLOSE_MONITORS": [Suite],
        "SPIDERMON_ENGINE_STOP_MONITORS": [Suite],
        "SPIDERMON_ADD_FIELD_COVERAGE": True,
        "SPIDERMON_VALIDATION_SCHEMAS": {Offer: SCHEMA},
        "SPIDERMON_VALIDATION_ADD_ERRORS_TO_ITEMS": True,
        "SPIDERMON_VALIDATION_DROP_ITEMS_WITH_ERRORS": True,
    }

    async def start(self):
        yield Request(f"{self.base}/shelf")

    def parse(self, response):
        yield from response.follow_all(css="a", callback=self.parse_book)

    def parse_book(self, response):
        yield Offer(title=response.css("h1::text").get(), price=response.css("i::text").get())


async def crawl(spider, project, base):
    settings = Settings()
    if project != "alone":
        settings.setmodule("crawler.settings")
        settings.set("ADDONS", {"crawler.fast.addon.FastEngine": 1000})
    settings.setdict(PROJECTS[project], priority="cmdline")
    crawler = Crawler(spider, settings)
    await crawler.crawl_async(base=base)
    return {**crawler.recorded, "engine": type(crawler.engine).__name__, "stats": crawler.stats.get_stats()}


async def main(_reactor):
    results = {
        f"{spider.name}/{number}": await crawl(spider, project, f"{sys.argv[1]}/{spider.name}/{number}")
        for spider, (number, project) in product((PoetSpider, MonitoredSpider), enumerate(PROJECTS))
    }
    print(json.dumps(results, default=str))


if __name__ == "__main__":
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet.task import react

    react(deferred_f_from_coro_f(main))

"""A spider as people write them with scrapy-poet, set up as the add-on's documentation says.

`python poet_spider.py URL` crawls it in a project that is Scrapy alone, and in ours with the fast engine, for which a
spider of a project's own must ask. It prints as JSON what each crawl yielded. The crawls share a process, since
starting Python and Scrapy takes longer than a crawl. The spider knows nothing of a project.
"""

from __future__ import annotations

import json
import sys

import attrs
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.reactor import install_reactor
from scrapy_poet import DummyResponse  # noqa: TC002 -- read at run time, like all that pages are injected by
from web_poet import HttpClient, RequestUrl, WebPage
from web_poet.exceptions import Retry

COMMON = {"USER_AGENT": "of the settings", "ROBOTSTXT_OBEY": False, "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 1}
PROJECTS = {"bare": COMMON, "ours": COMMON | {"ALLOW_PRIVATE_ADDRESSES": 1, "FAST_ENGINE": 1}}


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


class PoetSpider(Spider):
    name = "poet"
    base = ""

    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        settings.set("ADDONS", {**settings.getdict("ADDONS"), "scrapy_poet.Addon": 300}, priority="spider")

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


async def crawl(project, base):
    settings = Settings()
    if project == "ours":
        settings.setmodule("crawler.settings")
        settings.set("ADDONS", {"crawler.fast.addon.FastEngine": 1000})
    settings.setdict(PROJECTS[project], priority="cmdline")
    crawler = Crawler(PoetSpider, settings)
    items = []

    def keep(item):
        items.append(item)

    crawler.signals.connect(keep, signal=signals.item_scraped)
    await crawler.crawl_async(base=base)
    return {"items": items, "engine": type(crawler.engine).__name__, "stats": crawler.stats.get_stats()}


async def main(_reactor):
    results = {project: await crawl(project, f"{sys.argv[1]}/{project}") for project in PROJECTS}
    print(json.dumps(results, default=str))


if __name__ == "__main__":
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet.task import react

    react(deferred_f_from_coro_f(main))

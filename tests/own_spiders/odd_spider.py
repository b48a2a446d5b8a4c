"""A spider as teams write them, which meets most of what Scrapy does by itself. It knows nothing of Headroom."""

import json
from pathlib import Path

import scrapy
from scrapy.utils.python import global_object_name


class OddSpider(scrapy.Spider):
    """Arguments: `base`, the origin of `odd_server.py`; `folder`, where it writes `run.json` as it closes."""

    name = "odd"
    allowed_domains = ["127.0.0.1"]  # noqa: RUF012

    async def start(self):
        for path in (
            "redirected",
            "loop",
            "away",
            "busy",
            "overloaded",
            "cookie/set",
            "forbidden/page",
            "refresh",
            "packed",
            "links",
        ):
            yield self.request(path)
        yield scrapy.Request(f"{self.base}/missing")
        yield self.request("cookie/show?given", cookies={"given": "1"})
        yield self.request("missing?wanted", meta={"handle_httpstatus_list": [404]})
        yield scrapy.Request(f"{self.base.replace('127.0.0.1', 'localhost')}/offsite")
        for url in ((Path(self.folder) / "page.html").as_uri(), "data:,written"):
            yield scrapy.Request(url, meta={"allow_offsite": True}, errback=self.failed)

    def request(self, path, **options):
        return scrapy.Request(f"{self.base}/{path}", errback=self.failed, **options)

    def parse(self, response):
        depth = response.meta.get("depth")
        yield {"url": response.url, "status": response.status, "text": response.text[:100], "depth": depth}
        if response.url.endswith("/cookie/set"):
            yield self.request("cookie/show")
        if response.url.endswith("/links"):
            yield from response.follow_all(css="a", errback=self.failed)  # the same one twice, and one too long

    def failed(self, failure):
        yield {"url": failure.request.url, "error": failure.type.__name__}

    def closed(self, reason):
        crawler = self.crawler
        parts = {
            "extensions": crawler.extensions.middlewares,
            "downloader middlewares": crawler.engine.downloader.middleware.middlewares,
            "spider middlewares": crawler.engine.scraper.spidermw.middlewares,
            "item pipelines": crawler.engine.scraper.itemproc.middlewares,
            "others": [
                crawler.engine,
                crawler.engine.downloader,
                crawler.signals,
                crawler.stats,
                crawler.logformatter,
                crawler.request_fingerprinter,
            ],
        }
        run = {
            "reason": reason,
            "stats": crawler.stats.get_stats(),
            "settings": crawler.settings.copy_to_dict(),
            "components": {kind: [global_object_name(type(part)) for part in some] for kind, some in parts.items()},
        }
        (Path(self.folder) / "run.json").write_text(json.dumps(run, default=str))

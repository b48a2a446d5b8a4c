"""Scrapy with all that its public settings can take off a page whose URL is known: what isn't needed here is off.

python scrapy_tuned.py URLS OUTPUT CONCURRENCY
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Self
from urllib.parse import urljoin

import orjson
from fields import read
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.settings import default_settings
from scrapy_plain import ThreadsSpider


class LinesPipeline:
    """Writes items as JSON lines; Scrapy's feeds take five times as long."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("wb")  # noqa: SIM115 -- closed with the spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the pipeline."""
        return cls(crawler.settings["LINES"])

    def process_item(self, item: Any) -> Any:
        """Writes an item."""
        self._file.write(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE))
        return item

    def close_spider(self) -> None:
        """Closes the file."""
        self._file.close()


class TunedSpider(ThreadsSpider):
    """Joins links with the standard library: `response.urljoin` looks for a `<base>` first."""

    def parse(self, response: Any, **_: Any) -> Any:
        """Yields the page's item."""
        url = response.url
        yield read(response, url, lambda href: urljoin(url, href))


def off(names: dict[str, int]) -> dict[str, None]:
    """Returns a setting that switches components off."""
    return dict.fromkeys(names)


if __name__ == "__main__":
    process = AsyncCrawlerProcess(
        {
            "CONCURRENT_REQUESTS": int(sys.argv[3]),
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(sys.argv[3]),
            "CONCURRENT_ITEMS": 1,
            # Experimental, says Scrapy; it takes a quarter off a page, its handler on httpx adds to it.
            "DOWNLOAD_HANDLERS": {"http": "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"},
            "DOWNLOADER_MIDDLEWARES": off(default_settings.DOWNLOADER_MIDDLEWARES_BASE),
            "SPIDER_MIDDLEWARES": off(default_settings.SPIDER_MIDDLEWARES_BASE),
            "EXTENSIONS": off(default_settings.EXTENSIONS_BASE),
            "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
            "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
            "ITEM_PIPELINES": {LinesPipeline: 1},
            "LINES": sys.argv[2],
            "LOG_LEVEL": "INFO",
            "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
        }
    )
    process.crawl(TunedSpider, urls=Path(sys.argv[1]))
    process.start()

"""Scrapy's CrawlSpider over the same hosts, breadth-first by the settings that Scrapy's documentation gives.

python crawl_spider.py OUTPUT CONCURRENCY DELAY_SECONDS START_URL...
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response


class Manuals(CrawlSpider):
    """Follows every link within the hosts of its start pages; an item is a page's address and title."""

    name = "manuals"
    rules = (Rule(LinkExtractor(), callback="read", follow=True),)

    def parse_start_url(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """Yields the item of a start page."""
        return self.read(response)

    def read(self, response: Response) -> Iterator[dict[str, Any]]:
        """Yields the item of a page."""
        yield {"url": response.url, "title": response.css("title::text").get()}


if __name__ == "__main__":
    output, concurrency, delay_s, *start_urls = sys.argv[1:]
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": 64,
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(concurrency),
            "DOWNLOAD_DELAY": float(delay_s),
            "RANDOMIZE_DOWNLOAD_DELAY": False,
            "DEPTH_PRIORITY": 1,
            "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
            "FEEDS": {Path(output): {"format": "jsonlines", "encoding": "utf-8"}},
            "LOG_LEVEL": "INFO",
        }
    )
    hosts = [urlsplit(url).hostname for url in start_urls]
    process.crawl(Manuals, start_urls=start_urls, allowed_domains=hosts)
    process.start()

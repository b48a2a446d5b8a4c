"""Scrapy with its defaults, but for the number of requests at once and DEBUG lines for every page and item.

python scrapy_plain.py URLS OUTPUT CONCURRENCY
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fields import read
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class ThreadsSpider(Spider):
    """Reads the pages of a list."""

    name = "threads"
    urls: Path

    async def start(self) -> AsyncIterator[Any]:
        """Yields a request for each page."""
        for url in self.urls.read_text().split():
            yield Request(url)

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """Yields the page's item."""
        yield read(response, response.url, response.urljoin)


if __name__ == "__main__":
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": int(sys.argv[3]),
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(sys.argv[3]),
            "FEEDS": {Path(sys.argv[2]): {"format": "jsonlines", "encoding": "utf-8"}},
            "LOG_LEVEL": "INFO",
        }
    )
    process.crawl(ThreadsSpider, urls=Path(sys.argv[1]))
    process.start()

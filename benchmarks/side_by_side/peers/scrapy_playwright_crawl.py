"""scrapy-playwright as it comes: it renders each page in Chromium until its script has ended, and loads no images.

python scrapy_playwright_crawl.py URLS OUTPUT CONCURRENCY CHROMIUM SELECTOR
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fields import read
from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy_playwright.page import PageMethod

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response

HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"


class ThreadsSpider(Spider):
    """Reads the pages of a list."""

    name = "threads"
    urls: Path
    selector: str

    async def start(self) -> AsyncIterator[Any]:
        """Yields a request for each page."""
        waiting = [PageMethod("wait_for_selector", self.selector)]
        for url in self.urls.read_text().split():
            yield Request(url, meta={"playwright": True, "playwright_page_methods": waiting})

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """Yields the page's item."""
        yield read(response, response.url, response.urljoin)


def is_image(request: Any) -> bool:
    """Returns whether a request is for an image."""
    return bool(request.resource_type == "image")


if __name__ == "__main__":
    source, target, concurrency, chromium, done = sys.argv[1:]
    process = AsyncCrawlerProcess(
        {
            "CONCURRENT_REQUESTS": int(concurrency),
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(concurrency),
            "DOWNLOAD_DELAY": 0,
            "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
            "FEEDS": {Path(target): {"format": "jsonlines", "encoding": "utf-8"}},
            "LOG_LEVEL": "INFO",
            "PLAYWRIGHT_ABORT_REQUEST": is_image,
            "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": chromium, "args": ["--no-sandbox"]},
        }
    )
    process.crawl(ThreadsSpider, urls=Path(source), selector=done)
    process.start()

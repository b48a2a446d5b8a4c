"""crawlee's PlaywrightCrawler: it renders each page in Chromium until its script has ended, and loads no images.

python crawlee_playwright_crawl.py URLS OUTPUT CONCURRENCY CHROMIUM SELECTOR
"""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urljoin

import orjson
from crawlee import ConcurrencySettings
from crawlee.crawlers import PlaywrightCrawler, PlaywrightCrawlingContext, PlaywrightPreNavCrawlingContext
from crawlee.storage_clients import MemoryStorageClient
from fields import read
from parsel import Selector


async def crawl(urls: list[str], output: BinaryIO, concurrency: int, chromium: str, done: str) -> None:
    """Crawls them all."""
    crawler = PlaywrightCrawler(
        browser_type="chromium",
        browser_launch_options={"executable_path": chromium, "args": ["--no-sandbox"]},
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency, desired_concurrency=concurrency, max_concurrency=concurrency
        ),
        use_session_pool=False,
        configure_logging=False,
    )

    @crawler.pre_navigation_hook
    async def leave_out(context: PlaywrightPreNavCrawlingContext) -> None:
        await context.block_requests(url_patterns=[".png"])

    @crawler.router.default_handler
    async def handle(context: PlaywrightCrawlingContext) -> None:
        await context.page.wait_for_selector(done)
        url = context.request.url
        item = read(Selector(await context.page.content()), url, partial(urljoin, url))
        output.write(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE))

    await crawler.run(urls)


if __name__ == "__main__":
    source, target, number, program, selector = sys.argv[1:]
    with Path(target).open("wb") as items:
        asyncio.run(crawl(Path(source).read_text().split(), items, int(number), program, selector))

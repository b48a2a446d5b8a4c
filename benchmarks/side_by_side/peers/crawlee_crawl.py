"""crawlee's ParselCrawler with its impit client, its queue in memory.

python crawlee_crawl.py URLS OUTPUT CONCURRENCY
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
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.http_clients import ImpitHttpClient
from crawlee.storage_clients import MemoryStorageClient
from fields import read


async def crawl(urls: list[str], output: BinaryIO, concurrency: int) -> None:
    """Crawls them all."""
    crawler = ParselCrawler(
        http_client=ImpitHttpClient(),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency, desired_concurrency=concurrency, max_concurrency=concurrency
        ),
        use_session_pool=False,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        url = context.request.url
        item = read(context.selector, url, partial(urljoin, url))
        output.write(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE))

    await crawler.run(urls)


if __name__ == "__main__":
    with Path(sys.argv[2]).open("wb") as target:
        asyncio.run(crawl(Path(sys.argv[1]).read_text().split(), target, int(sys.argv[3])))

"""aiohttp and parsel, no framework: as many workers as requests may be in flight, one session, items as JSON lines.

python bare.py URLS OUTPUT CONCURRENCY
"""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from typing import BinaryIO
from urllib.parse import urljoin

import aiohttp
import orjson
from fields import read
from parsel import Selector


async def work(session: aiohttp.ClientSession, urls: list[str], output: BinaryIO) -> None:
    """Takes URLs from the list until it is empty."""
    while urls:
        url = urls.pop()
        async with session.get(url) as response:
            response.raise_for_status()
            body = await response.read()
        page = Selector(body=body, encoding=response.charset or "utf-8")
        output.write(orjson.dumps(read(page, url, partial(urljoin, url)), option=orjson.OPT_APPEND_NEWLINE))


async def crawl(urls: list[str], output: BinaryIO, concurrency: int) -> None:
    """Crawls them all."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:
        await asyncio.gather(*(work(session, urls, output) for _ in range(concurrency)))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="ascii") as source, open(sys.argv[2], "wb") as target:  # noqa: PTH123
        asyncio.run(crawl(source.read().split()[::-1], target, int(sys.argv[3])))

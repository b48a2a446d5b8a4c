"""aiohttp and no framework: as many workers as requests may be in flight, one session, items as JSON lines.

`bare_parsel.py` and `bare_turbohtml.py` run it, each with the parser that it is named after.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import aiohttp
import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[bytes, str, str], dict[str, Any]]


async def work(session: aiohttp.ClientSession, urls: list[str], output: BinaryIO, read_page: Reader) -> None:
    """Takes URLs from the list until it is empty."""
    while urls:
        url = urls.pop()
        async with session.get(url) as response:
            response.raise_for_status()
            body = await response.read()
        item = read_page(body, response.charset or "utf-8", url)
        output.write(orjson.dumps(item, option=orjson.OPT_APPEND_NEWLINE))


async def crawl(urls: list[str], output: BinaryIO, concurrency: int, read_page: Reader) -> None:
    """Crawls them all."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:
        await asyncio.gather(*(work(session, urls, output, read_page) for _ in range(concurrency)))


def main(read_page: Reader) -> None:
    """Crawls the list of the command line: `URLS OUTPUT CONCURRENCY`.

    Args:
        read_page: Returns the item of a page's bytes, their encoding and its URL.
    """
    source, output, concurrency = sys.argv[1:]
    urls = Path(source).read_text(encoding="ascii").split()
    with Path(output).open("wb") as target:
        asyncio.run(crawl(urls[::-1], target, int(concurrency), read_page))

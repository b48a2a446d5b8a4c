"""What does a page cost in the download handler alone, from the request to Scrapy's response?

    .venv/bin/python -m benchmarks.handlers --pages 10000 --rounds 5

The forum's pages of 11 kB from an nginx on one core; on the other a process for each run, with 64 requests in flight,
that only downloads: no engine, no middlewares, no parsing. The requests are made before the clock starts; the length of
every answer is checked. Handlers take turns; the figure is the process's own CPU time.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pycurl
from scrapy import Request
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.reactor import install_reactor
from scrapy.utils.test import get_crawler

from benchmarks.side_by_side import pages
from benchmarks.side_by_side.servers import Nginx
from crawler.download.curl_loop import CurlLoop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from scrapy.crawler import Crawler

    Get = Callable[[Request], Awaitable[int]]

HANDLERS = {
    "ours": "crawler.download.handler.CurlDownloadHandler",
    "Scrapy's, Twisted": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
    "Scrapy's, aiohttp": "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler",
}
ALONE, PYCURLS = "libcurl on our loop, no Scrapy", "libcurl on pycurl's loop, no Scrapy"
IN_FLIGHT = 64
SERVED = 1_000  # pages, asked for again and again
SETTINGS = {
    "ALLOW_PRIVATE_ADDRESSES": True,
    "DOWNLOAD_VERIFY_CERTIFICATES": True,
    "CONCURRENT_REQUESTS": IN_FLIGHT,
    "CONCURRENT_REQUESTS_PER_DOMAIN": IN_FLIGHT,
    "LOG_ENABLED": False,
}
HEADERS = {
    "User-Agent": "headroom/0",
    "Accept": "text/html",
    "Accept-Language": "en",
    "Accept-Encoding": "gzip, deflate, br, zstd",
}


def bare(start: Callable[[pycurl.Curl], Awaitable[Any]]) -> Get:
    """Returns a download by libcurl and nothing else."""
    idle: list[pycurl.Curl] = []
    headers = [f"{name}: {value}" for name, value in HEADERS.items()]

    async def get(request: Request) -> int:
        curl = idle.pop() if idle else pycurl.Curl()
        body: list[bytes] = []
        head: list[bytes] = []
        curl.setopt(pycurl.URL, request.url)
        curl.setopt(pycurl.HTTPHEADER, headers)
        curl.setopt(pycurl.HEADERFUNCTION, head.append)
        curl.setopt(pycurl.WRITEFUNCTION, body.append)
        curl.setopt(pycurl.NOSIGNAL, 1)
        await start(curl)
        idle.append(curl)
        return sum(map(len, body))

    return get


def handled(handler: Any) -> Get:
    """Returns a download by a handler of Scrapy's kind."""

    async def get(request: Request) -> int:
        return len((await handler.download_request(request)).body)

    return get


async def download(name: str, crawler: Crawler, requests: list[tuple[Request, int]]) -> float:
    """Downloads all and returns the CPU time, in s.

    Raises:
        RuntimeError: An answer has another length than its page.
    """
    if name == ALONE:
        get = bare(CurlLoop().start)
    elif name == PYCURLS:
        get = bare(pycurl.AsyncCurlMulti().perform)
    else:
        handler = build_from_crawler(load_object(HANDLERS[name]), crawler)
        get = handled(handler)
    left: Iterator[tuple[Request, int]] = iter(requests)

    async def work() -> None:
        for request, length in left:
            if await get(request) != length:
                raise RuntimeError(f"{request.url} has another length")

    begun_s = time.process_time()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    taken_s = time.process_time() - begun_s
    if name in HANDLERS:
        await handler.close()
    return taken_s


def run_one(name: str, url: str, number: int) -> None:
    """One run, in a process of its own; prints the CPU time in s."""
    os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor

    clock: Any = reactor  # its types know no loop
    loop: asyncio.AbstractEventLoop = clock._asyncioEventloop  # noqa: SLF001
    crawler = get_crawler(settings_dict=SETTINGS)
    crawler.spider = crawler._create_spider("benchmark")  # noqa: SLF001 -- handlers want one
    paths = [pages.path(page) for page in range(SERVED)]
    lengths = [len(pages.html(pages.thread(page)).encode()) for page in range(SERVED)]
    asked = itertools.islice(itertools.cycle(zip(paths, lengths, strict=True)), number)
    requests = [
        (Request(url + path, headers=HEADERS, meta={"download_timeout": 60.0}), length) for path, length in asked
    ]
    gc.freeze()  # the requests are no garbage of the handler's
    task = loop.create_task(download(name, crawler, requests))
    task.add_done_callback(lambda _task: clock.stop())
    clock.run()
    print(json.dumps(task.result()))


def main() -> None:
    """Runs all of them in turn and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000, help="of one run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        run_one(options.one, options.url, options.pages)
        return
    taken_us: dict[str, list[float]] = {name: [] for name in (ALONE, PYCURLS, *HANDLERS)}
    with tempfile.TemporaryDirectory() as folder:
        pages.write(Path(folder) / "pages", SERVED)
        with Nginx(Path(folder), Path(folder) / "pages") as nginx:
            words = [sys.executable, "-m", "benchmarks.handlers", "--url", nginx.url, "--pages", str(options.pages)]
            for _round, name in itertools.product(range(options.rounds), taken_us):
                done = subprocess.run([*words, "--one", name], stdout=subprocess.PIPE, check=True)
                taken_us[name].append(json.loads(done.stdout) / options.pages * 1e6)
    print(f"| handler | CPU us a page: median [least..most] of {options.rounds} |\n|---|---|")
    for name, taken in taken_us.items():
        print(f"| {name} | {statistics.median(taken):.0f} [{min(taken):.0f}..{max(taken):.0f}] |")


if __name__ == "__main__":
    main()

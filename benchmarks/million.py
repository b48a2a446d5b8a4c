"""Does a worker's memory stay as it is over a million pages?

    make bench-million                          # 1,000,000 pages: some 25 minutes, 10 GB of disk
    make bench-million ARGS='--pages 20000'

One consumer with its default settings crawls them all from nginx and writes them to files, as in `side_by_side`. Once a
second its resident memory is looked at, that of its children with it, and held against how many pages nginx has served
by then. The first tenth fills what a worker keeps, such as its caches. From the second on nothing should grow, so the
last tenth's median is held against the second's. Exit status 1 says that it is larger by more than 2 %, or that a page
was lost.

There are 10,000 files. Each is served at many addresses, so a page's text comes again after 10,000 pages, and its URL
never does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import statistics
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import psutil

from benchmarks.side_by_side import ours, pages
from benchmarks.side_by_side.contenders import CRAWLER_CORE, SERVERS_CORE
from benchmarks.side_by_side.install import CACHE, ROOT, our_python, run_folder
from benchmarks.side_by_side.servers import REPEAT, Nginx, Served
from crawler.base.errors import HeadroomError
from testbed.servers import Process, Redis

if TYPE_CHECKING:
    from pathlib import Path

PAGES, MOST_PAGES = 1_000_000, 1_000_000  # a page's address has six digits
FILES = 10_000
FILL_PAGES = 20_000  # offered at a time, so that this process stays small
LOOK_SECONDS = 1.0
TENTHS = 10
GROWTH_MAX = 1.02  # of the last tenth's median over the second's
PAGE_SECONDS, START_SECONDS = 0.03, 90.0  # a run's limit: a page takes 1 ms on a quiet machine
MEBIBYTE = 1 << 20
READ_BYTES = 1 << 20


class Look(NamedTuple):
    """What was seen at one moment: pages served, resident bytes and processor seconds of the worker."""

    served: int
    memory_bytes: int
    cpu_s: float


def main() -> int:
    """Returns 0; 1 where memory grew, or a page was lost."""
    parser = argparse.ArgumentParser(prog="make bench-million", description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=PAGES, help=f"how many (default and most {PAGES:,})")
    number = min(parser.parse_args().pages, MOST_PAGES)
    os.sched_setaffinity(0, [SERVERS_CORE])
    try:
        pages.write(CACHE / "pages", FILES)
        looks = crawl(number)
    except HeadroomError as error:
        print(error, file=sys.stderr)
        return 1
    return report(looks, number)


def crawl(number: int) -> list[Look]:
    """Crawls so many pages; returns what was seen meanwhile.

    Raises:
        HeadroomError: The worker failed, took too long, or lost a page. Its folder stays, with the logs in it.
    """
    folder = run_folder("million")
    with Nginx(folder, CACHE / "pages", rewrite=REPEAT) as nginx, Redis(folder) as redis:
        for first in range(0, number, FILL_PAGES):
            part = range(first, min(first + FILL_PAGES, number))
            asyncio.run(ours.fill(redis.url, "content", part, nginx.url))
        items = folder / "items"
        words = ours.words(our_python(), "consumer", {"ITEM_SINKS": "files", "ITEMS_DIR": items})
        worker = Process("worker", words, folder, environment={"REDIS_URL": redis.url}, directory=ROOT)
        with Served(nginx) as served, contextlib.ExitStack() as running:
            running.callback(worker.kill)
            worker.start()
            os.sched_setaffinity(worker.pid, [CRAWLER_CORE])
            looks = watch(worker, served, number)
            if worker.wait(0):
                raise HeadroomError(f"the worker failed; {worker.last_log_line()}")
        asyncio.run(ours.check_ledger(redis.url, "content", number))
        if (delivered := count_lines(items)) != number:
            raise HeadroomError(f"{delivered} items were delivered, expected {number}")
    shutil.rmtree(folder)
    return looks


def watch(worker: Process, served: Served, number: int) -> list[Look]:
    """Looks at a worker until it ends.

    Raises:
        HeadroomError: It hasn't ended in time.
    """
    looks: list[Look] = []
    deadline = time.monotonic() + START_SECONDS + PAGE_SECONDS * number
    while worker.running:
        if time.monotonic() > deadline:
            raise HeadroomError(f"the worker still runs; {worker.last_log_line()}")
        with contextlib.suppress(psutil.NoSuchProcess):
            parent = psutil.Process(worker.pid)
            memory_bytes = sum(one.memory_info().rss for one in (parent, *parent.children(recursive=True)))
            times = parent.cpu_times()
            cpu_s = times.user + times.system + times.children_user + times.children_system
            looks.append(Look(served.look(), memory_bytes, cpu_s))
        time.sleep(LOOK_SECONDS)
    return looks


def count_lines(folder: Path) -> int:
    """Returns how many lines the files of items have."""
    lines = 0
    for path in folder.glob("*.jsonl"):
        with path.open("rb") as file:
            while part := file.read(READ_BYTES):
                lines += part.count(b"\n")
    return lines


def report(looks: list[Look], number: int) -> int:
    """Prints a table; returns 1 where memory grew by more than GROWTH_MAX allows, or too little was seen to say."""
    tenths: list[list[Look]] = [[] for _ in range(TENTHS)]
    for look in looks:
        if 0 < look.served < number:
            tenths[TENTHS * look.served // number].append(look)
    print("| tenth | memory, MiB: median | most | CPU us a page |\n|--:|--:|--:|--:|")
    for tenth, some in enumerate(tenths, 1):
        if not some:
            print(f"tenth {tenth} was never seen: take more pages", file=sys.stderr)
            return 1
        first, last = some[0], some[-1]
        each_us = 1e6 * (last.cpu_s - first.cpu_s) / max(last.served - first.served, 1)
        most = max(look.memory_bytes for look in some) / MEBIBYTE
        print(f"| {tenth} | {median_bytes(some) / MEBIBYTE:.1f} | {most:.1f} | {each_us:.0f} |")
    growth = median_bytes(tenths[-1]) / median_bytes(tenths[1])
    print(f"\n{number:,} pages: the last tenth by the second is {growth:.3f}; flat is <= {GROWTH_MAX}")
    return int(growth > GROWTH_MAX)


def median_bytes(looks: list[Look]) -> float:
    """Returns the median of the memory."""
    return statistics.median(look.memory_bytes for look in looks)


if __name__ == "__main__":
    sys.exit(main())

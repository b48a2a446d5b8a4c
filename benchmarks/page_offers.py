"""What do the offers of a search page cost its worker and Redis?

    .venv/bin/python -m benchmarks.page_offers --pages-at-once 16

A page has 20 links, 57 % of them new and the others from pages shortly before, as in crawls. With `--combinations` the
pages are found by different words, so that what is known may have been found by others of them. The worker's part is
all from its seeds to Redis's answer, by the processor time of this process; Redis's part is that of its main thread.
Rounds tell a busy machine from slow code: the least is what the work takes where nothing else runs.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from benchmarks.frontier_rig import KNOWN_PERCENT, OWNERS, PLAN, SITE, URL_CHARACTERS, Meter, Rig
from crawler.base.events import Events
from crawler.base.models import Seed
from crawler.servers.redis_full import RedisFull
from crawler.worker.claiming.offers import Offers
from testbed.servers import Redis as Server

if TYPE_CHECKING:
    from collections.abc import Iterator

LINKS = 20  # of a page
HOSTS = 50
LATELY = 2_000  # links before; of these are those that aren't new
ROUND_PAGES = 200


class Stats(Counter[str]):
    """Counts as a crawl's statistics do."""

    def inc_value(self, name: str, number: int = 1) -> None:
        """Adds to a number."""
        self[name] += number


def pages(combinations: int) -> Iterator[list[Seed]]:
    """Yields the seeds that pages lead to, without end, each page's found by one of so many combinations of words."""
    newest = 0
    while True:
        numbers = []
        for _ in range(LINKS):
            is_known = newest > LINKS and random.randrange(100) < KNOWN_PERCENT
            newest += not is_known
            numbers.append(random.randint(max(1, newest - LATELY), newest) if is_known else newest)
        urls = (f"http://www{number % HOSTS:03}.example.org/thread/{number}/" for number in numbers)
        words = ("flood", f"dam{random.randrange(combinations) or ''}")
        yield [Seed(url.ljust(URL_CHARACTERS, "x"), PLAN, SITE, keywords=words) for url in urls]


async def measure(server: Server, rounds: int, at_once: int, combinations: int) -> None:
    """Prints what a page cost in each round, and how many of its offers were only counted."""
    rig, stats, found = Rig(server, durable=False), Stats(), pages(combinations)
    leases: Any = [SimpleNamespace(owner=OWNERS[0])]
    parts: dict[str, Any] = {"redis_full": RedisFull(), "stopping": asyncio.Event(), "events": Events(), "stats": stats}
    offers = Offers({"nav": rig.queue, "content": rig.queue}, leases, **parts)
    worker_us, redis_us = [], []
    for _ in range(rounds):
        round_pages = iter([next(found) for _ in range(ROUND_PAGES)])
        meter = Meter(rig.client)
        meter.start()
        began_s = time.process_time()

        async def offer(left: Iterator[list[Seed]] = round_pages) -> None:
            for seeds in left:
                await offers.offer(seeds, edition=1)

        await asyncio.gather(*(offer() for _ in range(at_once)))
        worker_us.append((time.process_time() - began_s) / ROUND_PAGES * 1e6)
        meter.stop(ROUND_PAGES)
        redis_us.append(meter.cost.cpu_us)
    print("| CPU us of a page's 20 offers | least | median |\n|---|--:|--:|")
    for name, each in (("worker", worker_us), ("Redis", redis_us)):
        print(f"| {name} | {min(each):.0f} | {statistics.median(each):.0f} |")
    print(", ".join(f"{name.removeprefix('frontier/')} {number:,}" for name, number in stats.items()))
    await rig.redis.aclose()


def main() -> None:
    """Measures against a server of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40, help=f"of {ROUND_PAGES} pages")
    parser.add_argument("--pages-at-once", type=int, default=16, help="whose offers are under way at the same time")
    parser.add_argument("--combinations", type=int, default=1, help="of words, by which pages are found")
    options = parser.parse_args()
    random.seed(1)
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        asyncio.run(measure(server, options.rounds, options.pages_at_once, options.combinations))


if __name__ == "__main__":
    main()

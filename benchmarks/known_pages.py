"""What is spared by a worker's memory of known pages: links that it counts, instead of asking Redis for each.

    .venv/bin/python -m benchmarks.known_pages                    # some two minutes
    .venv/bin/python -m benchmarks.known_pages --remembered 1000 20000 64000 250000

A crawl's links, without its pages: four workers take ten pages of a host in turn, and offer what each of them links to:
of the host that has waited longest, or of the first of those in line that they prefer (`crawler.cluster.node_shares`).
How many pages a host has follows Zipf's law. A page links to its host's menu, to its neighbours in a list and to
pages of other hosts, most often of the largest. Offers go through the real `KnownPages` and `Queue` to a real Valkey
that keeps an append-only file; its CPU is that of its main thread, so it says something on a busy machine, too.

Every size begins with an empty Redis and sees the same links.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.frontier_rig import OWNERS, PLAN, SITE, Meter, Rig
from crawler.base.models import Seed
from crawler.cluster.node_shares import Members
from crawler.frontier.offer import OfferTerms, Proposal
from crawler.worker.claiming.preference import LINE_OF_WORKER
from crawler.worker.offers.known_pages import KnownPages
from testbed.servers import Redis as Server

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HOSTS, WORKERS, PAGES_OF_TURN = 1_000, 4, 10
PAGES = 200_000  # of all hosts
MENU, NEIGHBOURS, ELSEWHERE = 20, 15, 5  # links of a page
TERMS = OfferTerms(confirmed=True)


def pages_by_host(pages: int) -> list[int]:
    """Returns how many pages each host has, the largest first."""
    weights = [1 / rank for rank in range(1, HOSTS + 1)]
    return [max(PAGES_OF_TURN, round(pages * weight / sum(weights))) for weight in weights]


def turns(pages: int, members: Members | None, links_of: random.Random) -> Iterator[tuple[int, list[list[str]]]]:
    """Yields who takes each turn, and the links of its pages. Hosts wait in line, and again behind all after a turn.

    Args:
        members: Has each worker take the first host of the line's beginning that it prefers; None: the first one.
    """
    sizes = pages_by_host(pages)
    waiting = list(range(len(sizes)))
    next_page = [0] * len(sizes)
    for worker in itertools.cycle(range(WORKERS)):
        if not waiting:
            return
        line = waiting[: WORKERS * LINE_OF_WORKER] if members else []
        ours = (at for at, host in enumerate(line) if members and members.first_worker(name(host)) == f"{worker}")
        host = waiting.pop(next(ours, 0))
        of_turn = range(next_page[host], min(next_page[host] + PAGES_OF_TURN, sizes[host]))
        yield worker, [links(host, page, sizes, links_of) for page in of_turn]
        next_page[host] = of_turn.stop
        if of_turn.stop < sizes[host]:
            waiting.append(host)


def name(host: int) -> str:
    """Returns a host's name."""
    return f"www{host}.example.org"


def links(host: int, page: int, sizes: Sequence[int], links_of: random.Random) -> list[str]:
    """Returns the addresses that a page links to."""
    menu = [(host, number) for number in range(MENU)]
    neighbours = [(host, min(page + number, sizes[host] - 1)) for number in range(1, NEIGHBOURS + 1)]
    others = links_of.choices(range(len(sizes)), weights=sizes, k=ELSEWHERE)
    elsewhere = [(other, int(sizes[other] * links_of.random() ** 2)) for other in others]
    return [f"https://{name(at)}/{number}/a-page" for at, number in (*menu, *neighbours, *elsewhere)]


async def crawl(server: Server, remembered: int, pages: int, members: Members | None) -> None:
    """Offers the links of all pages, and prints what that cost."""
    rig = Rig(server, durable=True)
    meter = Meter(rig.client)
    known = [KnownPages(rig.queue, remembered) for _ in range(WORKERS)]
    counted, cpu_s = Counter[str](), 0.0
    meter.start()
    for worker, of_turn in turns(pages, members, random.Random(1)):
        for urls in of_turn:
            proposals = [Proposal.of(Seed(url, PLAN, SITE)) for url in dict.fromkeys(urls)]
            begun_s = time.process_time()
            _answers, hits = await known[worker].offer(0, OWNERS[worker], proposals, TERMS)
            cpu_s += time.process_time() - begun_s
            counted += Counter(pages=1, links=len(proposals), hits=hits)
    meter.stop(counted["pages"])
    taken = "own hosts first" if members else "any host"
    print(
        f"| {remembered:,} | {taken} | {counted['links']:,} "
        f"| {100 * counted['hits'] / counted['links']:.1f} % "
        f"| {meter.cost.cpu_us:.1f} | {1e6 * cpu_s / counted['pages']:.0f} |"
    )
    await rig.redis.aclose()


async def main() -> None:
    """Prints a line for each size."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--remembered", type=int, nargs="+", default=[1_000, 20_000, 64_000, 250_000])
    options.add_argument("--pages", type=int, default=PAGES)
    chosen = options.parse_args()
    nodes = [str(worker) for worker in range(WORKERS)]
    members = Members(dict.fromkeys(nodes, 1.0), {node: [node] for node in nodes})
    print("| pages remembered | workers take | links | counted only | Redis CPU us a page | worker's CPU us a page |")
    print("|--:|---|--:|--:|--:|--:|")
    for remembered, preferring in itertools.product(chosen.remembered, (None, members)):
        with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
            await crawl(server, remembered, chosen.pages, preferring)


if __name__ == "__main__":
    asyncio.run(main())

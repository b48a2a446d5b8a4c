"""What does CONFIRM_OFFERS cost a page? Offers on a Redis Cluster, in turns confirmed and not.

    .venv/bin/python -m benchmarks.confirmed_offers --offers 1000

A cluster of three primaries with `appendfsync everysec`, of a Redis that knows WAITAOF (7.2, or Valkey), first without
replicas, then each with one. An offer has the links of one page. Pages end one after the other, as on a quiet cluster,
where each has to wait for the disk; then many at once, each at a moment of its own, where others have it written, too.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from functools import partial
from itertools import count
from pathlib import Path

from crawler.base.models import Seed
from crawler.frontier.keys import Keys
from crawler.frontier.queue import Queue
from crawler.servers.redis import redis_async
from crawler.servers.redis_retry import until_redis_answers
from testbed.servers.redis_cluster import NODES, RedisCluster

LINKS = 20  # of a page
PAGES = (1, 50)  # that offer at once
PARTITIONS = 64  # so that each node has some
PAUSE_SECONDS = 1.0  # the longest one before each of many offers at once


async def measure(redis_url: str, offers: int, pages: int) -> dict[bool, list[float]]:
    """Returns how many ms each offer took, confirmed or not."""
    redis = redis_async({"REDIS_URL": redis_url, "REDIS_CLUSTER": True})
    queue = Queue(redis, Keys("bench"), "content", partitions=PARTITIONS)
    numbers, took_ms, room = count(), {True: [], False: []}, asyncio.Semaphore(pages)

    async def offer(*, confirmed: bool) -> None:
        async with room:
            await asyncio.sleep(random.uniform(0, PAUSE_SECONDS) if pages > 1 else 0)
            host = f"h{random.randrange(1_000)}.test"
            seeds = [Seed(f"http://{host}/{next(numbers)}", "p", "s") for _ in range(LINKS)]
            began_s = time.perf_counter()
            await queue.offer(seeds, confirmed=confirmed)
            took_ms[confirmed].append((time.perf_counter() - began_s) * 1_000)

    everywhere = [Seed(f"http://h{number}.test/", "p", "s") for number in range(1_000)]
    # Then Redis knows the script, and the client where the slots and their replicas are.
    await until_redis_answers("the cluster", partial(queue.offer, everywhere, confirmed=True))
    await asyncio.gather(*(offer(confirmed=number % 2 == 0) for number in range(2 * offers)))
    await redis.aclose()
    return took_ms


def report(redis_url: str, offers: int, what: str) -> None:
    """Prints what was measured, a line for confirmed offers and one for others."""
    for pages in PAGES:
        for confirmed, took_ms in asyncio.run(measure(redis_url, offers, pages)).items():
            took_ms.sort()
            print(
                f"{what}, {pages} at once, {'confirmed' if confirmed else 'not'}: {len(took_ms)} offers, ms: "
                f"least {took_ms[0]:.1f}, median {statistics.median(took_ms):.1f}, "
                f"99 % within {took_ms[int(len(took_ms) * 0.99)]:.1f}, longest {took_ms[-1]:.1f}"
            )


def main() -> None:
    """Measures without replicas, then with one for each primary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--offers", type=int, default=1_000, help="of each kind")
    offers = parser.parse_args().offers
    with tempfile.TemporaryDirectory() as folder:
        cluster = RedisCluster(Path(folder))
        try:
            cluster.start()
            report(cluster.url, offers, "without replicas")
            for primary in cluster.nodes[:NODES]:
                cluster.add_replica(primary)
            report(cluster.url, offers, "one replica each")
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()

"""How long does an idle worker take from an offer to the request on the wire?

    .venv/bin/python benchmarks/wakeup.py --offers 20

A real consumer waits with nothing due; a seed is offered, and the forum's access log says when its request came in.
Two times are printed: from the moment Redis was sent the offer, and from the start of the `scrapy seeds offer` command,
which includes the start of Python.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.forum import content, kinds
from testbed.servers import ForumServer, Process, Redis

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS = 30
PAUSE_SECONDS = 1.5  # between two offers: the site's delay of a second is over, and the worker idle, by then


def arrived(log: Path, path: str) -> float:
    """Waits for a path in the access log; returns when its request came in, in s since the epoch."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        for line in log.read_text().splitlines():
            entry = json.loads(line)
            if entry["path"] == path:
                return float(entry["start"])
        time.sleep(0.002)
    raise TimeoutError(path)


def offer_by_command(redis_url: str, url: str) -> float:
    """Offers by the command; returns when it was started."""
    begun = time.time()
    environment = {**os.environ, "REDIS_URL": redis_url}
    words = [sys.executable, "-m", "scrapy", "seeds", "offer", url]
    subprocess.run(words, env=environment, check=True, capture_output=True)
    return begun


def offer_directly(redis_url: str, url: str) -> float:
    """Offers from this process; returns when Redis was sent the offer."""
    import asyncio

    from crawler.base.models import Seed
    from crawler.frontier.keys import Keys
    from crawler.frontier.queue import Queue
    from crawler.servers.redis import redis_async

    async def offer() -> float:
        redis = redis_async({"REDIS_URL": redis_url})
        await redis.ping()
        begun = time.time()
        await Queue(redis, Keys("hr"), "content").offer([Seed(url, "manual", "web")])
        await redis.aclose()
        return begun

    return asyncio.run(offer())


def measure(offer: Callable[[str, str], float], redis: Redis, forum: ForumServer, paths: list[str]) -> list[float]:
    """Returns the seconds from each offer to its request."""
    times = []
    for path in paths:
        time.sleep(PAUSE_SECONDS)
        begun = offer(redis.url, forum.url + path)
        times.append(arrived(forum.access_log, path) - begun)
    return times


def main() -> None:
    """Starts the servers and one consumer, and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--offers", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Redis(folder) as redis, ForumServer(folder) as forum:
            settings = {"ALLOW_PRIVATE_ADDRESSES": 1, "NODE_CPU_LIMIT_PERCENT": 100}
            settings |= {"ITEMS_DIR": folder / "items", "FILES_STORE": folder / "media"}
            words = [sys.executable, "-m", "scrapy", "crawl", "consumer"]
            words += [word for key, value in settings.items() for word in ("-s", f"{key}={value}")]
            consumer = Process("consumer", words, folder, environment={"REDIS_URL": redis.url})
            consumer.start()
            try:
                plain = [thread.path for thread in content.threads() if thread.kind is kinds.PLAIN]
                paths = plain[: 2 * options.offers + 1]
                measure(offer_by_command, redis, forum, paths[:1])  # the site's definition, robots.txt
                for label, offer, some in (
                    ("offer sent to Redis -> request", offer_directly, paths[1 : options.offers + 1]),
                    ("scrapy seeds offer started -> request", offer_by_command, paths[options.offers + 1 :]),
                ):
                    times = sorted(1000 * seconds for seconds in measure(offer, redis, forum, some))
                    print(f"{label}: median {statistics.median(times):.1f} ms, min {times[0]:.1f}, max {times[-1]:.1f}")
            finally:
                consumer.stop()


if __name__ == "__main__":
    main()

"""Does it slow a crawl down that somebody watches it?

    .venv/bin/python -m benchmarks.monitor_watchers          # 8 runs of 3,000 pages: 5 minutes; --runs, --pages

One consumer crawls pages from nginx and writes them to files, as in `side_by_side`, with three browsers at a monitor of
it, and in the next run with none; then the other way round. A browser holds the stream of events and asks for the
overview with each of them, as the monitor's script does. Speed is pages per second of processor time of the worker and
of Redis, which says something on a busy machine, too; and by the clock, between the first tenth of the pages and the
last.
What the monitor and its browsers take is told apart: the operator's machine pays for that, or a core that is free.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import resource
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.monitor_pages import Monitor
from benchmarks.side_by_side import ours, pages
from benchmarks.side_by_side.install import CACHE, ROOT
from benchmarks.side_by_side.servers import REPEAT, Nginx, Served
from crawler.servers.redis import redis_sync
from testbed.servers import Process, Redis

PAGES, RUNS, BROWSERS = 3_000, 8, 3
FILES = 10_000
LOOK_SECONDS = 0.1
RUN_SECONDS = 300.0


class Run(NamedTuple):
    """What one run brought.

    Attributes:
        by_cpu: Pages per second of processor time.
        by_clock: Pages per second.
        watching_cpu_percent: Of a processor, what the monitor and its browsers took.
        events: What the browsers were sent.
    """

    by_cpu: float
    by_clock: float
    watching_cpu_percent: float
    events: int


class Browsers:
    """Browsers that watch the overview, each in a thread, from when they are made until `close`."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self.events = 0
        self._connections = [http.client.HTTPConnection(urlsplit(monitor.address).netloc) for _ in range(BROWSERS)]
        self._threads = [threading.Thread(target=self._watch, args=(one,)) for one in self._connections]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Ends them."""
        for connection in self._connections:
            connection.sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _watch(self, connection: http.client.HTTPConnection) -> None:
        connection.request("GET", "/events", headers={"cookie": self._monitor.cookie})
        stream = connection.getresponse()
        with contextlib.suppress(http.client.IncompleteRead):
            while line := stream.readline():
                if line.startswith(b"event:"):
                    self.events += 1
                    self._monitor.get("/")


def crawl(number: int, *, watched: bool) -> Run:
    """Crawls so many pages once."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="watchers-", dir=CACHE)))
        nginx = stack.enter_context(Nginx(folder, CACHE / "pages", rewrite=REPEAT))
        redis = stack.enter_context(Redis(folder))
        asyncio.run(ours.fill(redis.url, "content", range(number), nginx.url))
        browsers = None
        if watched:
            monitor = Monitor(redis, folder)
            stack.callback(monitor.close)
            browsers = Browsers(monitor)
            stack.callback(browsers.close)
        words = ours.words(sys.executable, "consumer", {"ITEM_SINKS": "files", "ITEMS_DIR": folder / "items"})
        worker = Process("worker", words, folder, environment={"REDIS_URL": redis.url}, directory=ROOT)
        stack.callback(worker.kill)
        worker_s, redis_s, watching_s = _children_s(), _redis_s(redis), time.process_time()
        begun = time.monotonic()
        worker.start()
        with Served(nginx) as served:
            by_clock = _speed_of(worker, served, number)
        assert worker.wait(RUN_SECONDS) == 0, worker.last_log_line()
        lasted_s = time.monotonic() - begun
        cpu_s = _children_s() - worker_s + _redis_s(redis) - redis_s
        watching = 100 * (time.process_time() - watching_s) / lasted_s
        asyncio.run(ours.check_ledger(redis.url, "content", number))
    return Run(number / cpu_s, by_clock, watching, browsers.events if browsers else 0)


def _speed_of(worker: Process, served: Served, number: int) -> float:
    """Returns the pages per second of a worker, while it comes from a tenth of them to nine; waits for its end."""
    looks: list[tuple[float, int]] = []
    while worker.running:
        looks.append((time.monotonic(), served.look()))
        time.sleep(LOOK_SECONDS)
    steady = [look for look in looks if number <= 10 * look[1] <= 9 * number]
    (first_s, first), (last_s, last) = steady[0], steady[-1]
    return (last - first) / (last_s - first_s)


def _redis_s(server: Redis) -> float:
    """Returns the processor time that Redis has taken so far."""
    with redis_sync({"REDIS_URL": server.url}) as client:
        used: Any = client.info("cpu")
    return float(used["used_cpu_user"] + used["used_cpu_sys"])


def _children_s() -> float:
    """Returns the processor time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Runs, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--runs", type=int, default=RUNS)
    options = parser.parse_args()
    pages.write(CACHE / "pages", FILES)
    runs: dict[bool, list[Run]] = {True: [], False: []}
    for number in range(options.runs):
        watched = number % 4 in (0, 3)  # in pairs, the other way round each time
        runs[watched].append(crawl(options.pages, watched=watched))
        print(f"{'watched' if watched else 'alone':8}", runs[watched][-1])
    print("\n| | pages per CPU second, median | largest | pages per second, median | largest |\n|---|--:|--:|--:|--:|")
    for watched, some in runs.items():
        columns = [statistics.median(run.by_cpu for run in some), max(run.by_cpu for run in some)]
        columns += [statistics.median(run.by_clock for run in some), max(run.by_clock for run in some)]
        print(f"| {'watched' if watched else 'alone'} | " + " | ".join(f"{value:.1f}" for value in columns) + " |")


if __name__ == "__main__":
    main()

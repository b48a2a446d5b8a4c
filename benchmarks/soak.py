"""Does the crawler lose anything, or break a rule, while everything around it fails at random for as long as you like?

    .venv/bin/python -m benchmarks.soak --minutes 60

Overlapping plans search an endless forum (soak_forum.py), of whose pages a part fails for a while. Workers, which are
real `scrapy crawl` processes, are killed, frozen and asked to end; Redis, Mongo and Kafka are killed and started again;
plans are paused and resumed (soak_faults.py). When the time is up, the faults stop, and what came out is held against
what the forum has and what it was asked (soak_audit.py). Exit status 1: something was lost, or a rule was broken.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import redis
import yaml

from benchmarks.soak_audit import Rules, audit, report
from benchmarks.soak_faults import Faults
from benchmarks.soak_forum import LINKS, SoakForum, fate, thread_numbers, thread_url
from crawler.base.errors import UnavailableError
from crawler.frontier.keys import Keys
from testbed.servers import Kafka, Mongo, Redis
from testbed.servers.process import ROOT, Process

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTS = 6
WORKER_SESSION_SECONDS = 5
WORKERS = ("producer", "consumer", "consumer")
SEARCH_PAGES = 4  # of each plan and word
BACKLOG_SEEDS = 250  # with fewer that wait, two more plans are submitted
LOOK_SECONDS = 1.0
DONE_SECONDS = 900  # that all may take to end after the last fault; a host that failed is left alone for 300
COMMAND_SECONDS = 120
COMMAND_TRIES = 20
SAY_SECONDS = 60  # between two lines of what is going on
SITES: dict[str, dict[str, Any]] = {  # the same hosts for both: the stricter of the two counts
    "calm": {"delay": 0.1, "concurrency": 2, "burst": 5},
    "brisk": {"delay": 0.05, "concurrency": 3, "burst": 10},
}
RULES = Rules(delay_s=0.1, concurrency=2)


class Soak:
    """One run: its servers, workers and plans, and what is known of them from outside.

    Args:
        folder: For all that is written.
        seed: Of everything that is random.
    """

    def __init__(self, folder: Path, seed: int, stack: ExitStack) -> None:
        self.folder, self.random = folder, random.Random(seed)
        self.forum = stack.enter_context(SoakForum(folder, seed, HOSTS))
        self.servers: dict[str, Redis | Mongo | Kafka] = {}
        for kind in (Redis, Mongo, Kafka):
            try:
                server = kind(folder)
                server.start()
            except UnavailableError as error:
                if kind is Redis:
                    raise
                print(f"{kind.__name__} is left out: {error}", flush=True)
            else:
                stack.callback(server.kill)
                self.servers[kind.__name__.lower()] = server
        self.redis = redis.Redis.from_url(self.servers["redis"].url, socket_timeout=5)
        stack.callback(self.redis.close)
        self.keys = Keys("hr")
        self.environment = self._environment()
        self.settings = {
            "ALLOW_PRIVATE_ADDRESSES": 1,
            "SESSION_SECONDS": WORKER_SESSION_SECONDS,
            "SITES_DIR": folder / "sites",
            "ITEMS_DIR": folder / "items",
            "FILES_STORE": folder / "media",
            "ITEM_SINKS": ",".join(["files", *(name for name in ("mongo", "kafka") if name in self.servers)]),
            "TOPIC_PREFIX": "soak.",
            "ROBOTS_RETRY_SECONDS": 5,
            "NODE_CPU_LIMIT_PERCENT": 100,
            "NODE_MEMORY_LIMIT_PERCENT": 100,
        }
        self._write_sites()
        self.plans: dict[str, list[str]] = {}  # name -> its words
        self.workers: list[Process] = []
        self.deaths: list[str] = []  # of workers that ended by themselves
        self.memory: list[tuple[float, str, int]] = []  # when, worker, bytes
        self.longest_gap_s = 0.0
        self._moved_at, self._ended = time.monotonic(), 0
        self._stack, self._number = stack, 0
        self._background, self._tasks = stack.enter_context(ThreadPoolExecutor(4)), list[Future[None]]()

    def _environment(self) -> dict[str, str]:
        values = {"REDIS_URL": self.servers["redis"].url, "MONGO_DATABASE": "soak", "PYTHONPATH": str(ROOT)}
        for name, server in self.servers.items():
            if isinstance(server, Mongo):
                values["MONGO_URL"] = server.url
            elif isinstance(server, Kafka):
                values["KAFKA_BOOTSTRAP_SERVERS"] = server.bootstrap
            print(f"{name}: process {server.pid}", flush=True)
        return values

    def _write_sites(self) -> None:
        (self.folder / "sites").mkdir()
        for name, politeness in SITES.items():
            site = {
                "name": name,
                "search": {
                    "url": f"http://127.0.0.1:{self.forum.ports[0]}/search?q={name}-{{query}}&page={{page}}",
                    "paging": {"kind": "page"},
                },
                "results": {"links": "css:a.result"},
                "content": {
                    "title": "css:h1",
                    "content": {"select": "css:.text", "required": True},
                    "author": "css:.author",
                    "published": "css:time",
                    "images": "css:img",
                },
                "politeness": politeness,
            }
            (self.folder / "sites" / f"{name}.yaml").write_text(yaml.safe_dump(site))

    # -- Commands and workers -----------------------------------------------------------------------------------------

    def _words(self, *words: object) -> list[str]:
        options = [part for name, value in self.settings.items() for part in ("-s", f"{name}={value}")]
        return [sys.executable, "-m", "scrapy", *map(str, words), *options]

    def command(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Runs a `scrapy` command to its end."""
        environment = {**os.environ, **self.environment}
        return subprocess.run(
            self._words(*words),
            cwd=ROOT,
            env=environment,
            text=True,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    def json(self, *words: object) -> Any:
        """Returns what a command prints as JSON; commands are tried again while Redis may be away."""
        for _ in range(5):
            done = self.command(*words, "--json")
            if done.stdout:
                return json.loads(done.stdout)
            time.sleep(1)
        raise UnavailableError(f"{words}: {done.stderr[-500:]}")

    def start_worker(self, spider: str) -> None:
        """Starts a worker; its User-Agent is its name."""
        self._number += 1
        name = f"{spider}-{self._number}"
        words = [*self._words("crawl", spider), "-s", f"USER_AGENT={name}"]
        worker = Process(name, words, self.folder / "logs", environment=self.environment, directory=ROOT)
        self._stack.callback(worker.kill)
        worker.start()
        self.workers.append(worker)

    def until_done(self, *words: object) -> None:
        """Runs a command that must go well once Redis is there; plan commands can be repeated.

        Raises:
            UnavailableError: It failed again and again.
        """
        for _ in range(COMMAND_TRIES):
            done = self.command(*words)
            if done.returncode == 0:
                return
            time.sleep(1)
        raise UnavailableError(f"{words}: {done.stderr[-500:]}")

    def in_background(self, function: Callable[..., None], *arguments: object) -> Future[None]:
        """Calls a function that waits for commands."""
        future = self._background.submit(function, *arguments)
        self._tasks.append(future)
        return future

    def end_background(self) -> None:
        """Waits for all that runs in the background.

        Raises:
            UnavailableError: A command failed.
        """
        for task in self._tasks:
            task.result()

    def submit(self) -> None:
        """Submits two plans that share a word, and so a part of their pages."""
        number = len(self.plans) // 2
        shared, words = f"w{number}-both", {f"a{number}": f"w{number}-a", f"b{number}": f"w{number}-b"}
        for name, word in words.items():
            plan = {
                "name": name,
                "sites": list(SITES),
                "pages": SEARCH_PAGES,
                "keywords": {"word": {"optional": [word, shared]}},
            }
            file = self.folder / f"{name}.yaml"
            file.write_text(yaml.safe_dump(plan))
            self.until_done("plan", "submit", file)
            self.plans[name] = [word, shared]

    # -- What is seen from outside ------------------------------------------------------------------------------------

    def counts(self) -> Counter[str] | None:
        """Returns the seeds by state, of both frontiers; None while Redis is away."""
        sums: Counter[str] = Counter()
        try:
            for frontier in ("nav", "content"):
                found: Any = self.redis.hgetall(self.keys.partition(0).of(frontier, "counts"))
                sums.update({name.decode(): int(number) for name, number in found.items()})
        except redis.RedisError:
            return None
        return sums

    def look(self) -> Counter[str] | None:
        """Notes progress, memory, and workers that have ended by themselves, which are started again."""
        counts, now = self.counts(), time.monotonic()
        if counts is not None:
            ended = counts["finished"] + counts["failed"]
            if ended != self._ended or not counts["ready"] + counts["executing"]:
                self.longest_gap_s = max(self.longest_gap_s, now - self._moved_at)
                self._ended, self._moved_at = ended, now
        for worker in list(self.workers):
            if not worker.running:
                self.workers.remove(worker)
                self.deaths.append(f"{worker.name} ended with {worker.wait(1)}; {worker.last_log_line()}")
                self.start_worker(worker.name.partition("-")[0])
                continue
            try:
                tree = [psutil.Process(worker.pid), *psutil.Process(worker.pid).children(recursive=True)]
                self.memory.append((time.time(), worker.name, sum(one.memory_info().rss for one in tree)))
            except psutil.Error:
                continue
        return counts

    def threads(self) -> dict[int, set[str]]:
        """Returns the number of every thread that the plans find -> the plans."""
        found: dict[int, set[str]] = {}
        for plan, words in self.plans.items():
            for word in words:
                for site in SITES:
                    for page in range(1, SEARCH_PAGES + 1):
                        for number in thread_numbers(f"{site}-{word}", page):
                            found.setdefault(number, set()).add(plan)
        return found

    def good(self) -> dict[int, str]:
        """Returns number -> address of every thread that must come out."""
        return {
            number: thread_url(self.forum.ports, number)
            for number in self.threads()
            if fate(number) in ("good", "moved")
        }


def run(soak: Soak, minutes: float) -> tuple[Faults, bool]:
    """Crawls under faults for so long, then until all is done; returns the faults, and whether all ended."""
    for spider in WORKERS:
        soak.start_worker(spider)
    faults = Faults(soak)
    submitting: Future[None] | None = None
    ends_at, said_at = time.monotonic() + 60 * minutes, 0.0
    while time.monotonic() < ends_at:
        counts = soak.look()
        is_short = counts is not None and counts["ready"] + counts["executing"] < BACKLOG_SEEDS
        if is_short and (submitting is None or submitting.done()):
            submitting = soak.in_background(soak.submit)
        faults.step()
        if time.monotonic() - said_at > SAY_SECONDS:
            said_at = time.monotonic()
            states = dict(counts) if counts is not None else "Redis is away"
            print(f"{time.strftime('%H:%M:%S')} {len(soak.plans)} plans, {states}, {dict(faults.injected)}", flush=True)
        time.sleep(LOOK_SECONDS)
    faults.end()
    soak.end_background()
    print("the faults are over; waiting for the end of the crawl", flush=True)
    deadline = time.monotonic() + DONE_SECONDS
    while time.monotonic() < deadline:
        counts = soak.look()
        if counts is not None and not counts["ready"] and not counts["executing"] and not counts["parked"]:
            return faults, True
        time.sleep(LOOK_SECONDS)
    return faults, False


def main() -> int:
    """Runs it and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the faults; it is printed")
    parser.add_argument("--folder", type=Path, help="where to write all; it stays there")
    options = parser.parse_args()
    print(f"seed {options.seed}, {LINKS} links on a search page", flush=True)
    with ExitStack() as stack:
        if options.folder:
            options.folder.mkdir(parents=True)
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        soak = Soak(folder, options.seed, stack)
        faults, is_done = run(soak, options.minutes)
        found = audit(soak, faults, RULES, is_done=is_done)
        report(soak, faults, found, options)
    return 1 if found.broken else 0


if __name__ == "__main__":
    sys.exit(main())

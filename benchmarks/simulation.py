"""How does the frontier bear many nodes? Up to 1,000 simulated workers and a million hosts on one real Redis.

    .venv/bin/python -m benchmarks.simulation            # 100 nodes, 50,000 hosts: four minutes
    .venv/bin/python -m benchmarks.simulation --full     # 1,000 nodes, 1,000,000 hosts: some ten, and 2 GB of memory

Everything above the network is real (simulated_nodes.py says what isn't), and so is time: the scripts' clock is
Redis's, which nothing here touches. So that one machine can bear a thousand nodes, each is slow: their headrooms
together are about `--pages` pages a second. Slow nodes send small batches: a page costs Redis more than with fast ones.
Three questions, one after the other:

crowd       Nodes of unequal headroom; later a tenth as many more join. Each node's pages against its headroom,
            politeness by the hosts' own account, and how long a joining node takes to carry its share.
scarce      More nodes than hosts, and nodes that join late: does everybody get turns, and what does asking in vain
            cost?
idle        Nothing is due: what do nodes cost Redis?
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import multiprocessing
import resource
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis as sync

from benchmarks import simulated_report as report
from benchmarks.simulated_nodes import Account, Spec, live
from crawler import sites
from crawler.base.models import Seed
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.queue import Queue
from crawler.plans.registry import Registry
from crawler.servers.redis import redis_async
from testbed.servers import Redis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

PROCESSES = 2
PARTITIONS = 8  # of the crowd
OTHERS_PERCENT = (0, 0, 25, 50, 75)  # what else runs on every fifth node: headrooms of 90 to 15 % of a processor
MEAN_HEADROOM = 0.6  # of a processor, with those
LATENCY_SECONDS = 0.3
DELAY_SECONDS = 1.0  # of the crowd's hosts
BUSY_HOSTS, BUSY_PAGES = 500, 40  # so that politeness binds; the crowd's other hosts have one page
SCARCE_DELAY_SECONDS = 0.2
SCARCE_NODES_A_HOST = 2.5
START_SECONDS = 4  # until processes have built their nodes
IDLE_FROM_SECONDS = 10  # after the last has joined: by then it has asked in vain
OPEN_FILES = 20_000  # a node has three connections


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is simulated."""

    nodes: int
    hosts: int
    pages_per_s: float
    join_s: float  # the nodes that are there from the begin join over that
    crowd_s: float
    scarce_s: float
    idle_s: float


class Simulation:
    """One Redis, and what is asked of it."""

    def __init__(self, server: Redis, scale: Scale) -> None:
        self._server, self._scale = server, scale
        self._pool = ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn"))
        self._client: Any = sync.Redis(port=server.port)
        self._prefixes = (f"sim{number}" for number in itertools.count())

    def crowd(self) -> None:
        """Prints what nodes of unequal headroom get, how joining ones come in, whether hosts were asked politely."""
        scale, prefix, began = self._scale, next(self._prefixes), time.monotonic()
        pages = {host: BUSY_PAGES if host < BUSY_HOSTS else 1 for host in range(scale.hosts)}
        self._fill(prefix, PARTITIONS, DELAY_SECONDS, pages)
        print(
            f"\ncrowd: {scale.nodes} nodes, later {scale.nodes // 10} more, {PARTITIONS} partitions, "
            f"{scale.hosts:,} hosts, filled in {time.monotonic() - began:.0f} s"
        )
        mean, joins_s = scale.pages_per_s / scale.nodes / MEAN_HEADROOM, scale.crowd_s / 2
        specs = [
            Spec(f"n{one}", mean * (1 + one % 3) / 2, OTHERS_PERCENT[one % 5], scale.join_s * one / scale.nodes)
            for one in range(scale.nodes)
        ] + [Spec(f"late{one}", mean, OTHERS_PERCENT[one % 5], joins_s, late=True) for one in range(scale.nodes // 10)]
        account, cpu_s = self._live(prefix, PARTITIONS, specs, scale.crowd_s)
        report.headrooms(account, specs, joins_s, scale.crowd_s)
        report.joining(account, specs, joins_s, scale.crowd_s)
        report.claims(account)
        report.cost(account, cpu_s, scale.crowd_s)
        report.politeness(account, DELAY_SECONDS)
        self._client.flushall()

    def scarce(self) -> None:
        """Prints what equal nodes get where there are fewer turns than nodes."""
        scale, prefix = self._scale, next(self._prefixes)
        nodes, hosts = scale.nodes, int(scale.nodes / SCARCE_NODES_A_HOST)
        self._fill(
            prefix, 1, SCARCE_DELAY_SECONDS, dict.fromkeys(range(hosts), int(scale.scarce_s / SCARCE_DELAY_SECONDS))
        )
        joins_s = scale.scarce_s / 3
        specs = [
            Spec(f"n{one}", 50, joins_s=scale.join_s * one / nodes)
            if one % 10
            else Spec(f"n{one}", 50, 0, joins_s, late=True)
            for one in range(nodes)
        ]
        print(f"\nscarce: {nodes} nodes, a tenth of them late, 1 partition, {hosts} hosts with a turn each")
        account, cpu_s = self._live(prefix, 1, specs, scale.scarce_s)
        # Until a worker knows how quick a host is, it counts the delay from the answer.
        possible = hosts / (LATENCY_SECONDS + SCARCE_DELAY_SECONDS)
        report.evenness(account, specs, (joins_s, scale.scarce_s), possible)
        report.claims(account)
        report.cost(account, cpu_s, scale.scarce_s)
        report.politeness(account, SCARCE_DELAY_SECONDS)
        self._client.flushall()

    def idle(self) -> None:
        """Prints what nodes cost while nothing is due."""
        nodes, prefix = self._scale.nodes, next(self._prefixes)
        self._fill(prefix, 1, 0, {})
        marks: list[tuple[float, float, Counter[str]]] = []

        def look() -> None:
            marks.append((time.monotonic(), self._cpu_s(), self._commands()))

        join_s = self._scale.join_s
        from_s = join_s + IDLE_FROM_SECONDS
        until_s = from_s + self._scale.idle_s
        specs = [Spec(f"n{one}", 50, joins_s=join_s * one / nodes) for one in range(nodes)]
        self._live(prefix, 1, specs, until_s + 1, {from_s: look, until_s: look})
        (since, cpu_s, commands), (until, cpu_after_s, after) = marks
        minutes = nodes * (until - since) / 60
        spent = {name: calls / minutes for name, calls in (after - commands).most_common()}
        print(f"\nidle: {nodes} nodes, 1 partition, {until - since:.0f} s")
        print(
            f"  commands a minute and node: {sum(spent.values()):.0f} "
            f"({', '.join(f'{name} {calls:.1f}' for name, calls in spent.items())})"
        )
        busy = (cpu_after_s - cpu_s) / (until - since)
        print(f"  Redis: {100 * busy:.1f} % of a core for all, {1e6 * busy / nodes:.0f} us a second for each")
        self._client.flushall()

    def _live(
        self,
        prefix: str,
        partitions: int,
        specs: Sequence[Spec],
        seconds: float,
        looks: dict[float, Callable[[], None]] | None = None,
    ) -> tuple[Account, float]:
        """Lets nodes live; returns their account, and Redis's CPU seconds. `looks`: what to call when, in s."""
        values = {"REDIS_URL": self._server.url, "KEY_PREFIX": prefix, "FRONTIER_PARTITIONS": partitions}
        begin = time.monotonic() + START_SECONDS
        parts = [(specs[n::PROCESSES], values, begin, begin + seconds, LATENCY_SECONDS) for n in range(PROCESSES)]
        tasks = [self._pool.submit(run, live, *part) for part in parts]
        time.sleep(max(0.0, begin - time.monotonic()))
        before = self._cpu_s()
        for at_s, look in (looks or {}).items():
            time.sleep(max(0.0, begin + at_s - time.monotonic()))
            look()
        time.sleep(max(0.0, begin + seconds - time.monotonic()))
        cpu_s = self._cpu_s() - before
        account = Account()
        for task in tasks:
            account.add(task.result())
        return account, cpu_s

    def _fill(self, prefix: str, partitions: int, delay_s: float, pages: dict[int, int]) -> None:
        """Offers pages: `pages` says how many of each host."""
        asyncio.run(save_site(self._server.url, prefix, partitions, delay_s))
        hosts = list(pages.items())
        self._everywhere(offer, [(self._server.url, prefix, partitions, hosts[n::PROCESSES]) for n in range(PROCESSES)])

    def _everywhere(self, function: Any, parts: Iterable[Sequence[Any]]) -> list[Any]:
        tasks = [self._pool.submit(run, function, *part) for part in parts]
        return [task.result() for task in tasks]

    def _cpu_s(self) -> float:
        info = self._client.info("cpu")
        return float(info["used_cpu_sys_main_thread"] + info["used_cpu_user_main_thread"])

    def _commands(self) -> Counter[str]:
        """Returns how often each command was run, those within scripts and ours here left out."""
        stats = self._client.info("commandstats")
        sent = ("evalsha", "eval", "hgetall", "expire", "subscribe", "ping", "set")
        return Counter({name: stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in sent})


def run(function: Any, *arguments: Any) -> Any:
    """Runs a coroutine function in a process of the pool."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, most), most))
    return asyncio.run(function(*arguments))


async def save_site(url: str, prefix: str, partitions: int, delay_s: float) -> None:
    """Writes the one site."""
    text = f"name: s\ncontent: {{content: css:p}}\npoliteness: {{delay: {delay_s}, concurrency: 1, burst: 10}}\n"
    async with redis_async({"REDIS_URL": url}) as redis:
        await Registry(redis, Keys(prefix), partitions).save_sites((sites.parse(text, "s.yaml"),))


async def offer(url: str, prefix: str, partitions: int, hosts: Iterable[tuple[int, int]]) -> None:
    """Offers so many pages of each host."""
    async with redis_async({"REDIS_URL": url}) as redis:
        queue = Queue(redis, FrontierConfig(Keys(prefix), partitions), "content")
        seeds = (Seed(f"http://h{host}.example/{page}", "plan", "s") for host, pages in hosts for page in range(pages))
        while batch := list(itertools.islice(seeds, 5_000)):
            await queue.offer(batch)


def main() -> None:
    """Starts a Redis and asks the questions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="1,000 nodes and 1,000,000 hosts")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--hosts", type=int, help="of the crowd")
    parser.add_argument("--pages", type=float, default=300.0, help="pages a second of the crowd, together")
    parser.add_argument("--only", default="crowd,scarce,idle", help="some of these")
    options = parser.parse_args()
    nodes, hosts = (1_000, 1_000_000) if options.full else (100, 50_000)
    seconds = (30, 180, 90, 60) if options.full else (3, 80, 24, 15)
    scale = Scale(options.nodes or nodes, options.hosts or hosts, options.pages, *seconds)
    with tempfile.TemporaryDirectory() as folder, Redis(Path(folder)) as server:
        simulation = Simulation(server, scale)
        for name in options.only.split(","):
            getattr(simulation, name)()


if __name__ == "__main__":
    main()

"""How long does each page of the monitor take, and what does the monitor need of Redis, at ten million seeds?

    .venv/bin/python -m benchmarks.monitor_pages             # ten million seeds on a million hosts: 7 GB
    .venv/bin/python -m benchmarks.monitor_pages --seeds 200000 --hosts 20000

The frontier is that of `large_frontier.py`; beside it 200 simulated nodes with two workers each, their load of two
days, the history and the busiest hosts of a month, 200 sites, an audit that is full, and what each plan brought. A
signed-in browser without a screen then asks for each page again and again, once with figures that are read for each
request, as nobody but the first browser after a pause ever waits for, and once with those at hand. Processor time is
that of the monitor and its browser, and of Redis's main thread; it says something on a busy machine, too.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import random
import re
import statistics
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.parse import quote, urlencode, urlsplit

import orjson
from scrapy.settings import Settings

from benchmarks.frontier_rig import PLAN, SITE, seeds_of
from benchmarks.large_frontier import HOSTS, OTHER_PLAN, Large
from crawler import config, sites
from crawler.base.models import Seed
from crawler.monitor.server import Listening, MonitorServer
from crawler.monitor.users import UserFile
from crawler.monitor.web import NAVIGATION
from crawler.plans.registry import Registry
from crawler.telemetry import history, host_history, newest_items, node_history, plan_yield
from crawler.telemetry.history import DAY
from crawler.telemetry.host_history import HostCounts
from crawler.telemetry.node_history import NodeSample
from testbed.servers import Redis as Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEEDS, NODES, SITES, ROUNDS = 10_000_000, 200, 200, 20
WORKERS = 2  # of a node
STEPS = sorted({*history.RESOLUTIONS, *history.COARSE}, reverse=True)  # the longest first
AUDIT_LINES = 5_000
COMBINATIONS = 500
ITEMS = 10_000
PASSWORD = "a long enough password"  # noqa: S105 -- of this benchmark alone
SESSION_SECONDS = 3_600
TIMEOUT_SECONDS = 60
REPORT = {
    "version": "0.2.0", "frontier": "content", "carrying": 20, "pages_per_minute": 600, "room": 12, "cpu_percent": 61.5,
    "memory_percent": 40.0, "own_cpu_percent": 30.0, "own_memory_percent": 4.5, "egress_down_s": 0, "drained": False,
    "memory_limit_percent": 90, "cpu_limit_percent": 80, "first_batch": 5, "sinks_down": [], "why_no_claims": "",
    "why_no_browser": "", "next_s": 60,
}  # fmt: skip
SITE_FILE = (
    "name: {}\nbase: http://{}.example.org\nsearch: {{url: '{{base}}/s?q={{query}}'}}\nresults: {{links: 'css:a'}}"
)


class Shown:
    """All that the monitor shows beside the frontier itself."""

    def __init__(self, large: Large) -> None:
        self._rig = large.rig
        self._client, self._keys = large.rig.client, large.rig.keys
        self._now_s = int(time.time())

    async def fill(self) -> None:
        """Writes it."""
        await Registry(self._rig.redis, self._keys, 1).save_sites(
            tuple(sites.parse(SITE_FILE.format(f"site{n}", f"www{n:07}"), "site.yaml") for n in range(SITES))
        )
        self._workers()
        for write in (self._load, self._work, self._hosts, self._audit, self._yield, self._items):
            before = self._rig.used_bytes()
            write()
            print(f"{(self._rig.used_bytes() - before) / 1e6:5.2f} MB of Redis: {write.__doc__}")

    def _workers(self) -> None:
        for node in range(NODES):
            for process in range(WORKERS):
                owner = f"node-{node}:{process + 1}:1700000000:abcdef"
                report = orjson.dumps({**REPORT, "time": self._now_s})
                self._client.hset(self._keys.node(f"node-{node}"), owner, report)
                self._client.zadd(self._rig.part.sessions, {owner: (self._now_s + SESSION_SECONDS) * 1000})
            self._client.zadd(self._keys.node_names, {f"node-{node}": self._now_s})

    def _load(self) -> None:
        """The load of 200 nodes over two days."""
        for resolution in node_history.STEPS:
            for begin in range(self._now_s - resolution.kept_seconds, self._now_s, resolution.seconds):
                sample = NodeSample(*(random.uniform(0, 100) for _ in range(4)), 12, 20, 600)
                node_history.add(self._client, self._keys, "node-0", begin, sample)
        stored = self._client.hgetall(self._keys.node_history("node-0"))
        for node in range(1, NODES):
            self._client.hset(self._keys.node_history(f"node-{node}"), mapping=stored)

    def _work(self) -> None:
        """What was done over a month, at falling resolution."""
        names = [f"site:site{n}:{word}" for n in range(SITES) for word in ("finished", "failed")]
        counts = dict.fromkeys(("pages", "items", "bytes", "status:200", "status:404", "failed:timeout", *names), 1_000)
        for now_s in self._moments():
            history.add(self._client, self._keys, now_s, counts)
        self._drop_old(self._keys.history)

    def _hosts(self) -> None:
        """The busiest hosts of a month."""
        for now_s in self._moments():
            hosts = {f"www{random.randrange(10**6):07}.example.org": HostCounts(90, 10**7, 9) for _ in range(100)}
            host_history.add(self._client, self._keys, now_s, hosts)
        self._drop_old(self._keys.host_history)

    def _audit(self) -> None:
        """An audit of 5,000 actions."""
        for line in range(AUDIT_LINES):
            entry = [self._now_s * 1000 - line, "somebody", "plan-pause", f"plan-{line}", "done"]
            self._client.zadd(self._keys.audit, {orjson.dumps(entry): entry[0]})

    def _yield(self) -> None:
        """What 500 combinations of two plans brought."""
        for plan in (PLAN, OTHER_PLAN):
            for number in range(COMBINATIONS):
                seed = Seed(
                    "http://a.example.org/", plan, SITE, keywords=("洪水", f"word {number}"), page=number % 9 + 1
                )
                counts = plan_yield.counts_of_search(seed, 20, 12) | plan_yield.counts_of_item(seed)
                plan_yield.add(self._client, self._keys, plan, counts)

    def _items(self) -> None:
        """The newest items of 200 sites, as many as there is room for."""
        bytes_max = config.NEWEST_ITEMS_MEGABYTES.default * 10**6
        for number in range(ITEMS):
            site, when = f"site{number % SITES}", datetime.fromtimestamp(self._now_s - number, UTC)
            item = {
                "id": f"item-{number}", "resource": site, "url": f"http://www{number:07}.example.org/{number}",
                "time": when.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "title": f"Title {number}",
                "content": " ".join(f"{random.getrandbits(32):x}" for _ in range(100)), "plan": PLAN,
            }  # fmt: skip
            newest_items.add(self._client, self._keys, site, [orjson.dumps(item)], bytes_max=bytes_max)

    def _moments(self) -> Iterator[int]:
        """Yields a moment of each step of each resolution, the latest at last."""
        for resolution in STEPS:
            kept_s = min(resolution.kept_seconds, 30 * DAY)
            yield from range(self._now_s - kept_s, self._now_s + 1, resolution.seconds)

    def _drop_old(self, key_of: Callable[[int, int], str]) -> None:
        """Deletes the short steps of moments for which only long ones would still be there."""
        for now_s in self._moments():
            for one in STEPS:
                if self._now_s - now_s > one.kept_seconds + one.seconds:
                    self._client.delete(key_of(one.seconds, now_s // one.seconds * one.seconds))


class Monitor:
    """A monitor in a thread of this process, and a browser without a screen that is signed in.

    Attributes:
        address: Where it listens.
        cookie: Of the browser.
    """

    def __init__(self, server: Server, folder: Path) -> None:
        settings = Settings()
        settings.setmodule("crawler.settings")
        settings.setdict({"REDIS_URL": server.url, "KEY_PREFIX": "hr", "FRONTIER_PARTITIONS": 1})
        users = UserFile(str(folder / "users.json"))
        users.put("ann", "operator", PASSWORD)
        self._server = MonitorServer(
            settings, users, Listening.checked("127.0.0.1:0", tls_cert="", tls_key="", proxy="")
        )
        self.address = self._server.address
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._server.serve(),))
        self._thread.start()
        self.cookie = ""
        answer = self._ask("POST", "/login", urlencode({"name": "ann", "password": PASSWORD}))
        self.cookie = str(answer.headers["set-cookie"]).partition(";")[0]

    def get(self, path: str) -> str:
        """Returns a page."""
        answer = self._ask("GET", path)
        text = answer.read().decode()
        assert answer.status == http.HTTPStatus.OK, f"{path}: {answer.status} {text}"
        return text

    def close(self) -> None:
        """Ends it."""
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(TIMEOUT_SECONDS)
        self._thread.join(TIMEOUT_SECONDS)

    def _ask(self, method: str, path: str, body: str | None = None) -> Any:
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=TIMEOUT_SECONDS)
        headers = {"cookie": self.cookie, "accept": "text/html", "sec-fetch-site": "same-origin"}
        connection.request(method, path, body, headers)
        return connection.getresponse()


def _pages() -> list[str]:
    """Returns the pages that the navigation names, and one of each thing that has a page of its own."""
    url = next(seeds_of(1, run=1)).url
    named = [path for path, _key in NAVIGATION if path != "/seed"]
    of_one = ("/node?name=node-7", f"/plan?name={PLAN}", "/site?name=site7", "/host?name=www000000.example.org")
    return [*named, *of_one, f"/seed?url={quote(url, safe='')}", "/audit", "/nodes.json", "/hosts.csv"]


def _time_pages(monitor: Monitor, large: Large, rounds: int) -> list[tuple[float, float, float, float]]:
    """Returns of each page, in ms: the least and median time, and the median processor time of monitor and Redis."""
    rows = []
    for path in _pages():
        took: list[tuple[float, float, float]] = []
        for _ in range(rounds):
            redis_ms, own_s, begun = large.longest.cpu_ms(), time.process_time(), time.perf_counter()
            monitor.get(path)
            wall_ms = (time.perf_counter() - begun) * 1000
            own_ms = (time.process_time() - own_s) * 1000
            took.append((wall_ms, own_ms, large.longest.cpu_ms() - redis_ms))
        walls, owns, of_redis = zip(*took, strict=True)
        rows.append((min(walls), statistics.median(walls), statistics.median(owns), statistics.median(of_redis)))
    return rows


async def measure(seeds: int, hosts: int, rounds: int) -> None:
    """Fills a Redis, and prints what the monitor takes of it and how long its pages take, as Markdown."""
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        large = Large(server, seeds, hosts)
        await large.fill()
        await Shown(large).fill()
        monitor = await asyncio.to_thread(Monitor, server, Path(folder))
        try:
            for title, patched in (
                ("figures read for each request", {"READ_SECONDS": 0.0, "COST_FACTOR": 0, "ACTIVITY_SECONDS": 0.0}),
                ("figures at hand", {"READ_SECONDS": 3_600.0, "PAUSE_SECONDS_MAX": 3_600.0}),
            ):
                with mock.patch.multiple("crawler.monitor.gatherer", **patched):
                    monitor.get("/")
                    rows = await asyncio.to_thread(_time_pages, monitor, large, rounds)
                print(f"\n| page, {title} | least, ms | median, ms | CPU of the monitor, ms | of Redis, ms |")
                print("|---|--:|--:|--:|--:|")
                for path, row in zip(_pages(), rows, strict=True):
                    name = re.sub(r"\?.*", "", path)
                    print(f"| `{name}` | " + " | ".join(f"{value:.1f}" for value in row) + " |")
        finally:
            await asyncio.to_thread(monitor.close)
        await large.rig.redis.aclose()


def main() -> None:
    """Reads the options and measures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    random.seed(1)
    asyncio.run(measure(options.seeds, options.hosts, options.rounds))


if __name__ == "__main__":
    main()

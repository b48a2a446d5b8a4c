"""A hostile server on the wire: one worker meets all of it at once, each page ends as its line says."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import redis
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_cases import CASES, FINISH
from hostile.hostile_wire_server import Host

from crawler.demo.servers import Process

ROOT = Path(__file__).parents[2]
# Settings of the download handlers that must hold.
HANDLERS = {"http11": {}}
CAP_BYTES = 4 * 1024 * 1024
TIMEOUT_S, PAGE_S = 3, 9  # a redirect takes the second of its host's delay
SETTINGS = {
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "NODE_CPU_LIMIT_PERCENT": 100,
    "NODE_MEMORY_LIMIT_PERCENT": 100,
    "FIRST_BATCH": 500,  # all at once
    "CONCURRENT_REQUESTS": 500,
    "MAX_ATTEMPTS": 1,
    "DOWNLOAD_TIMEOUT": TIMEOUT_S,
    "DOWNLOAD_MAXSIZE": CAP_BYTES,
    "PAGE_SECONDS": PAGE_S,
}
LATE_S = 8.0  # a hundred hostile hosts on two cores: so much later than its limit a page may end
PATIENCE_S = 60.0
MOST_GROWTH_BYTES = 150 * 1024 * 1024  # of the worker's peak memory, over all cases at the same time
TROUBLE = re.compile(r"Traceback|\] (ERROR|CRITICAL)|Unhandled|callback-error|download-error")


def environment(redis_server, **more):
    return {
        "REDIS_URL": redis_server.url,
        "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
        "MONGO_URL": "mongodb://127.0.0.1:1",
        **more,
    }


class Worker:
    """A consumer in a process of its own, and what operators ask about it."""

    def __init__(self, redis_server, folder, settings, **variables):
        with contextlib.closing(redis.Redis(port=redis_server.port)) as client:
            client.flushall()
        self.folder = folder
        self._settings = SETTINGS | {"ITEMS_DIR": folder / "items", "FILES_STORE": folder / "media"} | settings
        self._environment = environment(redis_server, **variables)
        self.process = Process(
            "consumer", self._words("crawl", "consumer"), folder, environment=self._environment, directory=ROOT
        )

    @property
    def peak_bytes(self):
        """The most memory it ever had, as the kernel knows."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    @property
    def log(self):
        return self.process.log.read_text()

    def run(self, *arguments, **options):
        """Runs a command to its end; returns what it prints as JSON."""
        done = subprocess.run(
            self._words(*arguments, "--json"),
            cwd=ROOT,
            env=os.environ | self._environment,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=True,
            **options,
        )
        return json.loads(done.stdout)

    def crawl(self, urls):
        """Offers pages and returns how each ended."""
        self.run("seeds", "offer", "-", input="\n".join(urls))
        deadline = time.monotonic() + PATIENCE_S
        while (total := self.run("ledger")["total"])["ready"] or total["executing"]:
            assert time.monotonic() < deadline, f"still at it: {total}\n{self.log[-3_000:]}"
            time.sleep(0.2)
        failed = {one["url"]: one["reason"] for one in self.run("seeds", "list", "--limit", "1000")["seeds"]}
        return {url: failed.get(url, FINISH) for url in urls}

    def items(self):
        """Returns the items by URL."""
        lines = [line for file in (self.folder / "items").glob("*.jsonl") for line in file.read_bytes().splitlines()]
        return {item["url"]: item for item in map(json.loads, lines)}

    def _words(self, command, *arguments):
        options = [word for key, value in self._settings.items() for word in ("-s", f"{key}={value}")]
        return [sys.executable, "-m", "scrapy", command, *options, *arguments]


@contextlib.contextmanager
def hosts(*descriptions):
    """Runs hosts, given by their arguments."""
    with contextlib.ExitStack() as running:
        started = [Host(*one) if isinstance(one, tuple) else Host(**one) for one in descriptions]
        for host in started:
            running.callback(host.close)
        yield started


@pytest.fixture(scope="module", params=HANDLERS.values(), ids=HANDLERS.keys())
def met(request, redis_server, tmp_path_factory):
    """What came of it, when one worker met all cases at the same time; a good page before and after."""
    good = ({"script": lambda _path: [answer()]},) * 2
    cases = [{"script": case.script, "robots": case.robots} for case in CASES]
    worker = Worker(redis_server, tmp_path_factory.mktemp("hostile-wire"), request.param)
    with hosts(*good, *cases) as (before, after, *bad), worker.process as process:
        first = worker.crawl([before.page])
        peak_before = worker.peak_bytes
        ended = worker.crawl([host.page for host in bad])
        last = worker.crawl([after.page])
        peak_after = worker.peak_bytes
        yield SimpleNamespace(
            ended={case.name: ended[host.page] for case, host in zip(CASES, bad, strict=True)},
            good=[*first.values(), *last.values()],
            growth_bytes=peak_after - peak_before,
            hosts={case.name: host for case, host in zip(CASES, bad, strict=True)},
            lives=process.running,
            log=worker.log,
            items=worker.items(),
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_ends_as_it_says_and_in_time(met, case):
    assert met.ended[case.name] == case.ends
    limit_s = PAGE_S if case.ends == "page-timeout" else TIMEOUT_S
    asked = met.hosts[case.name].asked
    assert asked
    if case.ends == "page-timeout":
        assert asked[-1].ended - asked[0].begun < limit_s + LATE_S
    for one in asked:
        assert one.ended is not None, "the connection is still open"
        assert one.ended - one.begun < limit_s + LATE_S


def test_the_worker_lives_on_in_bounded_memory(met):
    assert met.lives
    assert met.good == [FINISH] * 2
    assert met.growth_bytes < MOST_GROWTH_BYTES


def test_nothing_that_a_server_says_is_an_error_of_ours(met):
    assert not TROUBLE.search(met.log), [line for line in met.log.splitlines() if TROUBLE.search(line)][:5]


def test_what_finished_is_a_page(met):
    finished = [host.url for name, host in met.hosts.items() if met.ended[name] == FINISH]
    for url in finished:
        item = next(item for item in met.items.values() if item["url"].startswith(url + "/"))
        assert "long enough to be one" in item["content"], url

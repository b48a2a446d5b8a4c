"""A consumer in a process of its own, with short limits, and what operators ask about it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import redis
from hostile.hostile_wire_cases import FINISH
from hostile.hostile_wire_server import Host

from testbed.servers import Process

ROOT = Path(__file__).parents[2]
CAP_BYTES = 4 * 1024 * 1024
TIMEOUT_S, PAGE_S = 3, 7
SETTINGS = {
    "SITES_DIR": Path(__file__).with_name("sites"),
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "NODE_CPU_LIMIT_PERCENT": 100,
    "NODE_MEMORY_LIMIT_PERCENT": 100,
    "FIRST_BATCH": 500,
    "CONCURRENT_REQUESTS": 32,
    "MAX_ATTEMPTS": 1,
    "DOWNLOAD_TIMEOUT": TIMEOUT_S,
    "DOWNLOAD_MAXSIZE": CAP_BYTES,
    "PAGE_SECONDS": PAGE_S,
}
NOWHERE = {"KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "MONGO_URL": "mongodb://127.0.0.1:1"}
PATIENCE_S = 60.0
# In a log: what no server may bring about.
TROUBLE = re.compile(r"Traceback|\] (ERROR|CRITICAL)|Unhandled|callback-error|download-error")


class Worker:
    """Starts with an empty Redis.

    Args:
        settings: Beside SETTINGS; they win.
        variables: Of its environment.
    """

    def __init__(self, redis_server, folder, settings, **variables):
        with contextlib.closing(redis.Redis(port=redis_server.port)) as client:
            client.flushall()
        self.folder = folder
        self._settings = SETTINGS | {"ITEMS_DIR": folder / "items", "FILES_STORE": folder / "media"} | settings
        self._environment = {"REDIS_URL": redis_server.url, **NOWHERE, **variables}
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
        self.run("seeds", "offer", "--site", "hostile", "-", input="\n".join(urls))
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

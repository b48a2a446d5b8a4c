"""Workers in a network of their own (world.py), with a Redis that is reached through a socket in the file system."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from crawler.demo.servers import Process, Redis

ROOT = Path(__file__).parents[2]
WORLD = Path(__file__).with_name("world.py")
RUN_SECONDS = 120.0  # a run takes some 10 s on an idle machine
SETTINGS = {"STOP_WHEN_DONE": 1, "NODE_CPU_LIMIT_PERCENT": 100, "RETRY_BASE_SECONDS": 0, "ROBOTS_RETRY_SECONDS": 0}


class SocketRedis(Redis):
    """A Redis that listens on a socket in the file system as well: those reach over network namespaces."""

    def __init__(self, folder):
        super().__init__(folder)
        self.socket = folder / "redis.sock"
        self._command += ("--unixsocket", str(self.socket))


def unshare():
    """Returns the words that begin a command in a new network namespace; skips where the kernel doesn't let us."""
    if shutil.which("ip") is None:
        pytest.skip("the command `ip` (iproute2) isn't installed")
    for words in (["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"]):
        try:
            if not subprocess.run(
                [*words, "ip", "link", "set", "lo", "up"], capture_output=True, check=False
            ).returncode:
                return words
        except OSError:
            break
    pytest.skip("no right to make a network namespace")


class Cell:
    """One world: a folder with its files, and what its log says afterwards."""

    def __init__(self, redis, folder, site):
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self._environment = {"REDIS_URL": f"unix://{redis.socket}"}
        self._sites = folder / "sites"
        self._sites.mkdir()
        (self._sites / "hostile.yaml").write_text(site, encoding="utf-8")
        self._prefix = folder.name

    def write(self, name, value):
        (self.folder / name).write_text(json.dumps(value), encoding="utf-8")

    def scrapy(self, *words, settings=None):
        """Returns the words of a `scrapy` command."""
        chosen = {
            "KEY_PREFIX": self._prefix,
            "SITES_DIR": self._sites,
            "ITEMS_DIR": self.folder / "items",
            "FILES_STORE": self.folder / "media",
            **(settings or {}),
        }
        options = [word for key, value in chosen.items() for word in ("-s", f"{key}={value}")]
        return [sys.executable, "-m", "scrapy", words[0], *options, *words[1:]]

    def command(self, *words, text=None):
        """Runs a `scrapy` command outside."""
        return subprocess.run(
            self.scrapy(*words),
            cwd=ROOT,
            env=os.environ | self._environment,
            input=text,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    def offer(self, urls):
        return self.command("seeds", "offer", "--site", "hostile", "-", text="\n".join(urls))

    def run(self, *spiders, settings=None, environment=None):
        """Runs workers inside until nothing is left to do; returns what they said."""
        words = []
        for spider in spiders:
            words += ["--", *self.scrapy("crawl", spider, settings=SETTINGS | (settings or {}))]
        inside = [*unshare(), sys.executable, str(WORLD), str(self.folder), *words[1:]]
        surroundings = self._environment | (environment or {})
        process = Process("world", inside, self.folder, environment=surroundings, directory=ROOT)
        try:
            process.start()
            assert process.wait(RUN_SECONDS) == 0, process.log.read_text()
        finally:
            process.kill()
        return process.log.read_text()

    def unfinished(self):
        """Returns state and reason of each seed that isn't finished, by URL."""
        seeds = json.loads(self.command("seeds", "list", "--limit", "10000", "--json").stdout)["seeds"]
        return {seed["url"]: (seed["state"], seed["reason"]) for seed in seeds}

    def total(self):
        return json.loads(self.command("ledger", "--json").stdout)["total"]

    def items(self):
        """Returns the items by URL."""
        files = (self.folder / "items").glob("*.jsonl")
        found = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
        return {item["url"]: item for item in found}

    def log(self, what):
        """Returns the log's lines of a kind: `connection`, `request` or `question`."""
        lines = (self.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if what in line]

    def addresses(self):
        """Returns every address that anybody connected to."""
        return {line["connection"] for line in self.log("connection")}


def short_folder():
    """Returns a temporary folder with a short path: a socket's may have 107 characters."""
    return Path(tempfile.mkdtemp(prefix="hostile-"))

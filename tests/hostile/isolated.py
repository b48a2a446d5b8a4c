"""Workers in a network of their own (own_network.py); they reach Redis through a socket in the file system."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT
from crawl import CRAWL_SECONDS, Crawl

from testbed.servers import Process, Redis

NETWORK = Path(__file__).with_name("own_network.py")


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


class IsolatedCrawl(Crawl):
    """A crawl whose workers have a network of their own: what is in it, and what its log says afterwards."""

    def __init__(self, redis, folder):
        settings = {"KEY_PREFIX": folder.name, "RETRY_BASE_SECONDS": 0, "ROBOTS_RETRY_SECONDS": 0}
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(None, folder, f"unix://{redis.socket}", settings)

    def write(self, name, value):
        (self.folder / name).write_text(json.dumps(value), encoding="utf-8")

    def finish_inside(self, *spiders, environment=None, **settings):
        """Runs workers inside until all is done; returns what they logged."""
        words = []
        for spider in spiders:
            chosen = self.words("crawl", spider, settings={"STOP_WHEN_DONE": 1} | settings)
            words += ["--", sys.executable, "-m", "scrapy", *chosen]
        inside = [*unshare(), sys.executable, str(NETWORK), str(self.folder), *words[1:]]
        surroundings = self.environment | (environment or {})
        process = Process("network", inside, self.folder, environment=surroundings, directory=ROOT)
        try:
            process.start()
            assert process.wait(CRAWL_SECONDS) == 0, process.log.read_text()
        finally:
            process.kill()
        return process.log.read_bytes()

    def log(self, what):
        """Returns the log's lines of a kind: `connection`, `request` or `question`."""
        lines = (self.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if what in line]

    def addresses(self):
        """Returns every address that anybody connected to."""
        return {line["connection"] for line in self.log("connection")}

"""A crowd of hosts to crawl, and sites that say how politely."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess

import pytest
import yaml
from needs import started

from testbed.servers.many_hosts import Crowd

SETTINGS = {
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "NODE_CPU_LIMIT_PERCENT": 100,
    "NODE_MEMORY_LIMIT_PERCENT": 100,
    "STOP_WHEN_DONE": 1,
    "RETRY_BASE_SECONDS": 0.1,
}


@pytest.fixture
def crowd(tmp_path):
    """Returns a function that starts a crowd of hosts; it ends with the test."""
    with contextlib.ExitStack() as servers:
        yield lambda *numbers: servers.enter_context(started(Crowd, tmp_path, *numbers))


class Crawl:
    """A plan or pages over a crowd: sites of a given politeness, workers, and what became of it."""

    def __init__(self, scrapy, scrapy_command, spawn, folder):
        self.scrapy = scrapy
        self._command = scrapy_command
        self._spawn = spawn
        self._sites = folder / "sites"
        self._sites.mkdir()
        self._plan = folder / "plan.yaml"
        self._settings = SETTINGS | {"SITES_DIR": self._sites}
        self._workers = 0

    def on_cluster(self, partitions):
        """Has everything go to a Redis Cluster, which the fixture `redis_url` must name."""
        self._settings |= {"REDIS_CLUSTER": 1, "FRONTIER_PARTITIONS": partitions}

    def site(self, name="s", *, delay=0.0, concurrency=1, burst=10, search=None):
        """Writes a site; `search` is the template of its search pages."""
        site = {
            "name": name,
            "content": {"title": "css:title", "content": "css:article", "images": "css:img"},
            "politeness": {"delay": delay, "concurrency": concurrency, "burst": burst},
        }
        if search:
            site |= {"search": {"url": search, "paging": {"kind": "page"}}, "results": {"links": "css:a.result"}}
        (self._sites / f"{name}.yaml").write_text(yaml.safe_dump(site))

    def offer(self, urls, site="s"):
        """Offers pages; returns when the frontier has them."""
        words, environment = self._command("seeds", "offer", "--site", site, "-", settings=self._settings)
        lines = "".join(f"{url}\n" for url in urls)
        done = subprocess.run(
            words, env=os.environ | environment, input=lines, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 0, done.stderr

    def submit(self, sites, words, pages=1):
        """Submits a plan of one search for each of the words, on each of the sites."""
        plan = {"name": "plan", "sites": sites, "pages": pages, "keywords": {"word": {"optional": words}}}
        self._plan.write_text(yaml.safe_dump(plan))
        done = self.scrapy("plan", "submit", self._plan, settings=self._settings)
        assert done.returncode == 0, done.stderr

    def worker(self, spider="consumer", **settings):
        """Starts a worker; its number stands in its User-Agent."""
        self._workers += 1
        settings = self._settings | {"USER_AGENT": f"headroom-{self._workers}"} | settings
        return self._spawn("crawl", spider, settings=settings)

    def run(self, consumers=1, producers=0, *, seconds=120.0, **settings):
        """Runs workers till all is done."""
        spiders = ["consumer"] * consumers + ["producer"] * producers
        workers = [self.worker(spider, **settings) for spider in spiders]
        for worker in workers:
            assert worker.wait(seconds) == 0, worker.log.read_text()

    def account(self):
        """Returns the ledger's total, after a recount."""
        done = self.scrapy("ledger", "--verify", "--json", settings=self._settings)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)["total"]

    def failures(self):
        """Returns the reasons of what failed, by URL."""
        listed = self.scrapy("seeds", "list", "--state", "failed", "--limit", "10000", "--json")
        return {seed["url"]: seed["reason"] for seed in json.loads(listed.stdout)["seeds"]}


@pytest.fixture
def crawl(scrapy, scrapy_command, spawn, tmp_path):
    return Crawl(scrapy, scrapy_command, spawn, tmp_path)

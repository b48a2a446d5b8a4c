"""Many hosts to crawl, sites that say how politely, and workers that do it."""

from __future__ import annotations

import contextlib
import json
from collections import Counter

import pytest
import redis
import yaml
from needs import started

from crawler.frontier.keys import Keys
from testbed.servers.many_hosts import ManyHosts

SETTINGS = {
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "NODE_CPU_LIMIT_PERCENT": 100,
    "NODE_MEMORY_LIMIT_PERCENT": 100,
    "RETRY_BASE_SECONDS": 0.1,
}
CRAWL_SECONDS = 120.0  # all of them take under 20 on an idle machine


@pytest.fixture
def many_hosts(tmp_path):
    """Returns a function that starts hosts on so many addresses and ports; they end with the test."""
    with contextlib.ExitStack() as servers:
        yield lambda *numbers: servers.enter_context(started(ManyHosts, tmp_path, *numbers))


class Crawl:
    """Sites, what they are asked for, workers, and what became of it."""

    def __init__(self, runner, folder, redis_url):
        self.runner = runner
        self.redis = redis.Redis.from_url(redis_url)
        self._folder = folder
        (folder / "sites").mkdir()
        runner.settings |= SETTINGS | {"SITES_DIR": folder / "sites"}

    def site(self, name="s", *, delay=0.0, concurrency=1, burst=10, search=None):
        """Writes a site; `search` is the template of its search pages."""
        site = {
            "name": name,
            "content": {"title": "css:title", "content": "css:article", "images": "css:img"},
            "politeness": {"delay": delay, "concurrency": concurrency, "burst": burst},
        }
        if search:
            site |= {"search": {"url": search, "paging": {"kind": "page"}}, "results": {"links": "css:a.result"}}
        (self._folder / "sites" / f"{name}.yaml").write_text(yaml.safe_dump(site))

    def scrapy(self, *words, stdin=""):
        """Runs a command that goes well; returns what it printed."""
        done = self.runner.run(*words, stdin=stdin)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def offer(self, urls, site="s"):
        self.scrapy("seeds", "offer", "--site", site, "-", stdin="".join(f"{url}\n" for url in urls))

    def submit(self, sites, words, pages=1):
        """Submits a plan of one search for each of the words, on each of the sites."""
        plan = {"name": "plan", "sites": sites, "pages": pages, "keywords": {"word": {"optional": words}}}
        (self._folder / "plan.yaml").write_text(yaml.safe_dump(plan))
        self.scrapy("plan", "submit", self._folder / "plan.yaml")

    def worker(self, spider="consumer", *arguments, environment=None, **settings):
        """Starts a worker; its number stands in its User-Agent."""
        settings = {"USER_AGENT": f"headroom-{len(self.runner.started) + 1}"} | settings
        return self.runner.start("crawl", spider, *arguments, settings=settings, environment=environment)

    def run(self, consumers=1, producers=0, **settings):
        """Runs workers until all is done; returns the consumers' logs."""
        spiders = ["consumer"] * consumers + ["producer"] * producers
        workers = [self.worker(spider, STOP_WHEN_DONE=1, **settings) for spider in spiders]
        for worker in workers:
            assert worker.wait(CRAWL_SECONDS) == 0, worker.log.read_text()
        return "".join(worker.log.read_text() for worker in workers)

    def counts(self, frontier="content"):
        """Returns the seeds by state, from Redis itself."""
        counts = self.redis.hgetall(Keys("hr").partition(0).of(frontier, "counts"))
        return Counter({name.decode(): int(seeds) for name, seeds in counts.items()})

    def total(self):
        """Returns the ledger's total, after a recount that agrees with it."""
        return json.loads(self.scrapy("ledger", "--verify", "--json"))["total"]

    def states(self):
        """Returns the states of all workers, as `scrapy nodes` says them."""
        return [worker["state"] for worker in json.loads(self.scrapy("nodes", "--json"))["workers"]]

    def items(self):
        """Returns what the files sink has."""
        files = (self._folder / "items").glob("*.jsonl")
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


@pytest.fixture
def crawl(runner, tmp_path, redis_url):
    crawl = Crawl(runner, tmp_path, redis_url)
    yield crawl
    crawl.redis.close()

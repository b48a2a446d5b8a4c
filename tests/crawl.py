"""A crawl that a test sets up: sites, seeds, workers, and what became of it all."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections import Counter

import redis
import yaml
from pymongo import MongoClient
from runner import Runner

from crawler.frontier.keys import Keys

CRAWL_SECONDS = 120.0  # each takes under 20 s on an idle machine


class Crawl(Runner):
    """Commands and workers on one Redis, and a folder for the rest.

    Args:
        server: The fork server.
        folder: For sites, items, media and logs.
        redis_url: Of the Redis that all of them use.
        settings: Of all of them; `environment` likewise.
    """

    def __init__(self, server, folder, redis_url, settings=None, environment=None):
        folders = {"ITEMS_DIR": folder / "items", "FILES_STORE": folder / "media"}
        super().__init__(server, folder, folders | (settings or {}), {"REDIS_URL": redis_url} | (environment or {}))
        self.folder = folder
        self.redis_url = redis_url
        self.redis = redis.Redis.from_url(redis_url)
        self.keys = Keys(self.settings.get("KEY_PREFIX", "hr"))

    def close(self):
        super().close()
        self.redis.close()

    # -- What is to be crawled ----------------------------------------------------------------------------------------

    def write_site(self, name, definition):
        """Writes a site; `definition` is its YAML, or what that says beside the name."""
        text = definition if isinstance(definition, str) else yaml.safe_dump({"name": name} | definition)
        self.settings["SITES_DIR"] = self.folder / "sites"
        self.settings["SITES_DIR"].mkdir(parents=True, exist_ok=True)
        (self.settings["SITES_DIR"] / f"{name}.yaml").write_text(text, encoding="utf-8")

    def site(self, name="s", *, delay=0.0, concurrency=1, burst=10, search=None):
        """Writes a site of a given politeness; `search` is the template of its search pages."""
        site = {
            "content": {"title": "css:title", "content": "css:article", "images": "css:img"},
            "politeness": {"delay": delay, "concurrency": concurrency, "burst": burst},
        }
        if search:
            site |= {"search": {"url": search, "paging": {"kind": "page"}}, "results": {"links": "css:a.result"}}
        self.write_site(name, site)

    def offer(self, urls, site="s", **settings):
        self.scrapy("seeds", "offer", "--site", site, "-", stdin="".join(f"{url}\n" for url in urls), settings=settings)

    def submit(self, sites, words, *options, **keys):
        """Submits a plan of one search for each of the words, or as `keywords` say; `options` are the command's."""
        plan = {"name": "plan", "sites": sites, "pages": 1, "keywords": {"word": {"optional": words}}} | keys
        file = self.folder / f"{plan['name']}.yaml"
        file.write_text(yaml.safe_dump(plan), encoding="utf-8")
        self.scrapy("plan", "submit", file, *options)

    # -- Commands and workers -----------------------------------------------------------------------------------------

    def scrapy(self, *words, **options):
        """Runs a command that must go well; returns what it printed."""
        done = self.run(*words, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def json(self, *words):
        """Returns what a command prints as JSON."""
        return json.loads(self.scrapy(*words, "--json"))

    def worker(self, spider="consumer", *arguments, environment=None, under=(), tree=None, **settings):
        """Starts a worker, as `start` does a command."""
        options = {"settings": settings, "environment": environment, "under": under, "tree": tree}
        return self.start("crawl", spider, *arguments, **options)

    def finish(self, consumers=1, producers=0, environment=None, **settings):
        """Runs workers until all is done; returns what they logged."""
        spiders = ["consumer"] * consumers + ["producer"] * producers
        settings = {"STOP_WHEN_DONE": 1} | settings
        workers = [self.worker(spider, environment=environment, **settings) for spider in spiders]
        for worker in workers:
            assert worker.wait(CRAWL_SECONDS) == 0, worker.log.read_text(errors="replace")
        return b"".join(worker.log.read_bytes() for worker in workers)

    # -- What became of it --------------------------------------------------------------------------------------------

    def counts(self, frontier="content"):
        """Returns the seeds by state, from Redis itself."""
        counts = self.redis.hgetall(self.keys.partition(0).of(frontier, "counts"))
        return Counter({name.decode(): int(seeds) for name, seeds in counts.items()})

    def total(self):
        """Returns the ledger's total, after a recount that agrees with it."""
        return self.json("ledger", "--verify")["total"]

    def has_ended(self, frontier="content"):
        """Returns whether no seed waits or is on its way."""
        counts = self.counts(frontier)
        return not counts["ready"] and not counts["executing"]

    def unfinished(self):
        """Returns state and reason of each seed that isn't finished, by URL."""
        seeds = self.json("seeds", "list", "--limit", "1000000")["seeds"]
        return {seed["url"]: (seed["state"], seed["reason"]) for seed in seeds}

    def workers(self):
        """Returns the workers, as `scrapy nodes` knows them."""
        return self.json("nodes")["workers"]

    def lines(self):
        """Returns the whole lines of all item files."""
        files = sorted((self.folder / "items").glob("*.jsonl"))
        return [line for file in files for line in file.read_bytes().split(b"\n")[:-1]]

    def items(self):
        """Returns the items of all files."""
        return [json.loads(line) for line in self.lines()]


@contextlib.contextmanager
def crawl_to_every_sink(server, folder, redis_server, kafka_server, mongo_server, **settings):
    """Gives a crawl that delivers to topics and a database of its own, besides files; the database goes with it."""
    name = f"test_{uuid.uuid4().hex}"
    own = {"ITEM_SINKS": "files,kafka,mongo", "KEY_PREFIX": name, "TOPIC_PREFIX": f"{name}.", "SESSION_SECONDS": 3}
    sinks = {
        "KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap,
        "MONGO_URL": mongo_server.url,
        "MONGO_DATABASE": name,
    }
    settings = {"ALLOW_PRIVATE_ADDRESSES": 1, "RETRY_BASE_SECONDS": 0.1} | own | settings
    with Crawl(server, folder, redis_server.url, settings, sinks) as crawl, MongoClient(mongo_server.url) as client:
        try:
            yield crawl
        finally:
            client.drop_database(name)

"""A cluster to break: servers, a web to crawl, workers, and an account of what was injected, kept outside of it."""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import topics
from crawl import Crawl
from pymongo import MongoClient
from waiting import until

from crawler.frontier.keys import partition_of
from testbed.servers.process import Server, answers_http, free_port

HERE = Path(__file__).parent
FULL = os.environ.get("FAULTS") == "full"  # as `make faults` has it
SESSION_SECONDS = 3.0
SETTINGS = {
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "SESSION_SECONDS": SESSION_SECONDS,
    "FILES_STORE": "",
    "SITES_DIR": HERE / "sites",
    "LOG_LEVEL": "INFO",
}


def in_time(seconds, limit_seconds):
    """Whether something took no longer than it may: `make faults` holds that, the short form only tells it in its row.

    On a machine that others share, as CI's, all of it may stand still for seconds, which is no fault of the crawler's.
    """
    return seconds <= limit_seconds or not FULL


class Origin(Server):
    """The web of `origin.py` on `hosts` ports."""

    def __init__(self, folder, hosts=4):
        self.ports = [free_port() for _ in range(hosts)]
        self.access_log = folder / "origin" / "access.tsv"
        command = [sys.executable, str(HERE / "origin.py"), str(self.access_log), *map(str, self.ports)]
        super().__init__("origin", command, folder / "origin")

    def _answers(self):
        return answers_http(self.ports[-1], "/robots.txt")

    def urls(self, number, kind="page", *, first=0):
        """Addresses of `number` pages, dealt out to the hosts."""
        ports = self.ports
        return [f"http://127.0.0.1:{ports[n % len(ports)]}/{kind}/{n}" for n in range(first, first + number)]

    def requests(self, since=0):
        """What was asked, as (monotonic time, port, name of the worker, path), from byte `since` of the log on."""
        with self.access_log.open("rb") as log:
            log.seek(since)
            lines = log.read().decode().split("\n")[:-1]
        return [
            (float(at), int(port), agent, path)
            for at, port, agent, path in (line.split("\t") for line in lines)
            if path != "/robots.txt"
        ]

    def size(self):
        """The log's length in bytes."""
        return self.access_log.stat().st_size


@dataclass
class Audit:
    """What the outside account says after a crawl.

    Attributes:
        lost: Injected URLs that are neither an item in every sink nor failed with a reason.
        stuck: Seeds that nobody will ever end.
        mongo_duplicates: Documents beyond the first of a URL.
        kafka_duplicates: Messages beyond the first of an id; allowed, up to what was in flight.
        difference: What the ledger can't account for, as `scrapy ledger --verify` says.
    """

    lost: int = 0
    stuck: int = 0
    mongo_duplicates: int = 0
    kafka_duplicates: int = 0
    difference: int = 0
    missing: list[str] = field(default_factory=list)

    @property
    def wrong(self):
        """What isn't 0, and must be: by name."""
        names = ("lost", "stuck", "mongo_duplicates", "difference")
        return {name: number for name in names if (number := getattr(self, name))}


class Rig(Crawl):
    """One test's cluster on servers that may be shared: its own database, topics and files."""

    def __init__(self, fork_server, folder, origin, redis_server, mongo_server=None, kafka_server=None):
        self.origin = origin
        self.redis_server, self.mongo_server, self.kafka_server = redis_server, mongo_server, kafka_server
        self.database = f"faults_{uuid.uuid4().hex}"
        self.topics = f"faults-{uuid.uuid4().hex}."
        sinks, environment = ["files"], {"PYTHONPATH": str(HERE.parent)}
        if mongo_server:
            sinks.append("mongo")
            environment |= {"MONGO_URL": mongo_server.url, "MONGO_DATABASE": self.database}
        if kafka_server:
            sinks.append("kafka")
            environment |= {"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap}
        settings = SETTINGS | {"ITEM_SINKS": ",".join(sinks), "TOPIC_PREFIX": self.topics}
        super().__init__(fork_server, folder, redis_server.url, settings, environment)
        self.account: set[str] = set()
        self.redis.flushall()

    # -- Commands and workers -----------------------------------------------------------------------------------------

    def offer(self, urls, site="origin"):
        """Injects URLs, and remembers them."""
        urls = list(urls)
        self.account.update(urls)
        super().offer(urls, site)

    def worker(self, *arguments, **options):
        """Starts a consumer; in the origin's log, its User-Agent is its name."""
        return super().worker(*arguments, **{"USER_AGENT": f"crawl-{len(self.started) + 1}"} | options)

    def joined(self, number, **options):
        """Starts workers, and returns them when all have joined: of what is offered then, each gets some."""
        workers = [self.worker(**options) for _ in range(number)]
        self.until_joined(*workers)
        return workers

    def until_joined(self, *workers):
        """Waits until workers can claim."""
        for worker in workers:
            until(lambda log=worker.log: b"on frontier content" in log.read_bytes(), f"{worker.name} to join")

    def close(self):
        """Ends the workers, and starts the servers that a failed test has left dead."""
        super().close()
        for server in (self.redis_server, self.mongo_server, self.kafka_server):
            if server is not None:
                server.start()

    # -- What can be seen ---------------------------------------------------------------------------------------------

    def open_pages(self, worker):
        """How many connections a worker has to the origin."""
        ports = [one.raddr.port for one in psutil.Process(worker.pid).net_connections() if one.raddr]
        return sum(port in self.origin.ports for port in ports)

    def ended(self):
        """How many seeds are over."""
        counts = self.counts()
        return counts["finished"] + counts["failed"]

    def until_done(self, seconds=120.0):
        """Waits until every injected URL is over, or at least none is on its way."""

        until(lambda: self.has_ended() and self.counts()["offered"] > 0, "the end of the crawl", seconds)

    def audit(self):
        """Holds the account against the sinks, and the ledger against the sets."""
        failed = {url for url, (state, _) in self.unfinished().items() if state == "failed"}
        assert all(file.read_bytes().endswith(b"\n") for file in (self.folder / "items").glob("*.jsonl")), "a half line"
        found = [{one["url"] for one in self.items()}]
        audit = Audit(stuck=self.counts()["executing"], difference=self.total()["difference"])
        if self.mongo_server:
            by_url = self._in_mongo()
            audit.mongo_duplicates = sum(number - 1 for number in by_url.values())
            found.append(set(by_url))
        if self.kafka_server:
            by_id, urls = self._in_kafka()
            audit.kafka_duplicates = sum(number - 1 for number in by_id.values())
            found.append(urls)
        delivered = set.intersection(*found)
        audit.missing = sorted(url for url in self.account if url not in delivered and url not in failed)
        audit.lost = len(audit.missing)
        return audit

    def _in_mongo(self):
        with MongoClient(self.mongo_server.url) as client:
            return Counter(one["url"] for one in client[self.database]["items"].find({}, {"url": 1}))

    def _in_kafka(self):
        bootstrap = self.kafka_server.bootstrap
        by_id, urls = Counter(), set()
        for record in topics.records(bootstrap, *topics.names(bootstrap, self.topics)):
            value = json.loads(record.value)
            by_id[value["id"]] += 1
            urls.add(value["url"])
        return by_id, urls


class ClusterRig(Rig):
    """A cluster whose frontier lies on the three primaries of a Redis Cluster of its own; files are its one sink.

    Attributes:
        homes: The node of each partition, as it was at first.
    """

    PARTITIONS = 6

    def __init__(self, fork_server, folder, origin, cluster):
        super().__init__(fork_server, folder, origin, cluster)
        self.settings |= {"REDIS_CLUSTER": 1, "FRONTIER_PARTITIONS": self.PARTITIONS}
        self.homes = [cluster.node_of(self._counts_key(number)) for number in range(self.PARTITIONS)]

    def close(self):
        """Ends the workers; the cluster is ended by who started it."""
        Crawl.close(self)

    def counts(self, frontier="content", *, away=None):
        """Returns the seeds by state, from the nodes themselves: from all but the one that is away."""
        counts = Counter()
        for number, home in enumerate(self.homes):
            if home is not away:
                found = home.call("HGETALL", self._counts_key(number, frontier))
                counts.update({name.decode(): int(seeds) for name, seeds in found.items()})
        return counts

    def home_of(self, port):
        """Returns the node that has the partition of one of the origin's hosts."""
        return self.homes[partition_of(f"127.0.0.1:{port}", self.PARTITIONS)]

    def _counts_key(self, number, frontier="content"):
        return self.keys.partition(number).of(frontier, "counts")

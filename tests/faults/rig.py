"""A cluster to break: servers, a web to crawl, workers, and an account of what was injected, kept outside of it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import redis
from kafka import KafkaConsumer, TopicPartition
from pymongo import MongoClient
from runner import Runner
from waiting import until

from crawler.frontier.keys import Keys
from testbed.servers.process import Server, free_port

HERE = Path(__file__).parent
FULL = os.environ.get("FAULTS") == "full"  # as `make faults` has it
SESSION_SECONDS = 3.0
SETTINGS = {
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "NODE_CPU_LIMIT_PERCENT": 100,  # everything runs on one machine here, which is then busy
    "NODE_MEMORY_LIMIT_PERCENT": 100,
    "SESSION_SECONDS": SESSION_SECONDS,
    "FILES_STORE": "",
    "LOG_LEVEL": "INFO",
}
KEYS = Keys("hr")


class Origin(Server):
    """The web of `origin.py` on `hosts` ports."""

    def __init__(self, folder, hosts=4):
        self.ports = [free_port() for _ in range(hosts)]
        self.access_log = folder / "origin" / "access.tsv"
        command = [sys.executable, str(HERE / "origin.py"), str(self.access_log), *map(str, self.ports)]
        super().__init__("origin", command, folder / "origin")

    def _answers(self):
        import socket

        try:
            socket.create_connection(("127.0.0.1", self.ports[-1]), 1).close()
        except OSError:
            return False
        return True

    def urls(self, number, kind="page", *, first=0):
        """Addresses of `number` pages, dealt out to the hosts."""
        ports = self.ports
        return [f"http://127.0.0.1:{ports[n % len(ports)]}/{kind}/{n}" for n in range(first, first + number)]

    def requests(self, since=0):
        """What was asked, as (monotonic time, port, agent, path), from byte `since` of the log on."""
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
    """What the outside account says after a crawl. All of it is 0 when nothing was lost.

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


class Rig:
    """One test's cluster on servers that may be shared: its own database, topics and files."""

    def __init__(self, fork_server, folder, origin, redis_server, mongo_server=None, kafka_server=None):
        self.folder = folder
        self.origin = origin
        self.redis_server, self.mongo_server, self.kafka_server = redis_server, mongo_server, kafka_server
        self.database = f"faults_{uuid.uuid4().hex}"
        self.topics = f"faults-{uuid.uuid4().hex}."
        sinks, environment = ["files"], {"REDIS_URL": redis_server.url, "PYTHONPATH": str(HERE.parent)}
        if mongo_server:
            sinks.append("mongo")
            environment |= {"MONGO_URL": mongo_server.url, "MONGO_DATABASE": self.database}
        if kafka_server:
            sinks.append("kafka")
            environment |= {"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap}
        files = {"ITEMS_DIR": folder / "items", "SITES_DIR": HERE / "sites"}
        settings = SETTINGS | files | {"ITEM_SINKS": ",".join(sinks), "TOPIC_PREFIX": self.topics}
        self.runner = Runner(fork_server, folder, settings, environment)
        self.workers = self.runner.started
        self.account: set[str] = set()
        self.redis = redis.Redis.from_url(redis_server.url)  # straight to it, whatever workers have between
        self.redis.flushall()

    # -- Commands and workers -----------------------------------------------------------------------------------------

    def scrapy(self, *words, stdin=""):
        """Runs a command to its end and returns what it printed."""
        done = self.runner.run(*words, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def offer(self, urls, site="origin"):
        """Injects URLs, and remembers them."""
        urls = list(urls)
        self.account.update(urls)
        self.scrapy("seeds", "offer", "-", "--site", site, stdin="\n".join(urls))

    def worker(self, *, under=(), environment=None, **settings):
        """Starts a consumer, run by the words `under`; its User-Agent in the origin's log is its `name`."""
        name = f"worker-{len(self.workers) + 1}"
        settings = {"USER_AGENT": name} | settings
        return self.runner.start(
            "crawl", "consumer", settings=settings, environment=environment, under=under, name=name
        )

    def close(self):
        """Ends the workers, and starts the servers that a failed test has left dead."""
        self.runner.kill()
        self.redis.close()
        for server in (self.redis_server, self.mongo_server, self.kafka_server):
            if server is not None:
                server.start()

    # -- What can be seen ---------------------------------------------------------------------------------------------

    def counts(self, frontier="content"):
        """Seeds by state, from Redis, as numbers."""
        raw = self.redis.hgetall(KEYS.partition(0).of(frontier, "counts"))
        return Counter({name.decode(): int(value) for name, value in raw.items()})

    def ended(self):
        """How many seeds are over."""
        counts = self.counts()
        return counts["finished"] + counts["failed"]

    def until_done(self, seconds=120.0):
        """Waits until every injected URL is over, or at least none is on its way."""

        def done():
            counts = self.counts()
            return not counts["ready"] and not counts["executing"] and counts["offered"] > 0

        until(done, "the end of the crawl", seconds)

    def audit(self):
        """Holds the account against the sinks, and the ledger against the sets."""
        ledger = json.loads(self.scrapy("ledger", "--verify", "--json"))
        listed = json.loads(self.scrapy("seeds", "list", "--state", "failed", "--limit", 1_000_000, "--json"))
        failed = {seed["url"] for seed in listed["seeds"]}
        found = [{one["url"] for one in self.items()}]
        audit = Audit(stuck=self.counts()["executing"], difference=ledger["total"]["difference"])
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

    def items(self):
        """The items in files, each line one."""
        raw = b"".join(file.read_bytes() for file in (self.folder / "items").glob("*.jsonl"))
        assert not raw or raw.endswith(b"\n"), "a half line"
        return [json.loads(line) for line in raw.splitlines()]

    def _in_mongo(self):
        with MongoClient(self.mongo_server.url) as client:
            return Counter(one["url"] for one in client[self.database]["items"].find({}, {"url": 1}))

    def _in_kafka(self):
        consumer = KafkaConsumer(bootstrap_servers=self.kafka_server.bootstrap, auto_offset_reset="earliest")
        with contextlib.closing(consumer):
            parts = [
                TopicPartition(topic, part)
                for topic in consumer.topics()
                if topic.startswith(self.topics)
                for part in consumer.partitions_for_topic(topic)
            ]
            ends = consumer.end_offsets(parts) if parts else {}
            consumer.assign(parts)
            by_id, urls = Counter(), set()
            while any(consumer.position(part) < end for part, end in ends.items()):
                for messages in consumer.poll(1_000).values():
                    for message in messages:
                        value = json.loads(message.value)
                        by_id[value["id"]] += 1
                        urls.add(value["url"])
            return by_id, urls

"""The table of all checks, in the order in which they are made and shown."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from crawler import config
from crawler.doctor import kafka_brokers, mongo_server, node, redis_copies, redis_server
from crawler.doctor.browser_check import browser
from crawler.doctor.disk import disk
from crawler.doctor.dns_check import dns
from crawler.doctor.examination import CheckGroup, HealthCheck

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.doctor.kafka_brokers import ExaminedKafka
    from crawler.doctor.mongo_server import ExaminedMongo
    from crawler.doctor.redis_server import ExaminedRedis

REDIS: tuple[HealthCheck[ExaminedRedis], ...] = (
    HealthCheck("redis", "whether it answers, every primary of a cluster, and its version", redis_server.version),
    HealthCheck("redis-rights", "whether its user has the rights that a crawl needs", redis_server.rights),
    HealthCheck("redis-writes", "whether it takes writes", redis_server.writes),
    HealthCheck("redis-eviction", "whether it keeps every key when it is full", redis_server.eviction),
    HealthCheck(
        "redis-durability",
        "what a crash leaves: append-only file, snapshots, a disk that fails",
        redis_server.durability,
    ),
    HealthCheck("redis-memory", "memory in use, against its maxmemory", redis_server.memory),
    HealthCheck("redis-latency", "how long it takes to answer", redis_server.latency),
    HealthCheck("redis-replicas", "whether replicas are there, and in step", redis_copies.replicas),
    HealthCheck("redis-cluster", "a cluster's timeouts, against SESSION_SECONDS", redis_copies.takeover),
    HealthCheck(
        "frontier", "its format and partitions, against this version and FRONTIER_PARTITIONS", redis_server.frontier
    ),
    HealthCheck("clock", "this node's clock, against Redis's", node.clock),
)
NODE: tuple[HealthCheck[Mapping[str, Any]], ...] = (
    HealthCheck("versions", "Python, Scrapy, libcurl and whether it has HTTP/2, turbohtml", node.versions),
    HealthCheck("package-name", "another package `crawler`, which may take the place of Headroom's", node.package_name),
    HealthCheck("open-files", "the limit of open files, against CONCURRENT_REQUESTS", node.open_files),
    HealthCheck("disk", "room in ITEMS_DIR, FILES_STORE and JOBDIR, and the right to write there", disk),
    HealthCheck("dns", "whether hosts of stored sites, or their proxies, are found; no other name is looked up", dns),
    HealthCheck(
        "browser",
        "the browser of sites whose pages need one: whether it is there, and what keeps its pages in",
        browser,
    ),
)
KAFKA: tuple[HealthCheck[ExaminedKafka], ...] = (
    HealthCheck("kafka", "whether a broker answers and lets the crawl in", kafka_brokers.brokers),
    HealthCheck("kafka-topics", "whether each stored site's topic is there, or may be made", kafka_brokers.topics),
    HealthCheck("kafka-replication", "copies of topics, and how many acknowledge an item", kafka_brokers.replication),
    HealthCheck("kafka-message-size", "the largest message of topics, against the crawl's", kafka_brokers.message_size),
)
MONGO: tuple[HealthCheck[ExaminedMongo], ...] = (
    HealthCheck("mongo", "whether it answers and lets the crawl in", mongo_server.version),
    HealthCheck("mongo-write-concern", "whether what it acknowledged survives a crash", mongo_server.write_concern),
    HealthCheck("mongo-replicas", "whether there are copies", mongo_server.replicas),
    HealthCheck("mongo-indexes", "the indexes by which items are found", mongo_server.indexes),
)


# Redis is asked before the others. To connect may take its client 3 s, Kafka's and MongoDB's 5 s; a server that needs
# longer is silent. With some 2 s to start Python, and 1 s to close connections, all is over within 15 s.
REDIS_SECONDS = 4.0
OTHERS_SECONDS = 6.0
GROUPS: tuple[CheckGroup[Any], ...] = (
    CheckGroup(redis_server.open_redis, REDIS, REDIS_SECONDS),
    CheckGroup(contextlib.nullcontext, NODE, OTHERS_SECONDS),
    CheckGroup(
        kafka_brokers.open_kafka, KAFKA, OTHERS_SECONDS, lambda settings: "kafka" in config.ITEM_SINKS.of(settings)
    ),
    CheckGroup(
        mongo_server.open_mongo, MONGO, OTHERS_SECONDS, lambda settings: "mongo" in config.ITEM_SINKS.of(settings)
    ),
)

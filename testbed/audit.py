"""Was everything delivered, and is everything accounted for? Asked of the sinks themselves when the crawl is over."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
from pymongo.errors import PyMongoError

from crawler.errors import UnavailableError
from crawler.frontier import ledger
from crawler.pipelines.mongo import COLLECTION
from crawler.servers.kafka import kafka_consumer
from crawler.servers.mongo import mongo_client

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys

KAFKA_READ_SECONDS = 10.0  # for one topic of some hundred messages; takes under one
POLL_MILLISECONDS = 200


async def audit_ledger(redis: Redis, keys: Keys, book: ledger.Ledger, items: Mapping[str, int]) -> list[str]:
    """Returns what is wrong with a finished crawl's ledger, in words; empty when nothing is.

    Args:
        book: The plan's ledger.
        items: Different items in the files, by site.

    Raises:
        redis.exceptions.RedisError: Redis is away.
    """
    problems = await ledger.recount(redis, keys, 1)
    for (_plan, site), accounts in book.items():
        for frontier, account in accounts.items():
            if left := account.ready + account.executing:
                problems.append(f"{left} {frontier} seeds of {site} are not done")
        content = accounts["content"]
        due, there = content.finished - content.notes.get("redirected", 0), items.get(site, 0)
        if due != there:
            problems.append(f"{site}: {due} pages finished with an item, {there} items in the files")
    return problems


async def delivered_ids(sink: str, values: Mapping[str, str], sites: Iterable[str]) -> set[str]:
    """Returns the ids of the items that a sink holds.

    Args:
        sink: `mongo` or `kafka`.
        values: Settings that say where it is.
        sites: Whose items.

    Raises:
        UnavailableError: It doesn't answer.
    """
    if sink == "mongo":
        return await _mongo_ids(values)
    return await asyncio.to_thread(_kafka_ids, values, [values["TOPIC_PREFIX"] + site for site in sites])


async def _mongo_ids(values: Mapping[str, str]) -> set[str]:
    try:
        async with mongo_client(values) as client:
            found = client[values["MONGO_DATABASE"]][COLLECTION].find({}, {"_id": 1})
            return {str(document["_id"]) async for document in found}
    except PyMongoError as error:
        raise UnavailableError(f"Mongo: {type(error).__name__}") from None


def _kafka_ids(values: Mapping[str, str], topics: Iterable[str]) -> set[str]:
    return {one for topic in topics for one in _topic_ids(values, topic)}


def _topic_ids(values: Mapping[str, str], topic: str) -> set[str]:
    """Reads a topic from its start to what is its end now."""
    ids: set[str] = set()
    deadline = time.monotonic() + KAFKA_READ_SECONDS
    with closing(kafka_consumer(values, topic, from_start=True)) as consumer:
        if not consumer.partitions_for_topic(topic):
            return ids  # a site without an item has no topic
        ends: dict[Any, int] = {}
        while not ends or any(consumer.position(part) < end for part, end in ends.items()):
            if time.monotonic() > deadline:
                raise UnavailableError(f"Kafka: {topic} couldn't be read in {KAFKA_READ_SECONDS:g} s")
            for records in consumer.poll(timeout_ms=POLL_MILLISECONDS).values():
                ids |= {str(orjson.loads(record.value)["id"]) for record in records}
            if not ends and consumer.assignment():
                ends = consumer.end_offsets(list(consumer.assignment()))
    return ids

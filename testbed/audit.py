"""The demo's audit: do the sinks hold exactly what the forum has for the plan, and does the ledger agree?"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
from kafka import TopicPartition

from crawler.base import reasons
from crawler.frontier import recount
from crawler.pipelines.mongo import COLLECTION
from crawler.servers.kafka_clients import kafka_consumer
from crawler.servers.mongo_client import mongo_client
from testbed.forum import content, kinds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crawler.plans import Plan
    from crawler.plans.operator import Operator

Items = dict[str, dict[str, Any]]  # messages by id
BOARDS: dict[str, content.Board] = {"demo_forum": "html", "demo_forum_ajax": "ajax"}  # the forum's, by site
SORTS: dict[str, content.Sort] = {"newest": "new", "relevance": "rel"}  # the plan's words -> the forum's
TOPIC_SECONDS = 60.0  # to read a topic: the demo's hundreds take under one, 20,000 pages of the benchmark some ten
POLL_MILLISECONDS = 200


def read_items(folder: Path) -> Items:
    """Returns what the files sink has written so far; a line that is still being written is left out."""
    lines = (line for file in sorted(folder.glob("*.jsonl")) for line in file.read_bytes().splitlines(keepends=True))
    messages = (orjson.loads(line) for line in lines if line.endswith(b"\n"))
    return {message["id"]: message for message in messages}


async def delivered_ids(sink: str, values: Mapping[str, str], items: Items) -> set[str]:
    """Returns the ids of the items that a sink holds; `values` says where it is, `items` are those in the files."""
    if sink == "mongo":
        async with mongo_client(values) as client:
            documents = client[values["MONGO_DATABASE"]][COLLECTION].find({}, {"_id": 1})
            return {str(document["_id"]) async for document in documents}
    if sink == "kafka":
        sites = {message["resource"] for message in items.values()}
        return set().union(*(topic_ids(values, values["TOPIC_PREFIX"] + site) for site in sites))
    return set(items)


async def find_problems(plan: Plan, operator: Operator, items: Items, delivered: Mapping[str, set[str]]) -> list[str]:
    """Compares a finished crawl's items with the forum's own truth, between the sinks, and with the ledger.

    Args:
        items: Those in the files.
        delivered: The ids that each sink holds.

    Returns:
        What is wrong, in words; empty when nothing is.
    """
    crawled = {int(message["url"].rpartition("/")[2]) for message in items.values() if message["resource"] in BOARDS}
    compared: dict[str, tuple[set[Any], set[Any]]] = {sink: (ids, set(items)) for sink, ids in delivered.items()}
    compared["forum"] = crawled, forum_threads(plan)
    problems = [
        f"{place}: {len(expected - held)} items are missing, {len(held - expected)} are too many"
        for place, (held, expected) in compared.items()
        if held != expected
    ]
    counts = Counter(message["resource"] for message in items.values())
    for (_plan, site), accounts in (await operator.ledger(plan.name)).items():
        left = sum(account.ready + account.executing for account in accounts.values())
        pages = accounts["content"].finished - handed_on(accounts["content"].notes)
        if left or pages != counts[site]:
            problems.append(f"{site}: {left} seeds are not done, {pages} pages gave an item, {counts[site]} items came")
    differences = await recount.recount(operator.redis, operator.keys, operator.partitions)
    return problems + list(map(str, differences))


def handed_on(notes: Mapping[str, int]) -> int:
    """Returns how many pages have finished since another one is crawled in their place, by a ledger's notes."""
    return sum(notes.get(note, 0) for note in (reasons.REDIRECTED, reasons.MOVED))


def forum_threads(plan: Plan) -> set[int]:
    """Returns the ids of the forum's threads that a right crawl of the plan makes items of."""
    searches = [
        content.expected_results(words, BOARDS[site.name], sort=SORTS[plan.file.sort], since=plan.file.since_day)
        for site in plan.sites
        for words in plan.combinations()
        if site.name in BOARDS
    ]
    shown = [thread for threads in searches for thread in threads[: plan.file.pages * plan.file.per_page]]
    # A page that has moved has no item of its own, but the page that it leads to has.
    return {thread.id for thread in shown if thread.kind.item != "none" or thread.kind in (kinds.AWAY, kinds.MOVED)}


def topic_ids(values: Mapping[str, str], topic: str) -> set[str]:
    """Returns the ids of the items in a topic, from its first message to what is its last one now."""
    ids: set[str] = set()
    deadline = time.monotonic() + TOPIC_SECONDS
    with closing(kafka_consumer(values, topic)) as consumer:
        partitions = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic) or ()]
        unread = sum(consumer.end_offsets(partitions).values())
        while unread > 0 and time.monotonic() < deadline:
            for records in consumer.poll(timeout_ms=POLL_MILLISECONDS).values():
                unread -= len(records)
                ids |= {str(orjson.loads(record.value)["id"]) for record in records}
    return ids

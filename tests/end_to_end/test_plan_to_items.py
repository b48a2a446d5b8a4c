"""From a plan to delivered items, as the README says it, on real servers."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from kafka import KafkaConsumer
from pymongo import MongoClient

from testbed.forum import content, kinds
from testbed.forum.files import image as image_bytes

WORKER_SECONDS = 120.0  # a run takes 15 on an idle machine
PLAN = """
name: flood
sites:
  - {{use: demo_forum, name: board, base: "{base}"}}
  - {{use: demo_forum_ajax, name: ajax, base: "{base}"}}
keywords:
  region: {{optional: [重庆, 四川]}}
  event: {{required: [洪水], optional: [救援, 停电]}}
pages: 4
"""
COMBINATIONS = [[region, "洪水", event] for region in ("重庆", "四川") for event in ("救援", "停电")]


def lines(folder):
    """Returns the messages of a folder of JSON-lines files."""
    files = sorted(Path(folder).glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


def wanted(board):
    """Returns the threads of a board that the plan finds."""
    found = {}
    for words in COMBINATIONS:
        found |= {thread.id: thread for thread in content.expected_results(words, board)[:80]}
    return found


def expected_items(board):
    """Returns those of them that a right crawl makes items of, some after a redirect to another host."""
    return {number: thread for number, thread in wanted(board).items() if thread.kind.ending == "finish"}


@pytest.fixture
def submitted(scrapy, forum, tmp_path):
    """The plan, submitted."""
    plan = tmp_path / "flood.yaml"
    plan.write_text(PLAN.format(base=forum.url), encoding="utf-8")
    done = scrapy("plan", "submit", plan)
    assert done.returncode == 0, done.stderr
    return plan


@pytest.fixture
def crawl(spawn):
    """Returns a function that runs workers until all is done."""

    def run(*spiders, **options):
        settings = {"STOP_WHEN_DONE": 1, "ALLOW_PRIVATE_ADDRESSES": 1, "NODE_CPU_LIMIT_PERCENT": 100}
        settings |= options.pop("settings", {})
        workers = [spawn("crawl", spider, settings=settings, **options) for spider in spiders]
        for worker in workers:
            assert worker.wait(WORKER_SECONDS) == 0, worker.log.read_text()

    return run


def test_two_producers_and_three_consumers_deliver_each_thread_once_to_every_sink(
    scrapy, crawl, submitted, forum, kafka_server, mongo_server, mongo_database, topic_prefix, tmp_path
):
    sinks = {"ITEM_SINKS": "files,kafka,mongo", "TOPIC_PREFIX": topic_prefix, "MONGO_DATABASE": mongo_database}
    servers = {"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap, "MONGO_URL": mongo_server.url}
    crawl("producer", "producer", "consumer", "consumer", "consumer", settings=sinks, environment=servers)

    in_files = lines(tmp_path / "items")
    with MongoClient(mongo_server.url) as client:
        in_mongo = {document["_id"]: document for document in client[mongo_database]["items"].find()}
    consumer = KafkaConsumer(
        f"{topic_prefix}board",
        f"{topic_prefix}ajax",
        bootstrap_servers=kafka_server.bootstrap,
        auto_offset_reset="earliest",
        consumer_timeout_ms=5_000,
    )
    messages = list(consumer)
    consumer.close()

    assert sorted(item["id"] for item in in_files) == sorted(in_mongo)
    assert {json.loads(message.value)["id"] for message in messages} == set(in_mongo)
    assert len(messages) == len(in_mongo)
    for message in messages:
        item = json.loads(message.value)
        assert message.key.decode() == item["fingerprint"]
        assert message.topic == topic_prefix + item["resource"]
        stored = dict(in_mongo[item["id"]])
        del stored["_id"]
        assert stored == item

    for board, resource in (("html", "board"), ("ajax", "ajax")):
        titles = sorted(item["title"] for item in in_files if item["resource"] == resource)
        expected = expected_items(board).values()
        exact = sorted(thread.title for thread in expected if thread.kind.item == "equal")
        assert len(titles) == len(expected)
        assert set(exact) <= set(titles)

    ledger = scrapy("ledger", "--verify", "--json")
    assert ledger.returncode == 0, ledger.stderr
    account = json.loads(ledger.stdout)
    assert account["problems"] == []
    assert account["total"]["difference"] == account["total"]["ready"] == account["total"]["executing"] == 0
    board = next(row for row in account["rows"] if row["site"] == "board")
    reasons = {}
    for thread in wanted("html").values():
        if thread.kind.ending == "fail":
            reasons[thread.kind.reason] = reasons.get(thread.kind.reason, 0) + 1
    assert board["failures"] == reasons


def test_equal_threads_on_both_boards_give_equal_items(crawl, submitted, tmp_path):
    crawl("producer", "consumer")
    by_board = {"board": {}, "ajax": {}}
    for item in lines(tmp_path / "items"):
        by_board[item["resource"]][int(item["url"].rpartition("/")[2])] = item
    stories = {thread.story: thread for thread in expected_items("ajax").values()}
    pairs = [
        (thread, stories[thread.story])
        for thread in expected_items("html").values()
        if thread.story in stories and thread.kind.item == "equal"
    ]
    assert len(pairs) >= 5
    for html, ajax in pairs:
        left, right = by_board["board"][html.id], by_board["ajax"][ajax.id]
        for field in ("title", "author", "published", "content", "language"):
            assert left[field] == right[field], field
        assert [image["sha256"] for image in left["images"]] == [image["sha256"] for image in right["images"]]


def test_an_item_holds_what_the_thread_says_and_its_files_lie_in_the_store(crawl, submitted, tmp_path):
    crawl("producer", "consumer")
    threads = expected_items("ajax")
    checked = 0
    for item in lines(tmp_path / "items"):
        if item["resource"] != "ajax":
            continue
        thread = threads[int(item["url"].rpartition("/")[2])]
        assert item["content"].split("\n") == list(thread.paragraphs)
        assert item["author"] == thread.author
        assert item["language"] == thread.language
        hashes = sorted(hashlib.sha256(image_bytes(number)).hexdigest() for number in thread.images)
        assert sorted(image["sha256"] for image in item["images"]) == hashes
        for image in item["images"]:
            stored = (tmp_path / "media" / image["path"]).read_bytes()
            assert hashlib.sha256(stored).hexdigest() == image["sha256"]
            checked += 1
    assert checked > 20


def test_all_odd_pages_are_met(forum):
    met = {thread.kind for thread in wanted("html").values()}
    assert set(kinds.ODD) <= met

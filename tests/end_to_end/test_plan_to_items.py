"""From a plan to delivered items, as the README says it, on real servers, while a worker is killed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from types import SimpleNamespace

import pytest
import topics
from crawl import CRAWL_SECONDS, crawl_to_every_sink
from pymongo import MongoClient
from waiting import until

from testbed.forum import content, kinds
from testbed.forum.files import image as image_bytes

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


def wanted(board):
    """Returns the threads of a board that the plan finds."""
    found = {}
    for words in COMBINATIONS:
        found |= {thread.id: thread for thread in content.expected_results(words, board)[:80]}
    return found


def expected_items(board):
    """Returns those of them that a right crawl makes items of, some after a redirect to another host."""
    return {number: thread for number, thread in wanted(board).items() if thread.kind.ending == "finish"}


@pytest.fixture(scope="module")
def delivered(fork_server, redis_server, forum, kafka_server, mongo_server, tmp_path_factory):
    """What two producers and three consumers make of the plan; one consumer is killed, and another takes its place.

    `files`, `mongo` (by id) and `kafka` (messages) are what the sinks have, `ledger` what the command says, `media` the
    store.
    """
    folder = tmp_path_factory.mktemp("plan")
    (folder / "flood.yaml").write_text(PLAN.format(base=forum.url), encoding="utf-8")
    with crawl_to_every_sink(fork_server, folder, redis_server, kafka_server, mongo_server) as crawl:
        crawl.scrapy("plan", "submit", folder / "flood.yaml")
        workers = [crawl.worker(spider, STOP_WHEN_DONE=1) for spider in ("producer",) * 2 + ("consumer",) * 3]
        until(lambda: crawl.counts()["finished"] >= 20 and crawl.counts()["executing"], "pages, and more at work")
        workers.pop().kill()
        for worker in [*workers, crawl.worker(STOP_WHEN_DONE=1)]:
            assert worker.wait(CRAWL_SECONDS) == 0, worker.log.read_text()
        ledger, in_files = crawl.json("ledger", "--verify"), crawl.items()
        with MongoClient(mongo_server.url) as client:
            items = client[crawl.settings["KEY_PREFIX"]]["items"]
            in_mongo = {document.pop("_id"): document for document in items.find()}
    messages = topics.records(
        kafka_server.bootstrap, *(f"{crawl.settings['TOPIC_PREFIX']}{site}" for site in ("board", "ajax"))
    )
    return SimpleNamespace(files=in_files, mongo=in_mongo, kafka=messages, ledger=ledger, media=folder / "media")


def test_every_thread_is_in_every_sink(delivered):
    """What the killed worker had in flight may be twice in files and in Kafka, not in Mongo."""
    assert {item["id"] for item in delivered.files} == set(delivered.mongo)
    assert {json.loads(message.value)["id"] for message in delivered.kafka} == set(delivered.mongo)
    newest = {}
    for message in delivered.kafka:
        item = json.loads(message.value)
        assert message.key.decode() == item["fingerprint"]
        assert message.topic.endswith(f".{item['resource']}")
        if item["time"] >= newest.get(item["id"], item)["time"]:
            newest[item["id"]] = item
    for item in newest.values():
        assert delivered.mongo[item["id"]] == {**item, "gaps": 0, "plans": [item["plan"]]}
    for board, resource in (("html", "board"), ("ajax", "ajax")):
        titles = [item["title"] for item in delivered.mongo.values() if item["resource"] == resource]
        expected = expected_items(board).values()
        assert len(titles) == len(expected)
        assert {thread.title for thread in expected if thread.kind.item == "equal"} <= set(titles)


def test_the_ledger_accounts_for_every_thread(delivered):
    total = delivered.ledger["total"]
    assert delivered.ledger["problems"] == []
    assert total["difference"] == total["ready"] == total["executing"] == 0
    board = next(row for row in delivered.ledger["rows"] if row["site"] == "board")
    assert board["failures"] == Counter(
        thread.kind.reason for thread in wanted("html").values() if thread.kind.ending == "fail"
    )


def test_equal_threads_on_both_boards_give_equal_items(delivered):
    by_board = {"board": {}, "ajax": {}}
    for item in delivered.mongo.values():
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


def test_an_item_holds_what_the_thread_says_and_its_files_lie_in_the_store(delivered):
    threads = expected_items("ajax")
    checked = 0
    for item in delivered.mongo.values():
        if item["resource"] != "ajax":
            continue
        thread = threads[int(item["url"].rpartition("/")[2])]
        assert item["content"].split("\n") == list(thread.paragraphs)
        assert item["author"] == thread.author
        assert item["language"] == thread.language
        hashes = sorted(hashlib.sha256(image_bytes(number)).hexdigest() for number in thread.images)
        assert sorted(image["sha256"] for image in item["images"]) == hashes
        for image in item["images"]:
            stored = (delivered.media / image["path"]).read_bytes()
            assert hashlib.sha256(stored).hexdigest() == image["sha256"]
            checked += 1
    assert checked > 20


def test_all_odd_pages_are_met():
    met = {thread.kind for thread in wanted("html").values()}
    assert set(kinds.ODD) <= met

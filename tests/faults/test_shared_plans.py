"""Plans that want the same pages: one is cancelled midway, a worker is killed, another plan comes when all is over."""

from __future__ import annotations

import json
import re

import pytest
import topics
from crawl import CRAWL_SECONDS, crawl_to_every_sink
from pymongo import MongoClient
from waiting import until

from testbed.audit import handed_on

pytestmark = pytest.mark.faults

SITE = "board"
WORDS = {"first": ["救援"], "second": ["救援", "停电"], "third": ["救援", "停电"]}


@pytest.fixture
def crawl(fork_server, redis_server, forum, kafka_server, mongo_server, tmp_path):
    """A crawl of the forum with every sink."""
    with crawl_to_every_sink(fork_server, tmp_path, redis_server, kafka_server, mongo_server, FILES_STORE="") as crawl:
        yield crawl


def submit(crawl, forum, name):
    event = {"required": ["洪水"], "optional": WORDS[name]}
    keywords = {"region": {"optional": ["重庆", "四川"]}, "event": event}
    crawl.submit([{"use": "demo_forum", "name": SITE, "base": forum.url}], [], name=name, keywords=keywords, pages=4)


def threads_asked_for(forum, since=0):
    """Returns the addresses of the threads that were asked for, from byte `since` of the forum's log on."""
    with forum.access_log.open("rb") as log:
        log.seek(since)
        paths = [json.loads(line)["path"] for line in log]
    return {path for path in paths if re.match(r"/thread/", path)}


def items_by_plan(crawl, kafka_server):
    """Returns the `id`s of each plan's items, alike in every sink.

    Of the cancelled plan nothing is promised: the killed worker may have delivered its last items to some sinks alone.
    """
    files, kafka, mongo = {}, {}, {}
    for item in crawl.items():
        files.setdefault(item["id"], set()).add(item["plan"])
    names = [f"{crawl.settings['TOPIC_PREFIX']}{SITE}{suffix}" for suffix in ("", ".also")]
    for record in topics.records(kafka_server.bootstrap, *names):
        message = json.loads(record.value)
        kafka.setdefault(message["id"], set()).add(message["plan"])
    with MongoClient(crawl.environment["MONGO_URL"]) as client:
        for document in client[crawl.environment["MONGO_DATABASE"]]["items"].find():
            mongo[document["_id"]] = set(document["plans"])
    by_plan = {plan: {one for one, plans in files.items() if plan in plans} for plan in ("second", "third")}
    for plan, items in by_plan.items():
        assert items == {one for one, plans in kafka.items() if plan in plans}
        assert items == {one for one, plans in mongo.items() if plan in plans}
    return by_plan


def row_of(crawl, plan):
    """Returns a plan's ledger of content pages, after a recount that agrees with all ledgers."""
    ledger = crawl.json("ledger", "--verify")
    assert ledger["problems"] == []
    assert ledger["total"]["difference"] == 0
    return next(row["content"] for row in ledger["rows"] if row["plan"] == plan)


def test_every_plan_gets_every_page_of_its_own(crawl, forum, kafka_server, row):
    submit(crawl, forum, "first")
    submit(crawl, forum, "second")
    workers = [crawl.worker(spider, STOP_WHEN_DONE=1) for spider in ("producer", "consumer", "consumer")]
    until(lambda: crawl.counts()["finished"] >= 20 and crawl.counts()["executing"], "pages, and more at work")
    crawl.scrapy("plan", "cancel", "first")
    workers.pop().kill()
    for worker in [*workers, crawl.worker(STOP_WHEN_DONE=1)]:
        assert worker.wait(CRAWL_SECONDS) == 0, worker.log.read_text()
    second = row_of(crawl, "second")
    assert "cancelled" not in second["failures"]
    items_of_second = len(items_by_plan(crawl, kafka_server)["second"])
    assert items_of_second == second["finished"] - handed_on(second["notes"])

    before = forum.access_log.stat().st_size
    submit(crawl, forum, "third")
    crawl.finish(consumers=1, producers=1)
    third = row_of(crawl, "third")
    asked_again = threads_asked_for(forum, before)
    assert len(asked_again) <= handed_on(third["notes"])  # a page that moved is asked where it moved to
    items = items_by_plan(crawl, kafka_server)
    assert items["second"] <= items["third"]
    row("plans that share pages", items_of_second=items_of_second, told=third["finished"], asked_again=len(asked_again))

"""What operators see of workers: they wait, wake, stop, and outlive their sinks."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from needs import need
from waiting import until

from crawler.base.errors import UnavailableError
from crawler.config.crawl_settings import VALUES
from crawler.scheduler import FORCED_STOP_SECONDS
from testbed.forum import content, kinds
from testbed.servers import kafka, mongo

TESTS = Path(__file__).parent.parent
STOP_SECONDS = 30.0  # what a stopping worker has


@pytest.fixture
def host(many_hosts):
    (host,) = many_hosts().hosts
    return host


@pytest.fixture
def slow_pages(crawl, host):
    """A worker on 300 slow pages of a host, the first of which are done."""
    crawl.site(concurrency=4)
    crawl.offer(f"http://{host}/slow?s=0.1&n={number}" for number in range(300))
    worker = crawl.worker()
    until(lambda: crawl.counts()["finished"] >= 3, "the first pages")
    return worker


def nothing_is_held(crawl):
    """Holds that a worker that has ended has handed back what it had, and that no page was tried in vain."""
    counts = crawl.counts()
    assert (counts["executing"], counts["failed"], counts["reclaimed"]) == (0, 0, 0)
    assert counts["ready"] + counts["finished"] == 300
    assert counts["ready"] > 0


def test_an_idle_consumer_fetches_what_is_offered(crawl, host):
    crawl.site()
    worker = crawl.worker()
    until(lambda: "on frontier content" in worker.log.read_text(), "the worker")
    crawl.offer([f"http://{host}/page/1", f"http://{host}/answer?status=404"])
    until(lambda: crawl.counts()["finished"] == crawl.counts()["failed"] == 1, "the seeds to end")
    assert "http-404" in crawl.scrapy("seeds", "show", f"http://{host}/answer?status=404")


def test_sigterm_hands_back_what_was_not_begun(crawl, slow_pages):
    os.kill(slow_pages.pid, signal.SIGTERM)
    assert slow_pages.wait(STOP_SECONDS) == 0
    nothing_is_held(crawl)
    assert [key for key in crawl.redis.scan_iter("hr:{*}:*") if b":turns:" in key or b":held:" in key] == []
    assert crawl.total()["difference"] == 0


def test_an_operator_drains_a_node_and_stops_its_workers(crawl, slow_pages):
    node = crawl.workers()[0]["node"]
    until(lambda: crawl.json("nodes", "shares")["shares"], "its weight to be told")
    (share,) = crawl.json("nodes", "shares")["shares"]
    assert (share["node"], share["share_percent"], share["hosts_percent"] in (None, 100)) == (node, 100, True)
    crawl.scrapy("nodes", "drain", node)
    until(lambda: crawl.counts()["executing"] == 0, "what it carries to end")
    until(lambda: crawl.json("nodes", "shares")["shares"] == [], "the others to hear that it claims nothing")
    assert crawl.counts()["ready"] > 0
    crawl.scrapy("nodes", "resume", node)
    until(lambda: crawl.counts()["executing"] > 0, "claims to go on")
    crawl.scrapy("nodes", "stop", node)
    assert slow_pages.wait(STOP_SECONDS) == 0
    nothing_is_held(crawl)


def test_a_second_sigterm_ends_it_at_once_and_still_hands_all_back(crawl, host):
    crawl.site(concurrency=4)
    crawl.offer(f"http://{host}/slow?s=20&n={number}" for number in range(4))
    worker = crawl.worker()
    until(lambda: crawl.counts()["executing"] == 4, "pages under way")
    os.kill(worker.pid, signal.SIGTERM)
    until(lambda: "Send again to force" in worker.log.read_text(), "the first to be noticed")
    os.kill(worker.pid, signal.SIGTERM)
    worker.wait(FORCED_STOP_SECONDS + 5.0)
    counts = crawl.counts()
    assert (counts["executing"], counts["ready"], counts["reclaimed"]) == (0, 4, 0)
    assert crawl.redis.keys("hr:{0}:sessions") == []


def test_a_worker_one_of_whose_tasks_dies_ends_with_the_reason(crawl, host):
    """It would look idle for ever."""
    crawl.site()
    crawl.offer([f"http://{host}/slow?s=20"])
    extensions = {name: place for name, place in VALUES["EXTENSIONS"].items() if place is not None} | {
        "end_to_end.dying.Dying": 500
    }
    worker = crawl.worker(EXTENSIONS=json.dumps(extensions), environment={"PYTHONPATH": str(TESTS)})
    assert worker.wait(STOP_SECONDS) == 1, worker.log.read_text()
    assert "its task 'duties' died" in worker.log.read_text()
    assert "a bug of ours" in worker.log.read_text()
    assert (crawl.counts()["ready"], crawl.counts()["executing"]) == (1, 0)


@pytest.mark.parametrize(
    ("name", "kind"), [("mongo", mongo.Mongo), pytest.param("kafka", kafka.Kafka, marks=pytest.mark.faults)]
)
def test_a_sink_that_is_away_at_the_start_stops_claims_until_it_is_there(crawl, many_hosts, tmp_path, name, kind):
    try:
        server = kind(tmp_path)
    except UnavailableError as error:
        need(error)
    address = {"mongo": "MONGO_URL", "kafka": "KAFKA_BOOTSTRAP_SERVERS"}[name]
    environment = {address: server.url if name == "mongo" else server.bootstrap, "MONGO_DATABASE": "test"}
    hosts = many_hosts(1, 20).hosts
    crawl.site()
    crawl.offer(f"http://{host}/page/1" for host in hosts)
    worker = crawl.worker(ITEM_SINKS=name, STOP_WHEN_DONE=1, SINK_RETRY_MAX_SECONDS=0.2, environment=environment)
    until(lambda: f'"{name}"' in crawl.scrapy("nodes", "--json"), "the worker to say that the sink is away")
    assert crawl.counts()["finished"] == 0
    with server:
        assert worker.wait(60) == 0, worker.log.read_text()
    assert crawl.counts()["finished"] == len(hosts)


def test_pages_that_are_no_pages_fail_with_a_reason_and_a_feed_of_scrapys_has_the_items(crawl, forum, tmp_path):
    odd = {kind.name: next(thread for thread in content.threads() if thread.kind is kind) for kind in kinds.ODD}
    paths = ("/big", odd["empty"].path, odd["not-html"].path, odd["mislabelled"].path, "/thread/1001")
    crawl.site(concurrency=4)
    crawl.offer(forum.url + path for path in paths)
    worker = crawl.worker("consumer", "-o", tmp_path / "feed.jsonl", STOP_WHEN_DONE=1)
    assert worker.wait(60) == 0, worker.log.read_text()
    assert crawl.total()["failures"] == {"too-large": 1, "empty-body": 1, "not-html": 1}
    assert "Traceback" not in worker.log.read_text()
    feed = [json.loads(line) for line in (tmp_path / "feed.jsonl").read_bytes().splitlines()]
    assert len(feed) == 2
    assert feed == crawl.items()


BROKEN_SPIDER = """
from crawler.spiders.consumer import ConsumerSpider

class BrokenSpider(ConsumerSpider):
    name = "broken"

    async def read(self, page, visit, site):
        raise ZeroDivisionError
"""


@pytest.mark.parametrize("fast_engine", [1, pytest.param(0, marks=pytest.mark.faults)])
def test_a_page_whose_callback_raises_fails(crawl, host, tmp_path, fast_engine):
    crawl.site()
    crawl.offer([f"http://{host}/page/1"])
    (tmp_path / "broken_spiders.py").write_text(BROKEN_SPIDER)
    settings = {"SPIDER_MODULES": "broken_spiders", "FAST_ENGINE": fast_engine, "STOP_WHEN_DONE": 1}
    assert crawl.worker("broken", environment={"PYTHONPATH": str(tmp_path)}, **settings).wait(STOP_SECONDS) == 0
    assert crawl.counts()["failed"] == 1
    assert "callback-error" in crawl.scrapy("seeds", "show", f"http://{host}/page/1")

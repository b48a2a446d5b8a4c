"""What operators see of workers: they wait, wake, stop, and outlive their sinks."""

from __future__ import annotations

import json
import time

import pytest

from testbed.forum import content, kinds
from testbed.servers import Kafka

PATIENCE_SECONDS = 40.0
SETTINGS = {"ALLOW_PRIVATE_ADDRESSES": 1, "NODE_CPU_LIMIT_PERCENT": 100}


def until(condition, what, seconds=PATIENCE_SECONDS):
    """Waits for a condition."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


def plain_pages(forum):
    """Returns the addresses of threads that have nothing odd about them."""
    threads = content.threads()
    return [forum.url + thread.path for thread in threads if thread.kind is kinds.PLAIN and len(thread.pages) == 1]


@pytest.fixture
def total(scrapy):
    """Returns a function that gives the ledger's total."""

    def read():
        return json.loads(scrapy("ledger", "--json").stdout)["total"]

    return read


def test_an_idle_consumer_fetches_what_is_offered(scrapy, spawn, forum, total):
    spawn("crawl", "consumer", settings=SETTINGS)
    until(lambda: "consumer" in scrapy("nodes").stdout or "content" in scrapy("nodes").stdout, "the worker")
    offered = scrapy("seeds", "offer", f"{forum.url}/thread/1001", f"{forum.url}/gone/nothing")
    assert offered.returncode == 0, offered.stderr
    until(lambda: total()["finished"] == 1 and total()["failed"] == 1, "the seeds to end")
    shown = scrapy("seeds", "show", f"{forum.url}/gone/nothing")
    assert "http-404" in shown.stdout


def test_sigterm_hands_back_what_was_not_begun(scrapy, spawn, forum, total):
    urls = plain_pages(forum)[:150]
    assert scrapy("seeds", "offer", *urls).returncode == 0
    worker = spawn("crawl", "consumer", settings=SETTINGS)
    until(lambda: total()["finished"] >= 3, "the first pages")
    begun = time.monotonic()
    worker.stop()
    assert time.monotonic() - begun < 30
    after = total()
    assert after["executing"] == 0
    assert after["failed"] == 0
    assert after["finished"] + after["ready"] == len(urls)
    assert scrapy("ledger", "--verify").returncode == 0


def test_a_killed_workers_seeds_go_to_the_next_one(scrapy, spawn, forum, total, tmp_path):
    urls = plain_pages(forum)[:40]
    assert scrapy("seeds", "offer", *urls).returncode == 0
    settings = SETTINGS | {"SESSION_SECONDS": 2}
    first = spawn("crawl", "consumer", settings=settings)
    until(lambda: (now := total())["finished"] >= 3 and now["executing"] >= 3, "the first pages, and more at work")
    first.kill()
    assert total()["executing"] > 0
    second = spawn("crawl", "consumer", settings=settings | {"STOP_WHEN_DONE": 1})
    assert second.wait(120) == 0, second.log.read_text()
    after = total()
    assert after["finished"] == len(urls)
    files = (tmp_path / "items").glob("*.jsonl")
    found = {json.loads(line)["url"] for file in files for line in file.read_bytes().splitlines()}
    assert found == set(urls)


def test_a_sink_that_is_away_stops_claims_until_it_is_there(scrapy, spawn, forum, total, topic_prefix, tmp_path):
    try:
        kafka = Kafka(tmp_path)
    except Exception as error:  # noqa: BLE001 -- no Java on this machine: said by the fixture of the other tests
        pytest.skip(str(error))
    assert scrapy("seeds", "offer", *plain_pages(forum)[:20]).returncode == 0
    environment = {"KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap}
    settings = SETTINGS | {"ITEM_SINKS": "kafka", "TOPIC_PREFIX": topic_prefix, "STOP_WHEN_DONE": 1}
    worker = spawn("crawl", "consumer", settings=settings, environment=environment)
    until(lambda: "kafka" in scrapy("nodes", "--json").stdout, "the worker to say that Kafka is away")
    assert total()["finished"] == 0
    kafka.start()
    try:
        assert worker.wait(120) == 0, worker.log.read_text()
        assert total()["finished"] == 20
    finally:
        kafka.stop()


def test_redis_that_is_away_at_start_is_named_and_the_process_ends(scrapy):
    done = scrapy(
        "crawl",
        "consumer",
        settings={"CONNECT_SECONDS": 1},
        environment={"REDIS_URL": "redis://user:secret@127.0.0.1:1/0"},
    )
    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stderr
    assert "secret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_setting_out_of_range_is_named(scrapy):
    done = scrapy("crawl", "consumer", settings={"SESSION_SECONDS": "0"})
    assert done.returncode == 1
    assert "SESSION_SECONDS" in done.stderr
    assert "Traceback" not in done.stderr


def test_pages_that_are_no_pages_fail_with_a_reason(scrapy, spawn, forum, total):
    odd = {kind.name: next(thread for thread in content.threads() if thread.kind is kind) for kind in kinds.ODD}
    urls = [forum.url + path for path in ("/big", odd["empty"].path, odd["not-html"].path, odd["mislabelled"].path)]
    assert scrapy("seeds", "offer", *urls).returncode == 0
    worker = spawn("crawl", "consumer", settings=SETTINGS | {"STOP_WHEN_DONE": 1})
    assert worker.wait(120) == 0
    assert total()["failures"] == {"too-large": 1, "empty-body": 1, "not-html": 1}
    assert total()["finished"] == 1
    assert "Traceback" not in worker.log.read_text()


def test_scrapys_own_feeds_have_the_items(scrapy, spawn, forum, tmp_path):
    assert scrapy("seeds", "offer", f"{forum.url}/thread/1001").returncode == 0
    feed = tmp_path / "feed.jsonl"
    worker = spawn("crawl", "consumer", "-o", feed, settings=SETTINGS | {"STOP_WHEN_DONE": 1})
    assert worker.wait(60) == 0
    (file,) = (tmp_path / "items").glob("*.jsonl")
    assert json.loads(feed.read_text()) == json.loads(file.read_text())

"""Redis at maxmemory: claims and offers wait in a state that shows, what is held ends, and nothing is lost.

What its scripts do then, seed by seed, tests/frontier/test_full_redis.py holds.
"""

from __future__ import annotations

import pytest
import redis
from needs import started
from waiting import until

from testbed.forum import content
from testbed.servers import Redis

pytestmark = pytest.mark.faults  # Redis is filled, and waited for

STOP_SECONDS = 30.0  # what a stopping worker has
FULL = "is full: raise its maxmemory (CONFIG SET maxmemory, and in its configuration file)"
WORDS = ["洪水", "重庆", "四川", "救援"]


@pytest.fixture
def own_redis(tmp_path):
    """A client of a Redis that nobody else fills."""
    with started(Redis, tmp_path) as server, redis.Redis(port=server.port) as client:
        client.url = server.url
        yield client


@pytest.fixture
def redis_url(own_redis):
    return own_redis.url


def submit(crawl, forum, name="flood"):
    crawl.submit([{"use": "demo_forum", "name": "board", "base": forum.url}], WORDS, name=name, pages=4)


def refusals(client):
    """Returns how many commands the server has refused for want of memory."""
    return client.info("errorstats").get("errorstat_OOM", {"count": 0})["count"]


def until_told(crawl):
    until(lambda: [one["state"] for one in crawl.workers()] == ["redis-full"], "the worker to say that Redis is full")


def test_commands_that_need_room_say_so_and_those_that_make_room_work(own_redis, crawl, forum):
    submit(crawl, forum)
    (crawl.folder / "late.yaml").write_text((crawl.folder / "flood.yaml").read_text().replace("flood", "late"))
    own_redis.config_set("maxmemory", 1)

    def is_refused(*words):
        done = crawl.run(*words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: Redis at ")
        assert FULL in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stderr.endswith("; the same command completes it\n") == (words[0] == "plan")

    is_refused("plan", "submit", crawl.folder / "flood.yaml")
    is_refused("seeds", "offer", f"{forum.url}/thread/1")
    assert crawl.counts("nav")["offered"] == 4
    for action in ("pause", "resume", "cancel", "delete"):
        done = crawl.run("plan", action, "flood")
        assert (done.returncode, done.stderr) == (0, "")
    log = crawl.finish()  # a worker can start; with nothing left it needn't wait for room to end
    assert log.count(b"Redis is full: claims") == 1
    is_refused("plan", "submit", crawl.folder / "late.yaml")
    own_redis.config_set("maxmemory", 0)
    submit(crawl, forum, "late")
    assert crawl.counts("nav")["ready"] == 4
    assert crawl.total()["difference"] == 0


def test_a_consumer_ends_what_it_holds_waits_and_goes_on_by_itself(own_redis, crawl, many_hosts):
    (host,) = many_hosts().hosts
    urls = [f"http://{host}/slow?s=0.1&n={number}" for number in range(80)]
    crawl.site(concurrency=2)
    crawl.offer(urls)
    worker = crawl.worker(STOP_WHEN_DONE=1)
    until(lambda: crawl.counts()["finished"] >= 3, "the first pages")
    own_redis.config_set("maxmemory", 1)
    until_told(crawl)
    until(lambda: not crawl.counts()["executing"], "what it holds to end")
    counts = crawl.counts()
    assert counts["ready"] + counts["finished"] == len(urls)
    assert counts["ready"] > 0
    assert "redis-full" in crawl.run("nodes").stdout
    (waiting,) = crawl.json("seeds", "list", "--state", "ready", "--limit", "1")["seeds"]
    assert "claim nothing while Redis is full" in crawl.scrapy("seeds", "show", waiting["url"])
    tries = refusals(own_redis)
    until(lambda: refusals(own_redis) >= tries + 2, "it to try again")  # in vain: no further line in its log
    assert worker.running
    log = worker.log.read_text()
    assert log.count("Redis is full: claims") == 1
    assert "not renewed" not in log
    own_redis.config_set("maxmemory", 0)
    assert worker.wait(60) == 0, worker.log.read_text()
    log = worker.log.read_text()
    assert log.count("Redis has room again") == 1
    assert "Traceback" not in log
    assert "was lost" not in log
    assert sorted(item["url"] for item in crawl.items()) == sorted(urls)
    total = crawl.total()
    assert (total["finished"], total["failed"], total["difference"]) == (len(urls), 0, 0)


def test_a_producer_s_offers_wait_and_are_handed_back_on_sigterm(own_redis, crawl, forum):
    submit(crawl, forum)
    producer = crawl.worker("producer")
    until(lambda: crawl.counts("nav")["executing"], "a search page to be held")
    own_redis.config_set("maxmemory", 1)
    until_told(crawl)
    counts = crawl.counts("nav")
    assert counts["executing"] > 0
    assert counts["executing"] + counts["ready"] + counts["finished"] == counts["offered"]
    assert producer.stop(STOP_SECONDS) == 0
    log = producer.log.read_text()
    assert log.count("Redis is full: claims") == 1
    assert "Traceback" not in log
    counts = crawl.counts("nav")
    assert (counts["executing"], counts["failed"]) == (0, 0)
    assert counts["ready"] + counts["finished"] == counts["offered"]
    assert crawl.workers() == []

    own_redis.config_set("maxmemory", 0)
    crawl.worker("producer")
    until(lambda: (done := crawl.counts("nav"))["finished"] == done["offered"], "all search pages")
    expected = {forum.url + one.path for word in WORDS for one in content.expected_results(word, "html")[:80]}
    listed = crawl.json("seeds", "list", "--frontier", "content", "--limit", "10000")
    assert {row["url"] for row in listed["seeds"]} == expected
    assert crawl.total()["difference"] == 0

"""Redis at maxmemory: claims and offers wait in a state that shows, what is held ends, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json

import pytest
import redis as sync_redis
from needs import started
from scrapy.settings import Settings
from waiting import until

from crawler.base.events import Events
from crawler.base.models import Seed
from crawler.frontier.queue import OFFER_BATCH
from crawler.frontier.session import Session
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.plans.operator import Operator
from testbed.forum import content
from testbed.servers import Redis

pytestmark = pytest.mark.faults  # Redis is filled, and waited for

STOP_SECONDS = 30.0  # what a stopping worker has
FULL = "is full: raise its maxmemory (CONFIG SET maxmemory, and in its configuration file)"
SEEDS = 9_000
BATCH = OFFER_BATCH  # what a full Redis refuses as a whole
HOSTS = 40
PLAN = """
name: {name}
sites: [{{use: demo_forum, name: board, base: "{base}"}}]
keywords: {{event: {{optional: [洪水, 重庆, 四川, 救援]}}}}
pages: 4
"""
WORDS = ("洪水", "重庆", "四川", "救援")


@pytest.fixture
def own_redis(tmp_path):
    """A client of a Redis that nobody else fills."""
    with started(Redis, tmp_path) as server, sync_redis.Redis(port=server.port) as client:
        client.url = server.url
        yield client


@pytest.fixture
def redis_url(own_redis):
    return own_redis.url


@pytest.fixture
def plan(forum, tmp_path):
    """Returns a function that writes a plan of the given name."""

    def write(name):
        file = tmp_path / f"{name}.yaml"
        file.write_text(PLAN.format(name=name, base=forum.url), encoding="utf-8")
        return file

    return write


def limit(client, more_bytes=0):
    """Sets maxmemory to what is in use and a bit more."""
    client.config_set("maxmemory", max(1, client.info("memory")["used_memory"] + more_bytes))


def refusals(client):
    """Returns how many commands the server has refused for want of memory."""
    return client.info("errorstats").get("errorstat_OOM", {"count": 0})["count"]


class Outsider:
    """A worker of the test's own, which keeps an account of what became of each seed it ended."""

    def __init__(self, url, operator):
        self.ended = {}
        self._queue = operator.queues["content"]
        self._claims = itertools.count()
        self.session = Session(
            sync_redis.Redis.from_url(url),
            operator.keys,
            partitions=1,
            seconds=15,
            events=Events(),
        )
        self.session.open(asyncio.get_running_loop())

    async def claim(self, max_seeds):
        owner = self.session.leases[0].owner
        return await self._queue.claim(0, owner, f"{owner}#{next(self._claims)}", max_seeds=max_seeds, carrying=0)

    async def settle(self, held, operation):
        ends = [Settlement(operation, one, reason="" if operation == "finish" else "x") for one in held]
        turns = [TurnRelease(*turn) for turn in {(one.seed.host, one.turn) for one in held}]
        assert await self._queue.settle(0, self.session.leases[0].owner, ends, turns) == (len(held), 0)
        if operation in ("finish", "fail"):
            assert not self.ended.keys() & {one.seed.url for one in held}
            self.ended |= {one.seed.url: operation for one in held}


@pytest.fixture
async def operator(own_redis):
    settings = Settings()
    settings.setmodule("crawler.settings")
    settings.set("REDIS_URL", own_redis.url)
    async with Operator.connect(settings, begin=True) as operator:
        own_redis.hset(operator.keys.partition(0).politeness, "s", "0 4 100")  # delay in ms, concurrency, burst
        yield operator


# -- Counted from the outside -----------------------------------------------------------------------------------------


async def test_what_was_offered_before_during_and_after_is_all_there(own_redis, operator, scrapy):
    seeds = [Seed(f"http://h{number % HOSTS}.test/{number}", "p", "s") for number in range(SEEDS)]
    batches = [seeds[start : start + BATCH] for start in range(0, SEEDS, BATCH)]
    queue = operator.queues["content"]
    worker = Outsider(own_redis.url, operator)
    assert all(await queue.offer(batches[0]))
    held = (await worker.claim(300)).seeds
    assert len(held) == 300

    limit(own_redis, 1_500_000)
    taken = set(batches[0])
    for batch in batches[1:]:
        with contextlib.suppress(sync_redis.exceptions.OutOfMemoryError):
            assert all(await queue.offer(batch))
            taken.update(batch)
    assert BATCH < len(taken) < SEEDS

    limit(own_redis)
    assert (await worker.claim(300)).state == "full"
    for start, operation in enumerate(("finish", "fail", "retry")):
        await worker.settle(held[start::3], operation)
    assert worker.session.alive
    assert (await queue.totals()).executing == 0

    own_redis.config_set("maxmemory", 0)
    for batch in batches:
        assert await queue.offer(batch) == [seed not in taken for seed in batch]
    while len(worker.ended) < SEEDS:
        answer = await worker.claim(500)
        assert answer.state == "ok"
        assert answer.seeds or answer.wait_ms is not None
        await worker.settle(answer.seeds, "finish")
    assert worker.session.close()
    assert worker.ended.keys() == {seed.url for seed in seeds}
    done = scrapy("ledger", "--verify", "--json")
    assert done.returncode == 0, done.stderr
    total = json.loads(done.stdout)["total"]
    assert (total["finished"], total["failed"], total["difference"]) == (SEEDS - 100, 100, 0)


# -- Commands ---------------------------------------------------------------------------------------------------------


def test_commands_that_need_room_say_so_and_those_that_make_room_work(own_redis, scrapy, crawl, forum, plan):
    late = plan("late")
    crawl.scrapy("plan", "submit", plan("flood"))
    limit(own_redis)

    def is_refused(*words):
        done = scrapy(*words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("error: Redis at ")
        assert FULL in done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stderr.endswith("; the same command completes it\n") == (words[0] == "plan")

    is_refused("plan", "submit", plan("flood"))
    is_refused("seeds", "offer", f"{forum.url}/thread/1")
    assert crawl.counts("nav")["offered"] == 4
    for action in ("pause", "resume", "cancel", "delete"):
        done = scrapy("plan", action, "flood")
        assert (done.returncode, done.stderr) == (0, "")
    log = crawl.finish()  # a worker can start; with nothing left it needn't wait for room to end
    assert log.count(b"Redis is full: claims") == 1
    is_refused("plan", "submit", late)
    own_redis.config_set("maxmemory", 0)
    crawl.scrapy("plan", "submit", late)
    assert crawl.counts("nav")["ready"] == 4
    assert crawl.total()["difference"] == 0


# -- Workers ----------------------------------------------------------------------------------------------------------


def test_a_consumer_ends_what_it_holds_waits_and_goes_on_by_itself(own_redis, crawl, many_hosts):
    (host,) = many_hosts().hosts
    urls = [f"http://{host}/slow?s=0.1&n={number}" for number in range(80)]
    crawl.site(concurrency=2)
    crawl.offer(urls)
    worker = crawl.worker(STOP_WHEN_DONE=1)
    until(lambda: crawl.counts()["finished"] >= 3, "the first pages")
    own_redis.config_set("maxmemory", 1)
    until(lambda: [one["state"] for one in crawl.workers()] == ["redis-full"], "the worker to say that Redis is full")
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


@pytest.mark.faults
def test_a_producer_s_offers_wait_and_are_handed_back_on_sigterm(own_redis, crawl, forum, plan):
    crawl.scrapy("plan", "submit", plan("flood"))
    producer = crawl.worker("producer")
    until(lambda: crawl.counts("nav")["executing"], "a search page to be held")
    own_redis.config_set("maxmemory", 1)
    until(lambda: [one["state"] for one in crawl.workers()] == ["redis-full"], "the worker to say that Redis is full")
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

"""The scheduler feeds the engine from the frontier: it claims, starts, releases and settles."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from frontier.driver import content
from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.test import get_crawler

from crawler import settings as project_settings
from crawler.frontier.session import SessionLost
from crawler.scheduler import Scheduler
from crawler.spiders.consumer import ConsumerSpider
from crawler.worker.request_state import state_of
from crawler.worker.turns import HostBackoff
from crawler.worker.worker import Worker

HOSTS = 3


class Engine:
    """The part of Scrapy's engine that the scheduler knows."""

    def __init__(self):
        self.running = True
        self._stopping = False
        self.asked = asyncio.Event()
        self._slot = SimpleNamespace(nextcall=SimpleNamespace(schedule=self.asked.set))
        self.closed_for = None

    async def close_spider_async(self, *, reason):
        self.closed_for = reason


@pytest.fixture
async def build(redis_url):
    """Returns a function that builds a scheduler with its worker and opens it; all are closed with the test."""
    made = []

    async def run(**settings):
        values = {name: value for name, value in vars(project_settings).items() if name.isupper()} | {
            "ADDONS": {},  # they are of the engine, which isn't here
            "REDIS_URL": redis_url,
            "KEY_PREFIX": "t",
            "NODE_CPU_LIMIT_PERCENT": 100,
            "NODE_MEMORY_LIMIT_PERCENT": 100,
            "FIRST_BATCH": 100,
        }
        crawler = get_crawler(ConsumerSpider, values | settings)
        crawler.engine = Engine()
        scheduler = Scheduler.from_crawler(crawler)
        made.append(scheduler)
        await scheduler.open(None).asFuture(asyncio.get_running_loop())
        return scheduler

    yield run
    for scheduler in made:
        await scheduler.close("finished").asFuture(asyncio.get_running_loop())


async def requests(scheduler, number):
    """Takes so many requests, as the engine does."""
    taken = []
    async with asyncio.timeout(10):
        while len(taken) < number:
            scheduler.crawler.engine.asked.clear()
            while (request := scheduler.next_request()) is not None:
                taken.append(request)
            if len(taken) < number:
                await scheduler.crawler.engine.asked.wait()
    return taken


async def offer(scheduler, *seeds):
    for number in range(scheduler.worker.config.frontier.partitions):
        politeness = scheduler.worker.config.frontier.keys.partition(number).politeness
        await scheduler.worker.redis.hset(politeness, "s", "0 1 10")
    await scheduler.worker.queues["content"].offer(seeds)


def end(request):
    state_of(request).end_callback()


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 -- Redis has no event for it
            await asyncio.sleep(0.005)


async def until_totals(scheduler, **expected):
    """Waits until the frontier holds so many seeds in each of the states that are named."""
    async with asyncio.timeout(10):
        while expected != {state: getattr(await scheduler.worker.queue.totals(), state) for state in expected}:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_offered_seeds_become_requests_one_at_a_time_for_each_host(build):
    scheduler = await build()
    await offer(scheduler, *(content(number, f"h{number % HOSTS}.test") for number in range(2 * HOSTS)))
    first = await requests(scheduler, HOSTS)
    assert len({state_of(request).lane.host for request in first}) == HOSTS
    assert scheduler.next_request() is None  # each host has one at a time
    assert scheduler.has_pending_requests()
    for request in first:
        end(request)
    for request in await requests(scheduler, HOSTS):
        end(request)

    await until_totals(scheduler, finished=2 * HOSTS)
    assert not scheduler.has_pending_requests()


async def test_a_seed_s_request_is_made_as_the_seed_says(build):
    scheduler = await build()
    await offer(scheduler, content(1, method="POST", body="q=1"))
    [request] = await requests(scheduler, 1)
    assert (request.method, request.body, request.dont_filter) == ("POST", b"q=1", True)
    assert state_of(request).visit.seed.url == request.url


async def test_follow_up_requests_come_first(build):
    scheduler = await build()
    await offer(scheduler, content(1))
    await until(scheduler.has_pending_requests)
    follow_up = Request("http://a.test/2")
    assert scheduler.enqueue_request(follow_up)
    assert (await requests(scheduler, 1))[0] is follow_up


async def test_a_host_s_backoff_releases_the_visits_not_started(build):
    scheduler = await build()
    await offer(scheduler, content(1), content(2))
    [started] = await requests(scheduler, 1)
    scheduler.worker.events.publish(HostBackoff("a.test", 30.0))
    end(started)

    await until_totals(scheduler, finished=1, ready=1, executing=0)


async def test_a_lost_session_drops_all_visits(build):
    scheduler = await build()
    await offer(scheduler, content(1))
    [request] = await requests(scheduler, 1)
    owner = scheduler.worker.session.owner
    scheduler.worker.events.publish(SessionLost(owner))
    assert not scheduler.has_pending_requests()
    assert state_of(request).visit.ended
    end(request)  # too late: nothing is settled for it
    assert scheduler.worker.claims.carrying == 0
    await until(lambda: scheduler.worker.session.owner != owner)
    assert scheduler.worker.session.alive


async def test_a_stop_releases_the_visits_not_started_and_lets_the_others_end(build):
    scheduler = await build()
    await offer(scheduler, content(1), content(2))
    [started] = await requests(scheduler, 1)
    scheduler.crawler.engine._stopping = True

    await until_totals(scheduler, ready=1, executing=1)
    assert scheduler.worker.stopping.is_set()
    assert scheduler.worker.room() == 0
    end(started)

    await until_totals(scheduler, finished=1)


async def test_closing_releases_all_visits(build):
    scheduler = await build()
    await offer(scheduler, content(1), content(2))
    [started] = await requests(scheduler, 1)
    await scheduler.close("shutdown").asFuture(asyncio.get_running_loop())
    assert state_of(started).visit.ended
    async with scheduler.worker.redis as redis:
        found = await type(scheduler.worker.queue)(redis, scheduler.worker.config.frontier.keys, "content").totals()
    assert (found.ready, found.executing) == (2, 0)


async def test_an_idle_spider_stays_open_until_all_is_done(build):
    scheduler = await build(STOP_WHEN_DONE=1)
    sent = scheduler.crawler.signals.send_catch_log(signals.spider_idle, dont_log=DontCloseSpider)
    assert scheduler.crawler.engine.closed_for or any(
        isinstance(getattr(result, "value", None), DontCloseSpider) for _receiver, result in sent
    )
    await until(lambda: scheduler.crawler.engine.closed_for == "finished")
    sent = scheduler.crawler.signals.send_catch_log(signals.spider_idle, dont_log=DontCloseSpider)
    assert not any(isinstance(getattr(result, "value", None), DontCloseSpider) for _receiver, result in sent)


async def test_a_sink_that_is_away_stops_claims(build):
    scheduler = await build()
    worker = Worker.of(scheduler.crawler)
    worker.sink_down("kafka")
    assert worker.room() == 0
    worker.sink_up("kafka")
    assert worker.room() > 0

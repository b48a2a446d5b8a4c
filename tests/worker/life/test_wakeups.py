"""Messages on the wake channel wake the worker, or become events."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from waiting import PATIENCE_SECONDS

from crawler.base.events import Events
from crawler.base.tasks import cancel
from crawler.frontier.keys import Keys
from crawler.servers import redis_retry
from crawler.worker.life import wakeups
from crawler.worker.life.wakeups import PolitenessChanged, PriorityChanged, SitesChanged, WakeUps, WorkerStarved
from crawler.worker.turns.turns import CrawlDelay, HostBackoff


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
async def heard(redis, monkeypatch):
    """What a listener on channel `w`, `wakeups`, was told: `wake` is set, the lists grow."""
    monkeypatch.setattr(redis_retry, "RETRY_SECONDS", 0.0)
    names = ("sites", "backoffs", "delays", "starved", "ordered", "priorities")
    heard = SimpleNamespace(wake=asyncio.Event(), **{name: [] for name in names})
    events = Events()
    events.subscribe(SitesChanged, heard.sites.append)
    events.subscribe(HostBackoff, lambda event: heard.backoffs.append(tuple(event)))
    events.subscribe(CrawlDelay, lambda event: heard.delays.append(tuple(event)))
    events.subscribe(WorkerStarved, heard.starved.append)
    events.subscribe(PriorityChanged, lambda event: heard.priorities.append(tuple(event)))
    events.subscribe(PolitenessChanged, lambda event: heard.ordered.append(event.host))
    heard.wakeups = WakeUps(redis, "w", heard.wake, events)
    listening = asyncio.create_task(heard.wakeups.listen())
    async with asyncio.timeout(PATIENCE_SECONDS):
        await heard.wake.wait()  # once it has subscribed
    assert heard.sites == [SitesChanged()]  # what was published before, it has not heard
    heard.wake.clear()
    heard.sites.clear()
    yield heard
    await cancel(listening)


@pytest.mark.parametrize(
    "message", [b"offer", b"turn", b"release", b"sites", b"backoff soon", b"backoff 1 ", b"crawl-delay 1", b"\xff\x00"]
)
async def test_any_other_message_wakes_the_worker(redis, heard, message):
    await redis.publish("w", message)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await heard.wake.wait()
    assert (len(heard.sites), heard.backoffs) == (message == b"sites", [])


async def test_a_plans_new_priority_is_published(redis, heard):
    await redis.publish("w", "priority flood 8")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await heard.wake.wait()
    assert heard.priorities == [("flood", 8)]


async def test_what_is_said_of_a_host_or_a_starved_worker_is_published_and_wakes_no_worker(redis, heard):
    await redis.publish("w", b"backoff 1500 a.test:8080")
    await redis.publish("w", b"backoff 7 \xff")
    await redis.publish("w", b"crawl-delay 500 a.test")
    await redis.publish("w", b"politeness b.test")
    await redis.publish("w", b"starved node:1:2:ab")
    await redis.publish("w", b"sites")
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not heard.sites:
            assert not heard.wake.is_set()
            await asyncio.sleep(0.001)
    assert heard.backoffs == [("a.test:8080", 1.5), ("\ufffd", 0.007)]
    assert heard.delays == [("a.test", 0.5)]
    assert (heard.ordered, heard.starved) == (["b.test"], [WorkerStarved("node:1:2:ab")])


async def test_released_turns_that_are_held_back_wake_the_worker_later(redis, heard):
    now = asyncio.get_running_loop().time
    held_until = now() + 0.1
    heard.wakeups.hold_turns(0.1)
    await redis.publish("w", b"turn")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await heard.wake.wait()
    assert now() >= held_until


async def test_sites_that_changed_while_nobody_listened_are_noticed(redis, heard):
    async with redis.pipeline(transaction=True) as pipeline:
        await pipeline.client_kill_filter(_type="pubsub").publish("w", b"sites").execute()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await heard.wake.wait()
    assert heard.sites == [SitesChanged()]


async def test_a_connection_that_gives_no_sign_of_life_is_made_anew(redis, heard, monkeypatch):
    monkeypatch.setattr(wakeups, "PING_SECONDS", 0.01)
    monkeypatch.setattr(wakeups, "SILENT_SECONDS", 0.05)
    monkeypatch.setattr(PubSub, "ping", lambda _self: asyncio.sleep(0))  # as if a firewall dropped it
    await redis.publish("w", b"offer")  # ends the wait that began before
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not heard.sites:
            heard.wake.clear()
            await heard.wake.wait()


def test_each_database_of_a_redis_has_channels_of_its_own():
    assert len({Keys("t", database).wake("content") for database in range(2)}) == 2

"""Messages on the wake channel wake the worker, or become events."""

from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace

import pytest
from redis.asyncio import Redis

from crawler.events import Events
from crawler.worker.turns import HostBackoff
from crawler.worker.wakeups import SitesChanged, WakeUps


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
async def heard(redis):
    """What a listener on channel `w` was told: `wake` is set, `sites` and `backoffs` grow."""

    heard = SimpleNamespace(wake=asyncio.Event(), sites=[], backoffs=[])
    events = Events()
    events.subscribe(SitesChanged, heard.sites.append)
    events.subscribe(HostBackoff, lambda event: heard.backoffs.append(tuple(event)))
    listening = asyncio.create_task(WakeUps(redis, "w", heard.wake, events).listen())
    async with asyncio.timeout(5):
        await heard.wake.wait()  # once it has subscribed
    heard.wake.clear()
    yield heard
    listening.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await listening


@pytest.mark.parametrize(
    "message", [b"offer", b"turn", b"release", b"sites", b"backoff soon", b"backoff 1 ", b"\xff\x00"]
)
async def test_any_other_message_wakes_the_worker(redis, heard, message):
    await redis.publish("w", message)
    async with asyncio.timeout(5):
        await heard.wake.wait()
    assert (len(heard.sites), heard.backoffs) == (message == b"sites", [])


async def test_a_host_s_backoff_is_published_and_wakes_no_worker(redis, heard):
    await redis.publish("w", b"backoff 1500 a.test:8080")
    await redis.publish("w", b"backoff 7 \xff")
    await redis.publish("w", b"sites")
    async with asyncio.timeout(5):
        while not heard.sites:
            assert not heard.wake.is_set()
            await asyncio.sleep(0.001)
    assert heard.backoffs == [("a.test:8080", 1.5), ("\ufffd", 0.007)]

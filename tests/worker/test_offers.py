"""A worker's offers outlast a Redis that is full or away; a worker that stops gives them up."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from frontier.conftest import frontier, redis  # noqa: F401 -- fixtures
from frontier.driver import content
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.errors import UnavailableError
from crawler.frontier import scripts
from crawler.servers.redis_full import RedisFull
from crawler.worker import offers
from crawler.worker.offers import offer


@pytest.fixture
def redis_settings(redis_url):
    return {"REDIS_URL": redis_url}


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(offers, "FULL_MILLISECONDS", 10)
    monkeypatch.setattr(offers, "AGAIN_SECONDS", 0.01)


@pytest.fixture
async def full_redis(redis):  # noqa: F811
    await redis.config_set("maxmemory", 1)
    yield redis
    await redis.config_set("maxmemory", 0)


async def test_they_wait_for_room(frontier, full_redis):  # noqa: F811
    queue, full = frontier.queues["content"], RedisFull()
    offering = asyncio.create_task(offer(queue, [content(1), content(2)], full, lambda: False))

    async def refused():
        return full.now

    await frontier.until(refused)
    assert not offering.done()
    await full_redis.config_set("maxmemory", 0)
    assert await offering == 2
    assert not full.now
    assert (await frontier.totals()).ready == 2


async def test_a_worker_that_stops_gives_them_up(frontier, full_redis):  # noqa: F811
    tries = itertools.count()
    with pytest.raises(UnavailableError, match="1 offers are left to another visit"):
        await offer(frontier.queues["content"], [content(1)], RedisFull(), lambda: next(tries) == 3)
    assert next(tries) == 4


async def test_they_wait_for_a_redis_that_is_away(frontier, monkeypatch, caplog):  # noqa: F811
    real, tries = scripts.run, itertools.count()

    async def away(*arguments):
        if next(tries) < 2:
            raise RedisConnectionError("away")
        return await real(*arguments)

    monkeypatch.setattr(scripts, "run", away)
    full = RedisFull()
    assert await offer(frontier.queues["content"], [content(1)], full, lambda: False) == 1
    assert caplog.text.count("1 offers wait for Redis: away") == 2
    assert not full.now

"""A worker's offers outlast a Redis that is full or away; a worker that stops gives them up."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from frontier.driver import content
from samples import Stats

from crawler.errors import UnavailableError
from crawler.servers.redis_full import RedisFull
from crawler.worker import offers
from crawler.worker.offers import Offers


@pytest.fixture(autouse=True)
def _room_soon(monkeypatch):
    monkeypatch.setattr(offers, "FULL_MILLISECONDS", 10)


@pytest.fixture
def offering(frontier):
    """The offers of a worker, with what they are built of."""
    parts = {"redis_full": RedisFull(), "stopping": asyncio.Event(), "stats": Stats()}
    return SimpleNamespace(offers=Offers(frontier.queues, **parts), **parts)


@pytest.fixture
async def full_redis(redis, frontier):
    await redis.config_set("maxmemory", 1)
    yield redis
    await redis.config_set("maxmemory", 0)


async def test_offers_wait_for_a_full_redis(frontier, full_redis, offering):
    waiting = asyncio.create_task(offering.offers.offer([content(1), content(2)]))

    async def refused():
        return offering.redis_full.now

    await frontier.until(refused)
    assert not waiting.done()
    await full_redis.config_set("maxmemory", 0)
    assert await waiting == 2
    assert not offering.redis_full.now
    assert (await frontier.totals()).ready == 2
    assert offering.stats.values == {"frontier/offered": 2, "frontier/offered/new": 2}


async def test_refused_pages_wait_for_a_redis_that_is_away_too(frontier, offering, outage):
    outage(calls=2)
    await offering.offers.refuse(content(1), "script-route", 3)
    assert (await frontier.account()).as_dict()["notes"] == {"script-route": 3}


async def test_a_worker_that_stops_gives_its_offers_up(full_redis, offering):
    offering.stopping.set()
    with pytest.raises(UnavailableError, match="1 offers are left to the next visit"):
        await offering.offers.offer([content(1)])


async def test_offers_wait_for_a_redis_that_is_away(offering, outage, caplog):
    outage(calls=2)
    assert await offering.offers.offer([content(1)]) == 1
    assert caplog.text.count("1 offers: waiting for Redis: away") == 1
    assert not offering.redis_full.now

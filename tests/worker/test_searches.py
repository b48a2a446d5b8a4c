"""The end of a search holds for the pages behind it, in its own edition and run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis.asyncio import Redis
from samples import a_claim

from crawler.frontier.keys import Keys
from crawler.models import Seed
from crawler.worker.searches import MEMORY_SECONDS, Searches

HOUR = 3_600


@pytest.fixture
async def searches(redis_url):
    async with Redis.from_url(redis_url) as redis:
        yield Searches(redis, Keys("hr"))


def page(number, *, due_ms=0, **fields):
    """A claimed page of the search for a flood."""
    seed = Seed(f"http://a.test/{number}", "p", "s", "nav", ("flood",), edition=1, page=number)
    return replace(a_claim(due_ms=due_ms), seed=replace(seed, **fields))


async def test_pages_behind_the_one_without_results_are_behind_the_end(searches):
    assert not await searches.ended_before(page(3))
    await searches.end(page(3))
    assert [await searches.ended_before(page(number)) for number in range(1, 6)] == [False, False, False, True, True]


@pytest.mark.parametrize(
    "other",
    [
        {"keywords": ("fire",)},
        {"keywords": ("flood", "fire")},
        {"edition": 2},
        {"site": "t"},
        {"plan": "q"},
        {"run": 1},
    ],
)
async def test_other_searches_go_on(searches, other):
    await searches.end(page(1))
    assert await searches.ended_before(page(2))
    assert not await searches.ended_before(page(2, **other))


async def test_each_run_of_a_scheduled_search_finds_its_own_end(searches):
    await searches.end(page(2, interval_s=HOUR, due_ms=5 * HOUR * 1_000))
    ended = [await searches.ended_before(page(3, interval_s=HOUR, due_ms=hour * HOUR * 1_000 + 1)) for hour in (5, 6)]
    assert ended == [True, False]


async def test_an_end_is_remembered_for_a_while(searches):
    await searches.end(page(1))
    [key] = await searches._redis.keys("*")
    assert 0 < await searches._redis.ttl(key) <= MEMORY_SECONDS


@pytest.mark.parametrize("junk", [b"x" * 100, b"-", [b"1"]])
async def test_without_a_number_to_rely_on_the_search_goes_on(searches, junk):
    await searches.end(page(1))
    [key] = await searches._redis.keys("*")
    await searches._redis.delete(key)
    await (searches._redis.rpush(key, *junk) if isinstance(junk, list) else searches._redis.set(key, junk))
    assert not await searches.ended_before(page(2))


async def test_while_redis_is_away_the_search_goes_on():
    async with Redis(port=9) as nobody:
        searches = Searches(nobody, Keys("hr"))
        await searches.end(page(1))
        assert not await searches.ended_before(page(2))

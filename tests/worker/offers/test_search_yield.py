"""How many new pages a search page is expected to bring, on a real Redis."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis.asyncio import Redis
from samples import a_claim

from crawler.base.models import Seed
from crawler.frontier.keys import Keys
from crawler.telemetry import plan_yield
from crawler.worker.offers.search_progress import MEMORY_SECONDS
from crawler.worker.offers.search_yield import SearchYield

KEYS = Keys("hr")


@pytest.fixture
async def searches(redis_url):
    async with Redis.from_url(redis_url) as redis:
        yield SearchYield(redis, KEYS)


def page(*words, number=1, **fields):
    seed = Seed("http://a.test/1", "p", "s", "nav", words, edition=1, page=number, more=1, per_page=20)
    return replace(a_claim(), seed=replace(seed, **fields))


async def learn(searches, claimed, new):
    await searches.learn(claimed, new, looks_for_words=False)


async def test_a_combination_is_judged_by_others_with_its_words(searches):
    assert await searches.expected(page("rich", "x")) == 10
    for other in ("a", "b", "c"):
        await learn(searches, page("rich", other), 20)
        await learn(searches, page("poor", other), 0)
    rich, unknown, poor = [await searches.expected(page(word, "x")) for word in ("rich", "new", "poor")]
    assert rich > 1.5 * unknown > 3 * poor > 0
    assert await searches.expected(page("poor", "x", site="t")) == 10
    assert await searches.expected(page("poor", "x", edition=2)) == 10


async def test_a_further_page_is_judged_by_the_one_before_as_well(searches):
    for word, new in (("rich", 20), ("poor", 0)):
        await learn(searches, page(word), new)
    rich, poor = [await searches.expected(page(word, number=2)) for word in ("rich", "poor")]
    assert rich > 15
    assert poor < 4


async def test_pages_off_topic_count_as_nothing(searches):
    async with searches._redis.pipeline() as pipe:
        off_topic = [plan_yield.counts_of_page(page("a").seed, is_item=False)] * 9
        for counts in off_topic:
            plan_yield.add(pipe, KEYS, "p", counts)
        await pipe.execute()
    for word in ("a", "b"):
        await searches.learn(page(word), 20, looks_for_words=True)
    off_topic, on_topic = [await searches.expected(page(word, number=2)) for word in ("a", "b")]
    assert off_topic < on_topic / 2


async def test_it_is_forgotten_after_a_while_and_junk_says_nothing(searches):
    await learn(searches, page("a"), 3)
    for key in await searches._redis.keys("*"):
        assert 0 < await searches._redis.ttl(key) <= MEMORY_SECONDS
        for field, junk in zip(await searches._redis.hkeys(key), (b"\xff", b"-1", b"nan"), strict=False):
            await searches._redis.hset(key, field, junk)
    assert await searches.expected(page("a", number=2)) == 10
    await learn(searches, page("a"), 3)  # no error
    for key in await searches._redis.keys("*"):
        await searches._redis.delete(key)
        await searches._redis.set(key, "x")
    assert await searches.expected(page("a")) is None

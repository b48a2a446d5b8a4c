"""Whether a search is worth going on with, by what its pages held."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis.asyncio import Redis
from samples import a_claim

from crawler.base.models import Seed
from crawler.extract import Links
from crawler.frontier.keys import Keys
from crawler.worker.offers.search_progress import MEMORY_SECONDS, SHORT_PAGES_TRIED, SearchProgress, Standing

HOUR = 3_600


@pytest.fixture
async def searches(redis_url):
    async with Redis.from_url(redis_url) as redis:
        yield SearchProgress(redis, Keys("hr"))


def page(number, *, due_ms=0, **fields):
    """A claimed page of the search for a flood."""
    seed = Seed(f"http://a.test/{number}", "p", "s", "nav", ("flood",), edition=1, page=number)
    return replace(a_claim(due_ms=due_ms), seed=replace(seed, **fields))


def results(*numbers):
    """What a page with these results holds."""
    return Links(tuple(f"http://a.test/thread/{number}" for number in numbers), found=len(numbers))


@pytest.mark.parametrize(("third", "is_over"), [((1, 2), True), ((3, 4), True), ((5, 6), False)])
async def test_a_page_that_repeats_the_one_before_or_the_first_ends_its_search(searches, third, is_over):
    for number, held in enumerate([(1, 2), (3, 4)], 1):
        assert not (await searches.judge(page(number), results(*held))).over
    assert (await searches.judge(page(3), results(*third))).over == is_over


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
async def test_a_page_repeats_only_those_of_its_own_search(searches, other):
    await searches.judge(page(1), results(1, 2))
    assert not (await searches.judge(page(2, **other), results(1, 2))).over


async def test_a_page_that_is_read_once_more_says_nothing_of_the_end(searches):
    """Its worker died before the next one was offered: all its results are known, by itself."""
    await searches.judge(page(1), results(1, 2))
    await searches.judge(page(2), results(3, 4))
    again = await searches.judge(page(2), results(3, 4))
    assert again == Standing(read_before=True)
    assert await searches.note_new(page(2), again, is_new=False) == 0


async def test_pages_in_a_row_without_anything_new_are_counted(searches):
    idle = []
    for number, is_new in enumerate([False, False, True, False], 1):
        standing = await searches.judge(page(number), results(number))
        idle.append(await searches.note_new(page(number), standing, is_new=is_new))
    assert idle == [1, 2, 0, 1]


async def a_short_end(searches, word, *, then):
    """A search whose second page is short; returns whether it is over there. `then`: what the third page holds."""
    await searches.judge(page(1, keywords=(word,)), results(word + "1", word + "2"))
    over = (await searches.judge(page(2, keywords=(word,)), results(word + "3"))).over
    if not over:
        await searches.judge(page(3, keywords=(word,)), then)
    return over


async def test_short_pages_end_searches_once_they_have_proved_to_be_the_last(searches):
    ends = [await a_short_end(searches, f"word{number}", then=results()) for number in range(SHORT_PAGES_TRIED + 2)]
    assert ends == [False] * SHORT_PAGES_TRIED + [True, True]


async def test_short_pages_end_nothing_on_a_site_that_has_them_in_the_middle(searches):
    first = [await a_short_end(searches, "uneven", then=results("x", "y"))]
    later = [await a_short_end(searches, f"word{number}", then=results()) for number in range(SHORT_PAGES_TRIED + 2)]
    assert not any(first + later)


async def test_after_two_failures_in_a_row_no_further_page_is_asked_for(searches):
    assert [await searches.note_failure(page(number)) for number in (1, 2)] == [True, False]
    assert [await searches.note_failure(page(number, keywords=("x",))) for number in (2, 4, 5)] == [True, True, False]


async def test_a_search_is_remembered_for_a_while_and_forgotten_at_its_end(searches):
    await searches.judge(page(1), results(1))
    for key in await searches._redis.keys("*"):
        assert 0 < await searches._redis.ttl(key) <= MEMORY_SECONDS
    await searches.end(page(1))
    assert len(await searches._redis.keys("*")) == 1  # how large the plan's pages are


async def test_junk_ends_no_search(searches):
    await searches.judge(page(1), results(1, 2))
    for key in await searches._redis.keys("*"):
        for field in await searches._redis.hkeys(key):
            await searches._redis.hset(key, field, b"\xff")
    assert await searches.judge(page(2), results(1, 2)) == Standing()
    for key in await searches._redis.keys("*"):
        await searches._redis.delete(key)
        await searches._redis.set(key, "x")
    assert await searches.judge(page(3), results(1, 2)) == Standing()
    assert await searches.note_failure(page(3))


async def test_while_redis_is_away_searches_go_on():
    async with Redis(port=1) as nobody:
        away = SearchProgress(nobody, Keys("hr"))
        standing = await away.judge(page(1), results(1))
        assert standing == Standing()
        assert await away.note_new(page(1), standing, is_new=False) == 1
        assert await away.note_failure(page(2))
        await away.end(page(1))

"""What plans brought, on a real Redis."""

from __future__ import annotations

from frontier.driver import content, nav

from crawler.frontier.keys import Keys
from crawler.telemetry import plan_yield
from crawler.telemetry.plan_yield import PlanYield, Yield, counts_of_low_yield, counts_of_page, counts_of_search

KEYS = Keys("t")
FLOOD, RAIN = ("洪水", "救援"), ("rain",)


async def add(redis, *counts):
    async with redis.pipeline(transaction=False) as pipeline:
        for one in counts:
            plan_yield.add(pipeline, KEYS, "p", one)
        await pipeline.execute()


async def test_searches_and_items_by_combination_and_page(redis):
    assert await plan_yield.read(redis, KEYS, "p") == PlanYield()
    await add(
        redis,
        counts_of_search(nav(1, keywords=FLOOD, page=1), 20, 18),
        counts_of_search(nav(1, keywords=FLOOD, page=2), 20, 0),
        counts_of_search(nav(1, keywords=RAIN, page=1), 5, 5),
        counts_of_search(nav(1, page=1), 7, 7),  # a list, that is read once for all words
        counts_of_page(content(1, keywords=RAIN, further_keywords=(FLOOD, RAIN))),
        counts_of_page(content(2, keywords=RAIN)),
        counts_of_page(content(4, keywords=FLOOD), is_item=False),
        counts_of_low_yield(nav(1, keywords=FLOOD, page=3, more=2)),
        counts_of_page(content(3)),
    )
    brought = await plan_yield.read(redis, KEYS, "p")
    assert [*brought.combinations.items()] == [("rain", Yield(1, 5, 5, 2)), ("洪水 + 救援", Yield(2, 40, 18, 1, 1, 3))]
    assert brought.pages == {1: Yield(3, 32, 30), 2: Yield(1, 20, 0)}
    counts = {"pages": 1, "found": 5, "new": 5, "items": 2, "off_topic": 0, "low_yield": 0}
    assert brought.rows()[0] == {"words": "rain", "page": None} | counts
    assert len(brought.rows()) == 4
    shares = [await plan_yield.on_topic(redis, KEYS, nav(1, keywords=words, plan="p")) for words in (FLOOD, RAIN)]
    assert shares == [2 / 3, 1]
    assert 0 < await redis.ttl(KEYS.plan_yield("p")) <= plan_yield.KEPT_SECONDS


async def test_junk_and_too_many_combinations(redis, monkeypatch):
    await redis.hset(KEYS.plan_yield("p"), mapping={b"\xff": 1, "found x": 2, "clear 1": 3, 'found {"a":1}': 4})
    assert await plan_yield.read(redis, KEYS, "p") == PlanYield()
    monkeypatch.setattr(plan_yield, "MAX_NAMES", 5)
    await add(redis, counts_of_page(content(1, keywords=FLOOD)), counts_of_page(content(2, keywords=RAIN)))
    await add(redis, counts_of_page(content(3, keywords=FLOOD)))
    assert (await plan_yield.read(redis, KEYS, "p")).combinations == {"洪水 + 救援": Yield(items=2)}

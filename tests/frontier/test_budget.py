"""A host takes so many followed links and no more; what is over its budget was never offered."""

from __future__ import annotations

import asyncio

from frontier.driver import content


async def test_what_is_over_the_budget_is_refused_and_counted_apart(frontier):
    seeds = [content(number) for number in range(5)]
    assert await frontier.offer(*seeds, budget=3) == [True] * 3 + [False] * 2
    account = await frontier.account()
    assert (account.offered, account.ready, account.difference) == (3, 3, 0)
    assert account.as_dict()["notes"] == {"over-budget": 2}
    assert await frontier.problems() == []


async def test_each_host_has_a_budget_of_its_own(frontier):
    seeds = [content(number, host) for host in ("a.test", "b.test") for number in range(3)]
    assert await frontier.offer(*seeds, budget=2) == [True, True, False] * 2


async def test_known_seeds_cost_nothing(frontier):
    assert await frontier.offer(content(1), content(1), content(2), budget=2) == [True, False, True]
    assert await frontier.offer(content(1), content(2), budget=2) == [False, False]
    assert (await frontier.account()).notes == {}


async def test_search_results_have_no_budget(frontier):
    await frontier.offer(content(1), budget=1)
    assert await frontier.offer(content(2), content(3)) == [True, True]
    assert await frontier.offer(content(4), budget=1) == [False]
    assert await frontier.offer(content(4), budget=2) == [True]


async def test_offers_at_the_same_time_share_the_budget(frontier):
    batches = [[content(100 * batch + number) for number in range(10)] for batch in range(8)]
    answers = await asyncio.gather(*(frontier.offer(*batch, budget=25) for batch in batches))
    assert sum(map(sum, answers)) == 25
    assert await frontier.problems() == []


async def test_the_budget_is_forgotten_in_time(frontier):
    await frontier.offer(content(1), budget=1)
    (key,) = [key async for key in frontier.redis.scan_iter("*:followed:*")]
    ends_in_ms = await frontier.redis.pttl(key)
    assert 29 * 86_400_000 < ends_in_ms <= 30 * 86_400_000
    await frontier.redis.delete(key)
    assert await frontier.offer(content(2), budget=1) == [True]

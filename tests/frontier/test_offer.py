"""Each seed is taken once; whoever offers it again is told so, and the ledger counts it."""

from __future__ import annotations

import asyncio

import pytest
from frontier.driver import content, ends, nav
from waiting import PATIENCE_SECONDS


async def test_the_same_seed_twice_in_a_batch_is_known_the_second_time(frontier):
    assert await frontier.offer(content(1), content(2), content(1)) == [True, True, False]
    account = await frontier.account()
    assert (account.offered, account.known, account.ready) == (3, 1, 2)


async def test_two_plans_may_ask_the_same_question(frontier):
    assert await frontier.offer(nav(1, plan="first"), nav(1, plan="second")) == [True, True]


@pytest.mark.parametrize("operation", ["", "finish", "fail", "retry", "release"])
async def test_a_seed_is_known_in_every_state(frontier, operation):
    await frontier.offer(content(1))
    claimed = (await frontier.claim()).seeds
    if operation:
        await frontier.settle("A", ends(claimed, operation, 60_000, "" if operation == "finish" else "http-500"))
    assert await frontier.offer(content(1)) == [False]
    account = await frontier.account()
    assert (account.offered, account.known, account.difference) == (2, 1, 0)


async def test_a_seed_due_later_is_not_claimed_before(frontier):
    later = await frontier.now_ms() + 30_000
    await frontier.offer(content(1), due_ms=later)
    answer = await frontier.claim()
    assert answer.seeds == []
    assert 29_000 < answer.wait_ms <= 30_000
    await frontier.make_due(content(1))
    assert len((await frontier.claim()).seeds) == 1


async def test_a_large_offer_goes_out_in_pieces(frontier):
    seeds = [content(number, f"h{number % 7}.test") for number in range(1_201)]
    assert all(await frontier.offer(*seeds))
    assert not any(await frontier.offer(*seeds))
    assert await frontier.problems() == []


async def test_an_offer_wakes_its_frontier_once(frontier):
    async with frontier.redis.pubsub() as channel:
        await channel.subscribe(frontier.keys.wake("content"))
        await frontier.offer(content(1), content(2))
        await frontier.offer(content(1))  # known already, so nobody is woken
        await frontier.redis.publish(frontier.keys.wake("content"), "end")
        heard = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            while b"end" not in heard:
                message = await channel.get_message(ignore_subscribe_messages=True, timeout=None)
                heard += [message["data"]] if message else []
    assert heard == [b"offer", b"end"]


# -- The budget of followed links --------------------------------------------------------------------------------------


async def test_what_is_over_the_budget_is_refused_and_counted_apart(frontier):
    seeds = [content(number) for number in range(5)]
    assert await frontier.offer(*seeds, budget=3) == [True] * 3 + [False] * 2
    account = await frontier.account()
    assert (account.offered, account.ready, account.difference) == (3, 3, 0)
    assert account.as_dict()["notes"] == {"over-budget": 2}
    assert await frontier.problems() == []


async def test_pages_that_cannot_be_offered_are_counted_by_their_reason(frontier):
    for number in (2, 3):
        await frontier.queues["content"].refuse(content(1), "script-route", number)
    account = await frontier.account()
    assert (account.offered, account.ready, account.difference) == (0, 0, 0)
    assert account.as_dict()["notes"] == {"script-route": 5}
    assert await frontier.offer(content(1)) == [True]
    assert await frontier.problems() == []


async def test_known_seeds_cost_nothing(frontier):
    assert await frontier.offer(content(1), content(1), content(2), budget=2) == [True, False, True]
    assert await frontier.offer(content(1), content(2), budget=2) == [False, False]
    assert (await frontier.account()).notes == {}


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

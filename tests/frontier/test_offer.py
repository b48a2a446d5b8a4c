"""Each seed is taken once; whoever offers it again is told so, and the ledger counts it."""

from __future__ import annotations

import asyncio

from frontier.driver import content
from waiting import PATIENCE_SECONDS


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


async def test_the_budget_is_forgotten_in_time(frontier):
    await frontier.offer(content(1), budget=1)
    (key,) = [key async for key in frontier.redis.scan_iter("*:followed:*")]
    ends_in_ms = await frontier.redis.pttl(key)
    assert 29 * 86_400_000 < ends_in_ms <= 30 * 86_400_000
    await frontier.redis.delete(key)
    assert await frontier.offer(content(2), budget=1) == [True]

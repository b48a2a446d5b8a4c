"""Settlements reach the frontier once, in batches, and through outages."""

from __future__ import annotations

import asyncio

import pytest
from frontier.driver import content, ends, turns
from redis.exceptions import ConnectionError as RedisConnectionError
from samples import Stats

from crawler.frontier import scripts
from crawler.worker.settler import Settler

PATIENCE_S = 5.0


@pytest.fixture
def settler(settling):
    return settling.settler


def counts(settling):
    """(accepted, refused), over all calls."""
    return settling.stats.get("frontier/settled", 0), settling.stats.get("frontier/refused", 0)


async def claimed(frontier, number, owner="A"):
    await frontier.polite(burst=100)
    await frontier.offer(*(content(one) for one in range(number)))
    return (await frontier.claim(owner)).seeds


def put(settler, owner, seeds):
    for end in ends(seeds):
        settler.settle(owner, end)
    for turn in turns(seeds):
        settler.release(owner, 0, turn)


async def test_settlements_queued_together_are_sent_together(frontier, settling, settler):
    put(settler, "A", await claimed(frontier, 8))
    assert await settler.drain(PATIENCE_S)
    assert counts(settling) == (8, 0)
    assert (await frontier.totals()).finished == 8
    assert await frontier.session("A", what="end")


async def test_more_than_a_batch_is_sent_in_several(frontier, settling, settler):
    put(settler, "A", await claimed(frontier, 25))
    assert await settler.drain(PATIENCE_S)
    assert counts(settling) == (25, 0)


async def test_an_empty_settler_is_drained_at_once(settler):
    assert await settler.drain(PATIENCE_S)


async def test_nothing_is_lost_in_an_outage(frontier, settler, monkeypatch):
    seeds = await claimed(frontier, 12)
    real, tries = scripts.run, []

    async def away(*arguments):
        tries.append(1)
        if len(tries) < 4:
            raise RedisConnectionError("away")
        return await real(*arguments)

    monkeypatch.setattr(scripts, "run", away)
    put(settler, "A", seeds)
    assert not await settler.drain(0.001)
    assert await settler.drain(PATIENCE_S)
    assert (await frontier.totals()).finished == 12


async def test_a_settle_whose_answer_is_lost_is_refused_the_second_time(frontier, settling, settler, losing):
    seeds = await claimed(frontier, 3)
    losing.add("settle")
    put(settler, "A", seeds)

    async def arrived():
        return (await frontier.totals()).finished == 3

    await frontier.until(arrived)
    losing.clear()
    assert await settler.drain(PATIENCE_S)
    assert counts(settling) == (0, 3)
    assert await frontier.problems() == []


async def test_settlements_of_a_lost_session_are_dropped(frontier, settling, settler, losing):
    seeds = await claimed(frontier, 3)
    losing.add("settle")
    put(settler, "A", seeds)
    await asyncio.sleep(0.05)  # it may be trying just now, or not yet
    settler.forget("A")
    losing.clear()
    await frontier.offer(content(100))
    put(settler, "B", (await frontier.claim("B")).seeds)
    assert await settler.drain(PATIENCE_S)
    put(settler, "A", seeds)  # late
    assert await settler.drain(PATIENCE_S)
    assert counts(settling) in [(1, 3), (1, 6)]  # what was on its way may have been refused, too


async def test_it_can_be_closed_at_any_moment(frontier, losing):
    for wait_s in (0.0, 0.001, 0.05):
        settler = Settler(frontier.queues["content"], batch=10, wait_s=wait_s, stats=Stats())
        settler.start()
        losing.add("settle")
        put(settler, "A", await claimed(frontier, 2))
        await asyncio.sleep(wait_s / 2)
        async with asyncio.timeout(PATIENCE_S):
            await settler.close()
        losing.clear()

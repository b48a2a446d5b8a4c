"""Settlements reach the frontier once, in batches, and through outages."""

from __future__ import annotations

import asyncio

import pytest
from frontier.driver import content, ends, turns
from redis.exceptions import ConnectionError as RedisConnectionError
from samples import Stats

from crawler.base.events import Events
from crawler.frontier import scripts
from crawler.worker.settling.settler import Settler

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


@pytest.mark.parametrize("number", [8, 25], ids=["part of a batch", "several batches"])
async def test_all_settlements_have_been_sent_when_it_says_so(frontier, settling, settler, number):
    put(settler, "A", await claimed(frontier, number))
    assert await settler.send_all(PATIENCE_S)
    assert counts(settling) == (number, 0)
    assert (await frontier.totals()).finished == number
    assert await frontier.session("A", what="end")


async def test_nothing_is_lost_in_an_outage(frontier, settler, outage):
    seeds = await claimed(frontier, 12)
    outage(calls=3)
    put(settler, "A", seeds)
    assert not await settler.send_all(0.001)
    assert await settler.send_all(PATIENCE_S)
    assert (await frontier.totals()).finished == 12


async def test_a_settle_whose_answer_is_lost_is_refused_the_second_time(frontier, settling, settler, losing):
    seeds = await claimed(frontier, 3)
    losing.add("settle")
    put(settler, "A", seeds)

    async def arrived():
        return (await frontier.totals()).finished == 3

    await frontier.until(arrived)
    losing.clear()
    assert await settler.send_all(PATIENCE_S)
    assert counts(settling) == (0, 3)
    assert await frontier.problems() == []


async def test_settlements_of_a_lost_session_are_dropped(frontier, settling, settler, monkeypatch):
    seeds = await claimed(frontier, 3)
    real, settled, forgotten = scripts.run, asyncio.Event(), asyncio.Event()

    async def settle_whose_answer_is_lost(*arguments):
        await real(*arguments)
        settled.set()
        await forgotten.wait()
        raise RedisConnectionError("reset")

    with monkeypatch.context() as patch:
        patch.setattr(scripts, "run", settle_whose_answer_is_lost)
        put(settler, "A", seeds)
        await settled.wait()
    settler.forget(0, "A")
    forgotten.set()
    await frontier.offer(content(100))
    put(settler, "B", (await frontier.claim("B")).seeds)
    assert await settler.send_all(PATIENCE_S)
    put(settler, "A", seeds)  # late
    assert await settler.send_all(PATIENCE_S)
    assert counts(settling) == (1, 3)


@pytest.mark.parametrize("wait_s", [0.0, 60.0], ids=["while it tries in vain", "while it waits for more"])
@pytest.mark.parametrize("steps", [0, 1, 2, 5, 50])
async def test_it_can_be_closed_at_any_moment(frontier, losing, wait_s, steps):
    settler = Settler(frontier.queues["content"], batch=10, wait_s=wait_s, events=Events(), stats=Stats())
    settler.start()
    losing.add("settle")
    put(settler, "A", await claimed(frontier, 2))
    for _ in range(steps):  # of the event loop
        await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE_S):
        await settler.close()

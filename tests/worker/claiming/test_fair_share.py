"""Who holds no turn goes first; of those, who has waited longest."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from redis.asyncio import Redis
from waiting import PATIENCE_SECONDS

from crawler.base.events import Events
from crawler.base.tasks import cancel
from crawler.worker.claiming import fair_share
from crawler.worker.claiming.fair_share import FairShare
from crawler.worker.life.wakeups import WakeUps


class Clock:
    """The event loop's clock, as the test sets it."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(fair_share, "_now", clock)
    return clock


@pytest.fixture
async def workers(redis_url, clock):
    """Two workers that listen on one channel."""
    made = []
    async with contextlib.AsyncExitStack() as stack:
        for name in ("a", "b"):
            redis, events, wake = Redis.from_url(redis_url), Events(), asyncio.Event()
            stack.push_async_callback(redis.aclose)
            made.append(FairShare(redis, "w", name, events))
            listening = asyncio.create_task(WakeUps(redis, "w", wake, events).listen())
            stack.push_async_callback(cancel, listening)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await wake.wait()  # it has subscribed
        yield made


def starved(worker, clock):
    """Lets a worker claim in vain for as long as it takes to be starved; returns its pause."""
    assert worker.starve() == 0.0
    clock.now += fair_share.STARVED_AFTER_SECONDS
    return worker.starve()


async def until_it_lets_others_claim(worker):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not worker.lets_others_claim(holds_turns=True):  # noqa: ASYNC110 -- nothing tells of a message
            await asyncio.sleep(0.001)


async def test_who_holds_turns_leaves_claims_to_a_starved_worker_for_a_while(workers, clock):
    hungry, other = workers
    starved(hungry, clock)
    await until_it_lets_others_claim(other)
    assert not other.lets_others_claim(holds_turns=False)
    assert not hungry.lets_others_claim(holds_turns=True)  # its own message isn't for itself
    clock.now += fair_share.STARVED_SECONDS
    assert not other.lets_others_claim(holds_turns=True)


async def test_who_has_just_released_a_turn_leaves_that_one_too(workers, clock):
    hungry, other = workers
    starved(hungry, clock)
    await until_it_lets_others_claim(other)
    other.released_turn(free_s=1.0)
    clock.now += 1.0
    assert other.lets_others_claim(holds_turns=False)
    clock.now += fair_share.PATIENCE_SECONDS
    assert not other.lets_others_claim(holds_turns=False)


async def test_a_worker_that_claims_in_vain_for_a_moment_is_not_starved(workers, clock):
    hungry, other = workers
    assert hungry.starve() == 0.0
    clock.now += fair_share.STARVED_AFTER_SECONDS / 2
    assert hungry.starve() == 0.0
    hungry.end_starving()
    clock.now += fair_share.STARVED_AFTER_SECONDS
    assert hungry.starve() == 0.0
    assert not other.lets_others_claim(holds_turns=True)


async def test_who_was_starved_longer_asks_more_often(workers, clock):
    pauses = [starved(workers[0], clock)]
    for _ in range(3):
        clock.now += 10.0
        pauses.append(workers[0].starve())
    assert pauses[0] > pauses[1] > pauses[3] > 0
    assert pauses[0] <= fair_share.PAUSE_SECONDS


async def test_a_redis_that_is_away_keeps_no_worker_from_claims(clock):
    async with Redis(port=1) as redis:  # nobody listens there
        worker = FairShare(redis, "w", "a", Events())
        assert starved(worker, clock) > 0
        await asyncio.wait([worker._saying])
        assert worker._saying.exception() is None
        await worker.close()

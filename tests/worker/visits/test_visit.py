"""A visit ends once, when all of its parts have ended, and lets its lane go on as soon as it can."""

from __future__ import annotations

import asyncio
import tracemalloc
from dataclasses import replace

import pytest
from waiting import PATIENCE_SECONDS

from crawler.base.errors import PageTimeoutError, SessionLostError
from crawler.base.events import Events
from crawler.base.models import Claimed, Seed
from crawler.frontier.settlement import Settlement
from crawler.worker.visits.visit import Lane, Visit


async def test_a_page_without_items_finishes_when_its_callback_ends(recorded):
    recorded.visit.end_fetch()  # as the producer does before its offers
    recorded.end_callback()
    assert recorded.settlements == [Settlement("finish", recorded.visit.claimed)]
    assert len(recorded.fetched) == 1


async def test_a_search_page_of_a_run_is_settled_as_one_that_is_forgotten_after_it(recorded):
    recorded.visit.claimed = replace(recorded.visit.claimed, seed=replace(recorded.visit.seed, run=7))
    recorded.end_callback()
    assert recorded.settlements == [Settlement("finish", recorded.visit.claimed, tellable=True)]


async def test_an_item_dropped_before_its_media_doesn_t_keep_the_lane(recorded):
    recorded.visit.begin_part(fetches=True)
    recorded.end_callback()
    recorded.visit.end_part()  # dropped
    assert len(recorded.fetched) == 1
    assert len(recorded.settlements) == 1


async def test_the_first_outcome_counts(recorded):
    recorded.visit.end_as("retry", "timeout", 500)
    recorded.visit.end_as("fail", "no-content")
    recorded.end_callback()
    assert recorded.settlements == [Settlement("retry", recorded.visit.claimed, 500, "timeout")]


async def test_a_released_visit_ends_once_and_cancels_its_fetches(recorded):
    running = asyncio.create_task(recorded.visit.run(asyncio.sleep(10 * PATIENCE_SECONDS)))
    await asyncio.sleep(0)
    recorded.visit.release()
    recorded.visit.release()
    recorded.end_callback()
    assert recorded.outcomes == [("release", "stopped")]
    with pytest.raises(SessionLostError):
        await running
    assert recorded.visit.ended


async def test_an_abandoned_visit_publishes_nothing(recorded):
    recorded.visit.abandon()
    recorded.visit.release()
    recorded.end_callback()
    assert (recorded.settlements, recorded.fetched, recorded.visit.ended) == ([], [], True)


async def test_its_fetches_are_cancelled_when_the_deadline_passes(recorded):
    recorded.visit.deadline.start(0.02)
    async with asyncio.timeout(PATIENCE_SECONDS):
        with pytest.raises(PageTimeoutError):
            await recorded.visit.run(asyncio.sleep(10 * PATIENCE_SECONDS))
        with pytest.raises(PageTimeoutError):  # nor does it start another
            await recorded.visit.run(asyncio.sleep(10 * PATIENCE_SECONDS))
    recorded.end_callback()
    assert recorded.outcomes == [("finish", "")]  # the spider decides otherwise, by the error


async def test_a_fetch_that_somebody_else_cancels_leaves_the_visit_as_it_is(recorded):
    running = asyncio.create_task(recorded.visit.run(asyncio.sleep(10 * PATIENCE_SECONDS)))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert await recorded.visit.run(asyncio.sleep(0, "others go on")) == "others go on"


def test_a_seed_that_waits_takes_a_kilobyte():
    stored = [Seed(f"http://a.test/thread/{number:06}", "flood", "forum").dump() for number in range(200)]
    lane, events = Lane("a.test", 1, 0, 1.0), Events()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        seeds = [Seed.load(raw, "content") for raw in stored]
        visits = [Visit(Claimed(seed, seed.fingerprint, 0, "owner#1", 1, 0, 0, 1.0), lane, events) for seed in seeds]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1_000 * len(visits)

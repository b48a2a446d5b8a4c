"""A worker knows what a plan says as soon as a command has changed it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import pytest
from waiting import PATIENCE_SECONDS

from crawler.base import tasks
from crawler.base.events import Events
from crawler.frontier.keys import Keys
from crawler.plans.plan_record import PlanRecord
from crawler.plans.registry import Registry
from crawler.worker.definitions.plan_cache import PlanCache
from crawler.worker.life.wakeups import PlansChanged, WakeUps

KEYS = Keys("t")


@pytest.fixture
async def listening(redis):
    """The events of a worker that listens, and one that is set with each change of a plan that it hears of."""
    events, heard = Events(), asyncio.Event()
    events.subscribe(PlansChanged, lambda _event: heard.set())
    listening = tasks.start(
        WakeUps(redis, KEYS.wake("nav"), asyncio.Event(), events).listen(), name="wake-ups", died=events.publish
    )
    await asyncio.wait_for(heard.wait(), PATIENCE_SECONDS)
    heard.clear()
    yield events, heard
    await tasks.cancel(listening)


async def test_a_changed_plan_is_read_again_and_a_deleted_one_stays_as_it_was(redis, listening, caplog):
    caplog.set_level(logging.ERROR)  # redis-py has more to say in a process that logs all
    events, heard = listening
    registry = Registry(redis, KEYS, 1)
    record = PlanRecord("p", {"keywords": ["a"]}, ["s"], 1, 0)
    await registry.change_plan("p", lambda _none: record)
    cache = PlanCache(registry, events)
    await cache.load({"p", "unknown"})
    assert (cache.get("p"), cache.get("unknown")) == (record, None)
    ours = [record.message for record in caplog.records if record.name.startswith("crawler.")]
    assert ours == ["Redis has no plan 'unknown': it was deleted; its searches wait"]
    await asyncio.wait_for(heard.wait(), PATIENCE_SECONDS)
    for other in (replace(record, definition={"keywords": ["b"]}, version=1), None):
        heard.clear()
        assert await registry.replace_plan(record, other)
        await asyncio.wait_for(heard.wait(), PATIENCE_SECONDS)
        await cache.load({"p"})
        record = other or record
        assert cache.get("p") == record
    await cache.close()

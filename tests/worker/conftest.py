"""A frontier in an empty Redis, and parts of a worker over it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from frontier.conftest import frontier, losing, redis  # noqa: F401 -- fixtures
from samples import RecordedVisit, Stats

from crawler.events import Events
from crawler.servers import redis_retry
from crawler.worker import offers, settler
from crawler.worker.settler import Settler
from crawler.worker.turns import Turns


@pytest.fixture
def redis_settings(redis_url):
    return {"REDIS_URL": redis_url}


@pytest.fixture
async def recorded():
    return RecordedVisit()


@pytest.fixture(autouse=True)
def _retry_soon(monkeypatch):
    for module in (redis_retry, offers, settler):
        monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)


@pytest.fixture
async def settling(frontier):  # noqa: F811
    """A settler of the content frontier, at work; its statistics are `settling.stats`."""
    stats = Stats()
    made = Settler(frontier.queues["content"], batch=10, wait_s=0.02, stats=stats)
    made.start()
    yield SimpleNamespace(settler=made, stats=stats.values)
    await made.close()


@pytest.fixture
def turns_of(frontier, settling):  # noqa: F811
    """Returns a function that gives the turns of an owner; None: one whose session was lost."""

    def build(owner="A"):
        session = SimpleNamespace(owner=owner, alive=owner is not None)
        events, stopping = Events(), asyncio.Event()
        return Turns(frontier.queues["content"], session, settling.settler, events=events, stopping=stopping)

    return build

"""A frontier in an empty Redis, and parts of a worker over it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from frontier.conftest import frontier, losing, redis  # noqa: F401 -- fixtures
from redis.exceptions import ConnectionError as RedisConnectionError
from samples import Leases, RecordedVisit, Stats

from crawler.base.events import Events
from crawler.frontier import scripts
from crawler.servers import redis_retry
from crawler.worker.offers import offers
from crawler.worker.settling import settler
from crawler.worker.settling.settler import Settler
from crawler.worker.turns.turns import Turns


class Clock:
    """The event loop's clock: it stands still until a test advances it."""

    def __init__(self, now_s):
        self.now_s = now_s

    async def advance(self, seconds):
        """Lets time pass, and whatever is due then happen."""
        self.now_s += seconds
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.fixture
async def clock(monkeypatch):
    loop = asyncio.get_running_loop()
    clock = Clock(loop.time())
    monkeypatch.setattr(loop, "time", lambda: clock.now_s)
    return clock


@pytest.fixture
def outage(monkeypatch):
    """Returns a function after which Redis is away for so many calls."""
    real = scripts.run

    def begin(calls):
        left = iter(range(calls))

        async def run(*arguments):
            if next(left, None) is not None:
                raise RedisConnectionError("away")
            return await real(*arguments)

        monkeypatch.setattr(scripts, "run", run)

    return begin


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
    made = Settler(frontier.queues["content"], batch=10, wait_s=0.02, events=Events(), stats=stats)
    made.start()
    yield SimpleNamespace(settler=made, stats=stats.values)
    await made.close()


@pytest.fixture
def turns_of(frontier, settling):  # noqa: F811
    """Returns a function that gives the turns of an owner; None: one without a session."""

    def build(owner="A"):
        session = Leases(owner, alive=owner is not None)
        events, stopping = Events(), asyncio.Event()
        return Turns(frontier.queues["content"], session, settling.settler, events=events, stopping=stopping)

    return build

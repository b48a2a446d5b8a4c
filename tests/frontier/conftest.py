"""A frontier in an empty Redis of our own."""

from __future__ import annotations

import pytest
from frontier.hands import Hands
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier import scripts


@pytest.fixture
async def redis(redis_url):
    client = Redis.from_url(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
async def frontier(redis):
    """One partition; owner A and owner B have sessions, site `s` asks for no delay."""
    hands = Hands(redis)
    await hands.polite()
    await hands.session("A")
    await hands.session("B")
    return hands


@pytest.fixture
def losing(monkeypatch):
    """Names of scripts that run, but whose answers don't arrive: for the test to fill."""
    names = set()
    reals = {call: getattr(scripts, call) for call in ("run", "run_after")}

    def lossy(call):
        async def run(*arguments):
            answer = await reals[call](*arguments)
            if arguments[1] in names:
                raise RedisConnectionError("reset")
            return answer

        return run

    for call in reals:
        monkeypatch.setattr(scripts, call, lossy(call))
    return names

"""A frontier in an empty Redis of our own, and once more in a Redis Cluster of three nodes."""

from __future__ import annotations

import functools
from hashlib import sha1

import pytest
from frontier.driver import PATIENCE_SECONDS, FrontierDriver
from frontier.interleavings import TIME
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier import scripts
from crawler.servers.redis import redis_async

CALL_SECONDS = "local CALL_SECONDS = 0.015"


# A cluster of six servers in each process of pytest costs `make test` a minute of its five: `make faults` has it.
@pytest.fixture(params=["redis", pytest.param("cluster", marks=pytest.mark.faults)])
def redis_settings(request):
    """Settings that lead to an empty Redis, or Redis Cluster."""
    if request.param == "redis":
        return {"REDIS_URL": request.getfixturevalue("redis_url")}
    cluster = request.getfixturevalue("redis_cluster")
    cluster.empty()
    return {"REDIS_URL": cluster.url, "REDIS_CLUSTER": 1}


@pytest.fixture
async def redis(redis_settings):
    client = redis_async(redis_settings)
    yield client
    await client.aclose()


@pytest.fixture
async def frontier(redis):
    """One partition; owner A and owner B have sessions, site `s` asks for no delay."""
    driver = FrontierDriver(redis)
    await driver.polite()
    await driver.session("A")
    await driver.session("B")
    return driver


@pytest.fixture
def losing(monkeypatch):
    """Names of scripts that run, but whose answers don't arrive: for the test to fill."""
    names = set()
    reals = {call: getattr(scripts, call) for call in ("run", "run_after")}

    def lossy(call):
        async def run(*arguments, **options):
            is_lost = arguments[1] in names  # of the answer to what is sent now, whenever that comes
            answer = await reals[call](*arguments, **options)
            if is_lost:
                raise RedisConnectionError("reset")
            return answer

        return run

    for call in reals:
        monkeypatch.setattr(scripts, call, lossy(call))
    return names


@pytest.fixture(autouse=True)
def time_of_a_call(request, monkeypatch):
    """Gives each call of a script all the time it needs, so that a slow machine changes no number."""
    source = scripts.source
    seconds = 0 if "hurried" in request.fixturenames else PATIENCE_SECONDS

    @functools.cache
    def with_time(name):
        text = source(name)
        assert text.count(CALL_SECONDS) == text.count("CALL_SECONDS ="), "lua/lib/budget.lua says it otherwise by now"
        return text.replace(CALL_SECONDS, f"local CALL_SECONDS = {seconds}")

    monkeypatch.setattr(scripts, "source", with_time)
    monkeypatch.setattr(scripts, "digest", functools.cache(scripts.digest.__wrapped__))


@pytest.fixture
def hurried():
    """Scripts find at each look at the clock that they have no more time."""


@pytest.fixture
def redis_clock(monkeypatch):
    """Returns a function that sets the clock by which scripts go: so many ms from Redis's own."""
    source = scripts.source

    def set_clock(ahead_ms):
        def shifted(name):
            seconds, micros = divmod(ahead_ms * 1_000, 1_000_000)
            step = f"redis_time = {{ redis_time[1] + {seconds}, redis_time[2] + {micros} }}"
            return source(name).replace(TIME, f"{TIME}\n{step}")

        monkeypatch.setattr(scripts, "source", shifted)
        monkeypatch.setattr(scripts, "digest", lambda name: sha1(shifted(name).encode()).hexdigest())

    return set_clock

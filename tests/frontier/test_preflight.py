"""A Redis that can't hold the frontier is refused before anything lies in it."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.base.errors import AccessError, FrontierError, UnavailableError
from crawler.frontier.keys import SCHEMA_VERSION, Keys
from crawler.frontier.preflight import prepare, wait_until_ready
from crawler.servers.redis import redis_async

KEYS = Keys("t")


@pytest.fixture
async def redis(redis_url):
    client = Redis.from_url(redis_url)
    yield client
    await client.config_set("maxmemory-policy", "noeviction", "maxmemory", 0)
    await client.aclose()


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-lfu", "volatile-ttl"])
async def test_a_redis_that_may_evict_keys_is_refused(redis, policy):
    await redis.config_set("maxmemory-policy", policy)
    with pytest.raises(FrontierError, match=f"maxmemory-policy {policy}.*expected noeviction"):
        await prepare(redis, KEYS, 1)
    assert await redis.dbsize() == 0


async def test_a_redis_that_is_too_old_is_refused(redis, monkeypatch):
    async def info(_section):
        return {"redis_version": "6.2.14"}

    monkeypatch.setattr(redis, "info", info)
    with pytest.raises(FrontierError, match=r"Redis 6\.2\.14 is too old, expected 7\.0 or later, .* upgrade it"):
        await prepare(redis, KEYS, 1)


@pytest.mark.parametrize("begin", [True, False])
async def test_another_number_of_partitions_is_refused(redis, begin):
    await prepare(redis, KEYS, 2)
    with pytest.raises(FrontierError, match=r"FRONTIER_PARTITIONS: got 3, expected 2, .* set it to 2 on every node"):
        await prepare(redis, KEYS, 3, begin=begin)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("99", r"format 99, newer than this version's \d: use the version that the other nodes have"),
        ("2", r"format 2, older than this version's \d: stop all workers and run scrapy frontier migrate"),
        ("2-to-3 7", "on its way from format 2 to 3: wait for scrapy frontier migrate, or run it again"),
        (f"{SCHEMA_VERSION}-to-{SCHEMA_VERSION + 1} 0", "newer than this version's"),
        ("\x1b[2J", "expected a number: use another KEY_PREFIX"),
    ],
)
async def test_a_frontier_of_another_format_is_refused(redis, version, said):
    await redis.hset(KEYS.schema, "version", version)
    with pytest.raises(FrontierError, match=said):
        await prepare(redis, KEYS, 1)
    await prepare(redis, KEYS, 1, any_format=True, begin=False)


async def test_who_only_looks_writes_nothing(redis):
    await prepare(redis, KEYS, 1, begin=False)
    assert await redis.dbsize() == 0


async def test_a_full_redis_that_holds_a_frontier_will_do(redis):
    """Workers that are restarted then wait for room, as those that run."""
    await prepare(redis, KEYS, 2)
    await redis.config_set("maxmemory", 1)
    await prepare(redis, KEYS, 2)
    await redis.config_set("maxmemory", 0)
    assert await redis.hgetall(KEYS.schema) == {b"version": str(SCHEMA_VERSION).encode(), b"partitions": b"2"}


async def test_a_redis_that_stays_away_is_given_up():
    nobody = Redis(port=1, retry=Retry(NoBackoff(), 0))
    said = []
    with pytest.raises(UnavailableError, match="Redis at here"):
        await wait_until_ready(nobody, KEYS, 1, where="here", seconds=2, say=said.append)
    assert said
    assert "next try in" in said[0]
    await nobody.aclose()


@pytest.mark.parametrize("fails", [1, 99])
async def test_what_else_a_start_needs_of_redis_has_the_same_time(redis, fails):
    """As the session, by a connection of its own: Redis may go away once it has answered the first questions."""
    tries, said = [], []

    async def open_session():
        tries.append(1)
        if len(tries) <= fails:
            raise RedisConnectionError("gone")

    waiting = wait_until_ready(redis, KEYS, 1, where="here", seconds=0.5, say=said.append, then=open_session)
    if fails == 1:
        await waiting
        assert len(tries) == 2
        return
    with pytest.raises(UnavailableError, match="Redis at here: gone"):
        await waiting


@pytest.mark.parametrize("kind", [{}, {"REDIS_CLUSTER": True}, {"REDIS_SENTINEL": "main"}], ids=str)
async def test_a_server_that_is_no_redis_is_given_up_at_once(kind):
    async def answer(reader, writer):
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    said = []
    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        client = redis_async({"REDIS_URL": url, **kind})
        with pytest.raises(AccessError, match=r"Redis at here: what answers there is no Redis"):
            await wait_until_ready(client, KEYS, 1, where="here", seconds=30, say=said.append)
        await client.aclose()
    assert said == []

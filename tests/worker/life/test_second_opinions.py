"""What a node hears of a host is the host's fault only when another node has heard the same, or there is none."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from crawler.frontier.keys import Keys
from crawler.worker.life import second_opinions
from crawler.worker.life.second_opinions import SecondOpinions

KEYS = Keys("t")


@pytest.fixture
async def redis(redis_url):
    client = Redis.from_url(redis_url)
    yield client
    await client.aclose()


async def nodes(redis, *names):
    await redis.zadd(KEYS.partition(0).sessions, {f"{name}:1:1:x": 1 for name in names})
    return [SecondOpinions(redis, KEYS, 1, node=name, doubt_s=60) for name in names]


async def test_two_nodes_must_have_heard_the_same_of_one_host(redis):
    sick, well = await nodes(redis, "sick", "well")
    assert [await sick.is_hosts_own("tls", host) for host in ("a.test", "b.test", "a.test")] == [False] * 3
    assert not await well.is_hosts_own("refused", "a.test")
    assert await well.is_hosts_own("tls", "a.test")
    assert await sick.is_hosts_own("tls", "a.test")
    assert not await sick.is_hosts_own("tls", "b.test")


async def test_what_a_node_without_others_hears_is_the_host_s_fault(redis):
    (alone,) = await nodes(redis, "alone")
    assert await alone.is_hosts_own("tls", "a.test")


async def test_after_a_time_only_what_proves_the_node_s_part_is_doubted(redis, monkeypatch):
    sick, _ = await nodes(redis, "sick", "well")
    assert not await sick.is_hosts_own("refused", "a.test", in_the_end=True)
    monkeypatch.setattr(second_opinions, "ALONE_SECONDS", 0)
    assert await sick.is_hosts_own("refused", "a.test", in_the_end=True)
    assert not await sick.is_hosts_own("refused", "a.test")


async def test_others_are_workers_of_other_nodes(redis):
    (alone,) = await nodes(redis, "alone")
    await redis.zadd(KEYS.partition(0).sessions, {"alone:2:1:x": 1, "other:1:1:command:x": 1})
    assert not await alone.has_other_nodes()
    await nodes(redis, "other")
    assert await alone.has_other_nodes()


async def test_a_command_asks_nobody():
    assert await SecondOpinions(None, KEYS, 1, node="here", doubt_s=0).is_hosts_own("tls", "a.test")

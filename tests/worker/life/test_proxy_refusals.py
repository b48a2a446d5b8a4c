"""What a node's proxy refuses is the host's word only when another node has heard the same, or there is none."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis
from scrapy.http import Response

from crawler.frontier.keys import Keys
from crawler.worker.life import proxy_refusals
from crawler.worker.life.proxy_refusals import ProxyRefusals, is_a_proxys

KEYS = Keys("t")
BARE = Response("http://a.test/", status=403)
MARKED = Response("http://a.test/", status=403, headers={"X-Squid-Error": "ERR_ACCESS_DENIED 0"})


@pytest.fixture
async def redis(redis_url):
    client = Redis.from_url(redis_url)
    yield client
    await client.aclose()


async def nodes(redis, *names):
    await redis.zadd(KEYS.partition(0).sessions, {f"{name}:1:1:x": 1 for name in names})
    return [ProxyRefusals(redis, KEYS, 1, node=name, doubt_s=60) for name in names]


async def test_two_nodes_must_have_heard_it_of_one_host(redis):
    sick, well = await nodes(redis, "sick", "well")
    assert [await sick.is_hosts_own(host, BARE) for host in ("a.test", "b.test", "a.test")] == [False] * 3
    assert await well.is_hosts_own("a.test", BARE)
    assert await sick.is_hosts_own("a.test", MARKED)
    assert not await sick.is_hosts_own("b.test", BARE)


async def test_a_node_without_others_takes_its_proxy_s_word(redis):
    (alone,) = await nodes(redis, "alone")
    assert await alone.is_hosts_own("a.test", MARKED)


async def test_after_a_time_only_what_a_proxy_signs_is_doubted(redis, monkeypatch):
    sick, _ = await nodes(redis, "sick", "well")
    assert not await sick.is_hosts_own("a.test", BARE)
    monkeypatch.setattr(proxy_refusals, "ALONE_SECONDS", 0)
    assert await sick.is_hosts_own("a.test", BARE)
    assert not await sick.is_hosts_own("a.test", MARKED)


async def test_a_command_asks_nobody():
    assert await ProxyRefusals(None, KEYS, 1, node="here", doubt_s=0).is_hosts_own("a.test", MARKED)


@pytest.mark.parametrize(("value", "is_made"), [("proxy; error=http_request_denied", True), ("cdn; fwd=miss", False)])
def test_a_proxy_says_that_it_has_made_an_answer(value, is_made):
    assert is_a_proxys(Response("http://a.test/", headers={"Proxy-Status": value})) == is_made

"""What a command asks a host goes by the host's turns in the frontier, where there is one."""

from __future__ import annotations

import asyncio
import time

import pytest
from scrapy.settings import Settings

from crawler.base import urls
from crawler.base.errors import FrontierError
from crawler.cli.frontier_turns import FrontierTurns
from crawler.cli.local_turns import LocalTurns
from crawler.cli.page_fetcher import PageFetcher
from crawler.cluster.workers import read_workers
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import SCHEMA_VERSION
from crawler.frontier.migration import migrate
from crawler.frontier.owners import new_owner, owner_node
from crawler.frontier.preflight import prepare
from crawler.frontier.queue import queues_of
from crawler.frontier.settlement import TurnRelease
from crawler.plans.operator import Operator
from crawler.sites import Site
from crawler.worker.life.second_opinions import SecondOpinions

HOST = "a.test"


@pytest.fixture
async def frontier(redis):
    """A frontier with a worker's session, whose owner is A."""
    config = FrontierConfig.from_settings({})
    await prepare(redis, config.keys, config.partitions)
    for number in range(config.partitions):
        await redis.zadd(config.keys.partition(number).sessions, {"A": 10**15})
    return queues_of(config, redis)["content"]


async def turns_of(redis_url):
    return await FrontierTurns.open({"REDIS_URL": redis_url}, LocalTurns(0.001))


async def test_there_are_none_without_a_frontier(redis_url):
    assert await turns_of(redis_url) is None
    assert await turns_of("redis://127.0.0.1:1/0") is None


async def test_a_turn_is_had_when_the_crawl_has_released_it_and_the_other_way_round(redis_url, frontier):
    turns = await turns_of(redis_url)
    try:
        owner = turns.owners[0]
        held = (await frontier.acquire_turn(HOST, "board", "A")).token
        assert (await turns.acquire_turn(HOST, "check", owner)).state == "busy"
        await frontier.settle(0, "A", (), [TurnRelease(HOST, held)])
        state, token, *_ = await turns.acquire_turn(HOST, "check", owner)
        assert state == "acquired"
        assert (await frontier.acquire_turn(HOST, "board", "A")).state == "busy"
        turns.release(owner, 0, TurnRelease(HOST, token, since_start_ms=0))
        await asyncio.gather(*turns._releases)
        wait_ms = (await frontier.acquire_turn(HOST, "board", "A")).wait_ms
        assert 0 < wait_ms <= 1_000  # the host's delay, from the command's request on
    finally:
        await turns.close()


async def test_the_command_s_site_is_none_of_the_crawl_s(redis, redis_url, frontier):
    turns = await turns_of(redis_url)
    await turns.acquire_turn(HOST, "check", turns.owners[0])
    await turns.close()
    assert b"s" not in await redis.hgetall(frontier.keys.partition(0).turn(HOST))


async def test_its_session_is_taken_for_no_worker_s(redis, redis_url):
    """Nor are those of commands that were killed: one that would be overdue, and one that has lapsed."""
    config = FrontierConfig.from_settings({})
    await prepare(redis, config.keys, config.partitions)
    turns = await turns_of(redis_url)
    killed = {new_owner(is_command=True): (time.time() + left_s) * 1000 for left_s in (1, -1)}
    await redis.zadd(config.keys.partition(0).sessions, killed)
    try:
        async with Operator.connect(Settings({"REDIS_URL": redis_url})) as operator:
            assert turns.owners[0].encode() in await redis.zrange(config.keys.partition(0).sessions, 0, -1)
            assert await read_workers(operator) == []
        opinions = SecondOpinions(redis, config.keys, config.partitions, node="another", doubt_s=60)
        assert await opinions.is_hosts_own("refused", HOST)  # no other node could hear it
        await redis.hset(config.keys.schema, "version", "2")
        with pytest.raises(FrontierError, match=rf"^commands are asking hosts \({owner_node(turns.owners[0])}:\d+"):
            await migrate(redis, config.keys, config.partitions, lambda *_: None)
    finally:
        await redis.hset(config.keys.schema, "version", str(SCHEMA_VERSION))
        await turns.close()


async def test_what_a_command_fetches_goes_by_them(serve, redis, redis_url, frontier):
    host = serve(lambda _path: [b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ntext"])
    settings = Settings({"ALLOW_PRIVATE_ADDRESSES": True, "REDIS_URL": redis_url})
    settings.setmodule("crawler.settings")
    async with PageFetcher.open(settings, Site.from_definition({"name": "check"})) as fetcher:
        assert (await fetcher.get(host.page)).body == b"text"
    turn = await redis.hgetall(frontier.keys.partition(0).turn(urls.host(host.page)))
    assert int(turn[b"n1"]) > 0  # when it may start the crawl's next request
    assert b"h1" not in turn

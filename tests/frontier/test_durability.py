"""An operator whose Redis would lose the frontier is told so, and what to change."""

from __future__ import annotations

import logging

import pytest
import redis as sync_redis
from needs import started
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import NoPermissionError

from crawler.frontier.durability import APPEND_ONLY, advice, log_advice
from testbed.servers import Redis


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A Redis of our own: changing how it saves takes it a while."""
    with started(Redis, tmp_path_factory.mktemp("persistence")) as server:
        yield server


@pytest.fixture
async def redis(server):
    client = AsyncRedis(port=server.port)
    yield client
    await client.aclose()


def said(caplog):
    """The records of this module's logger; clients may log, too."""
    return [(one.levelno, one.getMessage()) for one in caplog.records if one.name.startswith("crawler.")]


async def saves(redis, appendonly, save=""):
    await redis.config_set("appendonly", appendonly, "save", save)


async def test_with_an_append_only_file_there_is_nothing_to_say(redis, caplog):
    await saves(redis, "yes")
    assert await advice(redis) is None
    await log_advice(redis, 15.0)
    assert said(caplog) == []


async def test_an_append_only_file_that_nobody_writes_to_disk_says_what_would_be_lost(redis):
    await saves(redis, "yes")
    await redis.config_set("appendfsync", "no")
    try:
        level, text = await advice(redis)
    finally:
        await redis.config_set("appendfsync", "everysec")
    assert (level, "last half minute" in text, "appendfsync everysec" in text) == (logging.INFO, True, True)


async def test_nothing_on_disk_is_a_warning_with_what_would_be_lost(redis, caplog):
    await saves(redis, "no")
    level, text = await advice(redis)
    assert level == logging.WARNING
    assert text.startswith("Redis keeps nothing on disk: when it stops, every seed, plan and ledger is gone")
    assert text.endswith(APPEND_ONLY)
    await log_advice(redis, 15.0)
    assert said(caplog) == [(level, text)]


async def test_snapshots_alone_are_milder_and_say_how_much(redis):
    await saves(redis, "no", "3600 1 300 100 60 10000")
    level, text = await advice(redis)
    assert level == logging.INFO
    assert "(save 3600 1 300 100 60 10000): after a crash what changed in the last 60 minutes may be gone" in text


async def test_a_server_that_forbids_config_is_asked_no_further(redis, server):
    await saves(redis, "no")
    await redis.execute_command("ACL", "SETUSER", "limited", "on", ">word", "~*", "+@all", "-config")
    limited = AsyncRedis(port=server.port, username="limited", password="word")
    with pytest.raises(NoPermissionError):
        await limited.config_get("save")
    level, text = await advice(limited)
    assert (level, text.endswith(APPEND_ONLY)) == (logging.INFO, True)
    await limited.aclose()


async def test_a_redis_that_is_away_keeps_nobody_from_starting(caplog):
    nobody = AsyncRedis(port=1, retry=None)
    await log_advice(nobody, 15.0)
    await nobody.aclose()
    assert said(caplog) == []


def test_plan_submit_says_it_before_anything_is_sent(server, scrapy, tmp_path):
    plan = tmp_path / "flood.yaml"
    plan.write_text(
        'name: flood\nsites: [{use: demo_forum, name: board, base: "http://board.test"}]\n'
        "keywords: {event: {optional: [flood]}}\n"
    )
    environment = {"REDIS_URL": server.url}
    with sync_redis.Redis(port=server.port) as client:
        client.config_set("appendonly", "no", "save", "")
        loud = scrapy("plan", "submit", plan, "--json", environment=environment)
        client.config_set("save", "60 1")
        mild = scrapy("plan", "submit", plan, environment=environment)
        client.config_set("appendonly", "yes", "save", "")
        silent = scrapy("plan", "submit", plan, environment=environment)
    assert (loud.returncode, mild.returncode, silent.returncode) == (0, 0, 0)
    assert loud.stderr.startswith("warning: Redis keeps nothing on disk")
    assert mild.stderr.startswith("info: Redis saves snapshots only (save 60 1): ")
    assert (loud.stderr.count("\n"), mild.stderr.count("\n"), silent.stderr) == (1, 1, "")


def test_workers_say_it_once_in_their_log(server, scrapy):
    with sync_redis.Redis(port=server.port) as client:
        client.config_set("appendonly", "no", "save", "")
        settings = {"STOP_WHEN_DONE": 1, "NODE_CPU_LIMIT_PERCENT": 100, "KEY_PREFIX": "nobody"}
        done = scrapy("crawl", "consumer", settings=settings, environment={"REDIS_URL": server.url})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("WARNING: Redis keeps nothing on disk") == 1

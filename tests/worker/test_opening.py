"""A worker that can't join the cluster leaves nothing behind: no session, no connection, no file."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

import pytest
import redis as sync_redis
from samples import Stats
from scrapy.settings import Settings
from waiting import PATIENCE_SECONDS, until

from crawler import settings as project_settings
from crawler.base.errors import FrontierError, UnavailableError
from crawler.frontier.keys import SCHEMA_VERSION
from crawler.frontier.owners import owner_node
from crawler.servers.redis import redis_async, redis_sync
from crawler.worker.config import WorkerConfig
from crawler.worker.worker import Worker


@pytest.fixture
def build(redis_url, tmp_path):
    """Returns a function that builds a worker."""

    def made(url=redis_url):
        values = {"REDIS_URL": url, "KEY_PREFIX": "t", "CONNECT_SECONDS": 1, "HEARTBEAT_FILE": str(tmp_path / "alive")}
        settings = Settings()
        settings.setmodule(project_settings)
        settings.setdict(values, "cmdline")
        return Worker(
            WorkerConfig.from_settings(settings),
            "content",
            redis=redis_async(settings),
            session_redis=redis_sync(settings),
            redis_address=url,
            stats=Stats(),
        )

    return made


@pytest.fixture
def client(redis_server, redis_url):
    with contextlib.closing(sync_redis.Redis(port=redis_server.port)) as client:
        yield client


@pytest.mark.process
async def test_a_frontier_that_is_migrated_at_that_moment(build, client, monkeypatch, tmp_path):
    """The session's leases are open by the time that the worker sees it; whoever migrates waits for none of them."""
    worker = build()
    opened = worker.life.session._refuse_other_format

    def then_it_is_migrated():
        client.hset(worker.config.frontier.keys.schema, "version", SCHEMA_VERSION + 1)
        assert client.zcard(worker.config.frontier.keys.partition(0).sessions) == 1
        opened()

    monkeypatch.setattr(worker.life.session, "_refuse_other_format", then_it_is_migrated)
    before = len(client.client_list())
    with pytest.raises(FrontierError, match="newer than this version's"):
        await worker.open()
    assert client.zcount(worker.config.frontier.keys.partition(0).sessions, time.time() * 1_000, "+inf") == 0
    until(lambda: len(client.client_list()) == before, "its connections to be closed")
    assert list(tmp_path.iterdir()) == []
    await worker.close()


@pytest.mark.process
async def test_one_that_is_told_to_stop_while_its_session_opens_leaves_nothing(build, client, monkeypatch):
    worker, may_go_on = build(), threading.Event()
    opened = worker.life.session._refuse_other_format

    def slowly():
        may_go_on.wait(PATIENCE_SECONDS)
        opened()

    monkeypatch.setattr(worker.life.session, "_refuse_other_format", slowly)
    keys = worker.config.frontier.keys
    opening = asyncio.create_task(worker.open())
    await asyncio.to_thread(until, lambda: client.exists(keys.partition(0).sessions), "its session")
    for _ in range(3):  # as `tasks.cancel` does while it waits
        opening.cancel()
        await asyncio.sleep(0)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert not client.exists(keys.partition(0).sessions, keys.node(owner_node(worker.life.session.name)))


async def test_a_redis_that_nobody_answers_at(build, tmp_path):
    worker = build("redis://127.0.0.1:1/0")
    with pytest.raises(UnavailableError):
        await worker.open()
    assert list(tmp_path.iterdir()) == []
    await worker.close()

"""A worker that can't join the cluster leaves nothing behind: no session, no connection, no file."""

from __future__ import annotations

import contextlib
import time

import pytest
import redis as sync_redis
from samples import Stats
from scrapy.settings import Settings
from waiting import until

from crawler import settings as project_settings
from crawler.base.errors import FrontierError, UnavailableError
from crawler.frontier.keys import SCHEMA_VERSION
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
    opened = worker.session._refuse_other_format

    def then_it_is_migrated():
        client.hset(worker.config.frontier.keys.schema, "version", SCHEMA_VERSION + 1)
        assert client.zcard(worker.config.frontier.keys.partition(0).sessions) == 1
        opened()

    monkeypatch.setattr(worker.session, "_refuse_other_format", then_it_is_migrated)
    before = len(client.client_list())
    with pytest.raises(FrontierError, match="newer than this version's"):
        await worker.open()
    assert client.zcount(worker.config.frontier.keys.partition(0).sessions, time.time() * 1_000, "+inf") == 0
    until(lambda: len(client.client_list()) == before, "its connections to be closed")
    assert list(tmp_path.iterdir()) == []
    await worker.close()


async def test_a_redis_that_nobody_answers_at(build, tmp_path):
    worker = build("redis://127.0.0.1:1/0")
    with pytest.raises(UnavailableError):
        await worker.open()
    assert list(tmp_path.iterdir()) == []
    await worker.close()

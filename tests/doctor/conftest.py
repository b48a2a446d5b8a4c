"""Runs all checks on real servers, in this process."""

from __future__ import annotations

import contextlib

import pytest
import redis as sync_redis
from needs import started
from scrapy.settings import Settings

from crawler.doctor.checks import GROUPS
from crawler.doctor.examination import examine
from testbed.servers import Redis


@pytest.fixture(scope="module")
def own_redis(tmp_path_factory):
    """A Redis of these tests alone: they change what the whole server does."""
    with started(Redis, tmp_path_factory.mktemp("doctor")) as server:
        yield server


@pytest.fixture
def redis(own_redis):
    """A client of `own_redis`, which is empty and as it should be before each test."""
    with contextlib.closing(sync_redis.Redis(port=own_redis.port)) as client:
        client.config_set("appendonly", "yes", "save", "", "maxmemory", 0, "maxmemory-policy", "noeviction")
        client.flushall()
        client.config_set("maxmemory", "1gb")
        yield client


@pytest.fixture
def examined(own_redis, tmp_path):
    """Returns `run(**SETTINGS)`: what each check found, by its name, in the order of the table."""

    async def run(**changes):
        settings = Settings()
        settings.setmodule("crawler.settings")
        folders = {"ITEMS_DIR": str(tmp_path / "items"), "FILES_STORE": str(tmp_path / "media")}
        settings.setdict({"REDIS_URL": own_redis.url} | folders | changes, "cmdline")
        return dict(await examine(GROUPS, settings))

    return run

"""A client of an empty Redis, as the session's thread has one."""

from __future__ import annotations

import pytest

from crawler.servers.redis import redis_sync


@pytest.fixture
def redis(redis_url):
    with redis_sync({"REDIS_URL": redis_url}) as client:
        yield client

"""A Redis that sentinels watch: clients find the primary, and the new one after a failover."""

from __future__ import annotations

import shutil
from contextlib import closing

import pytest
import redis
from needs import started
from waiting import until

from crawler.base.errors import ConfigError
from crawler.doctor.checks import GROUPS
from crawler.doctor.examination import examine
from crawler.doctor.finding import State
from crawler.servers.redis import database_of, redis_async, redis_sync
from testbed.servers import Redis
from testbed.servers.redis_sentinel import PASSWORD, RedisSentinel


@pytest.fixture
def watched(tmp_path):
    """A primary with a replica, and a sentinel; gives the settings, and both servers."""
    with started(Redis, tmp_path / "a") as primary, started(Redis, tmp_path / "b") as replica:
        with closing(redis.Redis(port=replica.port)) as client:
            client.replicaof("127.0.0.1", primary.port)
            until(lambda: client.info("replication")["master_link_status"] == "up", "the replica")
        with started(RedisSentinel, tmp_path, primary.port) as sentinel:
            until(sentinel.knows_a_replica, "the sentinel to know the replica")
            settings = {
                "REDIS_URL": f"redis://127.0.0.1:1,127.0.0.1:{sentinel.port}/2",
                "REDIS_SENTINEL": "main",
                "REDIS_SENTINEL_PASSWORD": PASSWORD,
            }
            yield settings, primary, replica
    shutil.rmtree(tmp_path / "sentinel")


async def test_clients_find_the_primary_also_after_a_failover(watched):
    settings, primary, replica = watched
    assert database_of(settings) == 2
    async with redis_async(settings) as client:
        with closing(redis_sync(settings)) as blocking:
            await client.set("a", 1)
            assert blocking.get("a") == b"1"
            with closing(redis.Redis(port=primary.port, db=2)) as there:
                assert there.get("a") == b"1"
            with closing(redis.Redis(port=replica.port, db=2)) as there:
                until(lambda: there.get("a") == b"1", "the replica to have it")
            found = dict(await examine(GROUPS[:1], settings))
            assert (found["redis"].state, found["redis-replicas"].text) == (State.OK, "1 in step")
            primary.kill()

            def written():
                try:
                    return blocking.set("a", 2)
                except redis.RedisError:
                    return False

            until(written, "the new primary")
            with closing(redis.Redis(port=replica.port, db=2)) as there:
                assert there.get("a") == b"2"
        with pytest.raises(redis.RedisError):  # its connection is the old primary's
            await client.get("a")
        assert await client.get("a") == b"2"


@pytest.mark.parametrize("change", [{"REDIS_SENTINEL": "other"}, {"REDIS_SENTINEL_PASSWORD": "wrong"}])
def test_a_primary_that_no_sentinel_knows_is_away(watched, change):
    with closing(redis_sync(watched[0] | change)) as client, pytest.raises(redis.ConnectionError):
        client.ping()


def test_a_cluster_has_no_sentinels():
    with pytest.raises(
        ConfigError, match="setting REDIS_SENTINEL: got 'main', expected nothing, as REDIS_CLUSTER is on"
    ):
        redis_sync({"REDIS_CLUSTER": 1, "REDIS_SENTINEL": "main"})

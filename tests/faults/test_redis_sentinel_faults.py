"""The primary of a Redis that sentinels watch is killed; workers go on at the replica that takes its place."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
import redis
from faults.rig import Rig
from waiting import until

from testbed.servers import Redis
from testbed.servers.redis_sentinel import PASSWORD, RedisSentinel

pytestmark = pytest.mark.faults

GOES_ON_SECONDS = 30.0  # on a loaded machine; the sentinel alone takes half a second to call the primary down


def test_the_primary_is_killed_and_its_replica_takes_over(fork_server, tmp_path, origin, row):
    with Redis(tmp_path / "a") as primary, Redis(tmp_path / "b") as replica:
        there = redis.Redis(port=replica.port)
        there.replicaof("127.0.0.1", primary.port)
        until(lambda: there.info("replication")["master_link_status"] == "up", "the replica")
        with RedisSentinel(tmp_path, primary.port) as sentinel, closing(there):
            until(sentinel.knows_a_replica, "the sentinel to know the replica")
            rig = Rig(fork_server, tmp_path, origin, primary)
            rig.environment["REDIS_URL"] = f"redis://127.0.0.1:{sentinel.port}/0"
            rig.settings |= {"REDIS_SENTINEL": "main", "REDIS_SENTINEL_PASSWORD": PASSWORD}
            try:
                fail_over(rig, replica, row)
            finally:
                rig.close()


def fail_over(rig, replica, row):
    rig.offer(rig.origin.urls(600, "slow"), site="paced")
    workers = rig.joined(2)
    until(lambda: rig.ended() >= 100, "pages")
    rig.redis_server.kill()
    killed = time.monotonic()
    rig.redis.close()
    rig.redis = redis.Redis(port=replica.port)
    ended = rig.ended()
    until(lambda: rig.ended() > ended, "workers to go on", GOES_ON_SECONDS)
    goes_on_s = time.monotonic() - killed
    until(lambda: rig.redis.info("replication")["role"] == "master", "the replica to be the primary")
    rig.until_done(240)
    rig.offer(sorted(rig.account), site="paced")  # whatever the replica hadn't got
    rig.until_done(120)
    fault = "Redis's primary killed, its replica promoted by a sentinel"
    row(fault, rig.audit(), goes_on_after_s=f"{goes_on_s:.1f}")
    assert all(worker.running for worker in workers)

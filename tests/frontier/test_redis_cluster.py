"""On a Redis Cluster partitions lie on all nodes; what moves from node to node, or fails, is followed."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import logging
import os
import signal
from urllib.parse import urlsplit

import psutil
import pytest
from frontier.driver import FrontierDriver, content
from needs import started
from redis.crc import key_slot
from redis.exceptions import RedisError

from crawler.base.errors import ConfigError, FrontierError
from crawler.base.events import Events
from crawler.base.tasks import cancel
from crawler.frontier.durability import advice
from crawler.frontier.keys import partition_of
from crawler.frontier.preflight import prepare
from crawler.servers.redis import redis_async, redis_sync
from crawler.servers.redis_cluster_timeouts import cluster_advice
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.life.wakeups import WakeUps
from testbed.servers.redis_cluster import RedisCluster

PARTITIONS = 12  # four for each node
HOSTS = 60
pytestmark = [
    pytest.mark.faults,  # it needs a cluster, parts of which are killed
    pytest.mark.parametrize("redis_settings", ["cluster"], indirect=True),
]


@pytest.fixture
async def driver(redis):
    """Twelve partitions; owner A and owner B have sessions, site `s` asks for no delay."""
    return await made(redis)


async def made(redis):
    driver = FrontierDriver(redis, PARTITIONS)
    await driver.polite(concurrency=2, burst=50)
    for owner in ("A", "B"):
        await driver.session(owner)
    return driver


def lock_of(driver, partition):
    return driver.key("lock", partition=partition)


async def claim_all(driver, owner="A"):
    """Claims until every partition is asked in vain; returns the seeds."""
    return [one for number in range(PARTITIONS) for one in (await driver.claim(owner, 1_000, partition=number)).seeds]


async def finish_all(driver, seeds, owner="A"):
    for number in range(PARTITIONS):
        here = [one for one in seeds if one.partition == number]
        await driver.finish(owner, here, partition=number)


async def test_a_slot_that_moves_is_followed_and_nothing_is_given_twice(driver, redis_cluster):
    await driver.offer(*(content(number, f"h{number % HOSTS}.test") for number in range(300)))
    lock = lock_of(driver, 0)
    slot, source = key_slot(lock.encode()), redis_cluster.node_of(lock)
    target = next(node for node in redis_cluster.nodes if node is not source)
    redis_cluster.begin_move(slot, source, target)
    redis_cluster.move_keys(slot, source, target, max_keys=5)
    with pytest.raises(RedisError):  # half of it is here, half there: the script doesn't run at all
        await driver.claim("A", 1_000)
    others = [(await driver.claim("B", 1_000, partition=number)).seeds for number in range(1, PARTITIONS)]
    redis_cluster.move_keys(slot, source, target)
    redis_cluster.end_move(slot, target)
    seeds = await driver.until(lambda: claimed(driver))  # MOVED
    assert len(seeds) + sum(map(len, others)) == 300
    await driver.finish("A", seeds)
    assert await driver.problems() == []
    redis_cluster.begin_move(slot, target, source)
    redis_cluster.move_keys(slot, target, source)
    redis_cluster.end_move(slot, source)
    assert (await driver.claim("A")).seeds == []


async def claimed(driver):
    """Returns a claim's seeds; none while the lock is still held, or the slot on its way."""
    try:
        return (await driver.claim("A", 1_000)).seeds
    except RedisError:
        return []


async def test_a_node_that_fails_gives_way_to_its_replica(tmp_path, redis_settings):
    with started(RedisCluster, tmp_path) as cluster:
        client = redis_async({"REDIS_URL": cluster.url, "REDIS_CLUSTER": 1})
        driver = await made(client)
        await driver.offer(*(content(number, f"h{number % HOSTS}.test") for number in range(300)))
        held = await claim_all(driver)
        failing = cluster.node_of(lock_of(driver, 0))
        replica = cluster.add_replica(failing)
        heard = asyncio.Event()
        listener = asyncio.create_task(WakeUps(client, driver.keys.wake("content"), heard, Events()).listen())
        await heard.wait()
        pipelining = redis_async({"REDIS_URL": cluster.url, "REDIS_CLUSTER": 1})
        await read_in_pipeline(pipelining, lock_of(driver, 0))
        failing.kill()
        with pytest.raises(RedisError):
            await driver.session("A", what="renew")
        assert await driver.until_answered(driver.session, "A", what="renew")
        cluster.until(lambda: b"role:master" in replica.info("replication"), "another primary")
        await driver.until_answered(finish_all, driver, held)
        assert (await driver.totals()).finished == 300
        assert await driver.problems() == []

        async def woken():
            heard.clear()
            await client.publish(driver.keys.wake("content"), "release")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(heard.wait(), 0.2)
            return heard.is_set()

        await driver.until(woken)
        await driver.until_answered(read_in_pipeline, pipelining, lock_of(driver, 0))
        blocking = redis_sync({"REDIS_URL": cluster.url, "REDIS_CLUSTER": 1})
        blocking.ping()
        cluster.stop()
        with contextlib.closing(blocking), pytest.raises(RedisError):
            blocking.get("x")
        await cancel(listener)
        await pipelining.aclose()
        await client.aclose()


async def read_in_pipeline(client, key):
    async with client.pipeline(transaction=False) as pipeline:
        await pipeline.get(key).execute()


async def test_a_cluster_is_refused_without_the_setting_and_the_setting_without_a_cluster(
    driver, redis_cluster, redis_url
):
    plain = redis_async({"REDIS_URL": redis_cluster.url})
    with pytest.raises(FrontierError, match="REDIS_CLUSTER"):
        await prepare(plain, driver.keys, PARTITIONS)
    await plain.aclose()
    await prepare(driver.redis, driver.keys, PARTITIONS)
    wrong = {"REDIS_URL": redis_url, "REDIS_CLUSTER": 1}
    clustered = redis_async(wrong)
    with pytest.raises(ConfigError, match="REDIS_CLUSTER"):
        await prepare(clustered, driver.keys, PARTITIONS)
    await clustered.aclose()
    with (
        contextlib.closing(redis_sync(wrong)) as blocking,
        pytest.raises(ConfigError, match="REDIS_CLUSTER"),
    ):
        blocking.ping()


def test_a_blocking_client_leaves_no_connection(redis_cluster, redis_settings, redis_url):
    ours = {server.port for server in redis_cluster.nodes} | {urlsplit(redis_url).port}

    def open_to_them():
        connections = psutil.Process().net_connections("tcp")
        return sum(bool(one.raddr) and one.raddr.port in ours and one.status == "ESTABLISHED" for one in connections)

    gc.collect()
    before = open_to_them()
    with contextlib.closing(redis_sync(redis_settings)) as client:
        client.set("a", 1)
        assert open_to_them() > before
    with (
        contextlib.closing(redis_sync({"REDIS_URL": redis_url, "REDIS_CLUSTER": 1})) as client,
        pytest.raises(ConfigError),
    ):
        client.ping()
    assert open_to_them() == before


async def test_a_node_with_other_settings_is_found(driver, redis_cluster):
    last = redis_cluster.nodes[-1]
    last.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    with pytest.raises(FrontierError, match="evicts"):
        await prepare(driver.redis, driver.keys, PARTITIONS)
    last.call("CONFIG", "SET", "maxmemory-policy", "noeviction")


async def test_any_node_leads_to_the_cluster(redis_cluster, redis_settings):
    away = "127.0.0.1:1"
    nodes = ",".join(f"127.0.0.1:{node.port}" for node in redis_cluster.nodes[1:])
    for url in (f"redis://{away},{nodes}/0", f"redis://{nodes},{away}/0"):
        settings = {"REDIS_URL": url, "REDIS_CLUSTER": 1}
        async with redis_async(settings) as client:
            assert await client.set("x", 1)
        with contextlib.closing(redis_sync(settings)) as client:
            assert client.get("x") == b"1"


async def test_a_client_that_is_to_read_the_map_anew_disconnects_as_well(redis_cluster, redis_settings):
    client = redis_async(redis_settings)
    names = [f"plan-{number}" for number in range(PARTITIONS)]  # on every node
    await asyncio.gather(*(client.exists(name) for name in names))
    with contextlib.suppress(RedisError):
        pipe = client.pipeline()
        pipe.execute_command("EVAL", "return redis.error_reply('CLUSTERDOWN for the test')", 1, names[0])
        await pipe.execute()
    nodes = client.get_nodes()
    assert any(one.is_connected for node in nodes for one in node._connections)
    assert client._initialize
    await client.aclose()
    assert not any(one.is_connected for node in nodes for one in node._connections)


async def test_a_cluster_that_is_away_is_an_error_of_redis(redis_settings):
    settings = {"REDIS_URL": "redis://user:secret@127.0.0.1:1,127.0.0.1:2/0", "REDIS_CLUSTER": 1}
    with contextlib.closing(redis_sync(settings)) as client, pytest.raises(RedisError) as error:
        client.ping()
    assert "secret" not in str(error.value)
    client = redis_async(settings)
    pipeline = client.pipeline(transaction=False)
    pipeline.get("x")
    for call in (client.ping, pipeline.execute, client.pubsub().subscribe):
        with pytest.raises(RedisError):
            await call(*(["x"] if call.__name__ == "subscribe" else []))
    await client.aclose()


@pytest.mark.parametrize("url", ["redis://h:1/2", "unix:///run/redis.sock", "redis://h:1,h:port/0"])
def test_an_address_that_can_be_no_cluster_s_is_refused(url, redis_settings):
    with pytest.raises(ConfigError, match="REDIS_URL"):
        redis_async({"REDIS_URL": url, "REDIS_CLUSTER": 1})


@pytest.mark.faults
async def test_a_confirmed_offer_survives_a_replica_promoted_with_a_gap(redis_settings, tmp_path):
    """The replica is cut off; what it lacks is lost with the primary, unless the offer has waited for it."""
    with started(RedisCluster, tmp_path) as cluster:
        replica = cluster.add_replica(cluster.nodes[0])
        async with redis_async(redis_settings | {"REDIS_URL": cluster.nodes[1].url}) as redis:
            driver = await made(redis)
            queue, primary = driver.queues["content"], cluster.nodes[0]
            here = [
                seed
                for seed in (content(number, f"h{number}.test") for number in range(HOSTS))
                if cluster.node_of(lock_of(driver, partition_of(seed.host, PARTITIONS))) is primary
            ]
            assert await until_redis_answers("an offer", functools.partial(queue.offer, here[:1], confirmed=True))
            os.kill(replica.pid, signal.SIGSTOP)
            primary.call("CLIENT", "KILL", "TYPE", "replica")
            assert await queue.offer(here[1:2]) == [True]
            with pytest.raises(RedisError, match="not on a replica"):
                await queue.offer(here[2:3], confirmed=True)
            primary.kill()
            os.kill(replica.pid, signal.SIGCONT)
            cluster.until(lambda: b"role:master" in replica.info("replication"), "replica in its primary's place")
            fresh = []
            for seed in here[:3]:
                offer = functools.partial(queue.offer, [seed], confirmed=True)
                fresh += await until_redis_answers("an offer", offer)
            assert fresh == [False, True, True]  # the second was lost unseen, the third was never taken for safe


async def test_an_offer_is_confirmed_by_the_disk_where_there_is_no_replica(driver, redis_cluster):
    assert await driver.queues["content"].offer([content(1)], confirmed=True) == [True]
    for node in redis_cluster.nodes:
        node.call("CONFIG", "SET", "appendonly", "no")
    try:
        assert await driver.queues["content"].offer([content(1)], confirmed=True) == [False]
    finally:
        for node in redis_cluster.nodes:
            node.call("CONFIG", "SET", "appendonly", "yes")


async def test_a_cluster_that_would_stop_for_one_primary_is_warned_of(redis):
    assert [text.partition(":")[0] for text in await cluster_advice(redis, 15.0)] == [
        "Redis Cluster refuses everything while one primary is away"
    ]
    assert len(await cluster_advice(redis, 1.0)) == 2  # the nodes wait a second for each other


async def test_a_primary_that_keeps_nothing_on_disk_is_warned_of(redis, redis_cluster):
    assert await advice(redis) is None
    last = redis_cluster.nodes[-1]
    last.call("CONFIG", "SET", "appendonly", "no")
    try:
        level, text = await advice(redis)
    finally:
        last.call("CONFIG", "SET", "appendonly", "yes")
    assert (level, text.startswith("Redis keeps nothing on disk: ")) == (logging.WARNING, True)


async def test_a_node_that_is_frozen_or_down_costs_the_calls_to_others_nothing(tmp_path, redis_settings):
    with started(RedisCluster, tmp_path) as cluster:
        frozen, other = cluster.nodes[1:]
        keys = {cluster.node_of(key): key for key in map(str, range(HOSTS))}
        for node in (frozen, other):  # they need no majority to go on
            node.call("CONFIG", "SET", "cluster-require-full-coverage", "no")
        client = redis_async({"REDIS_URL": cluster.url, "REDIS_CLUSTER": 1, "REDIS_PARAMS": {"socket_timeout": 1.0}})
        waiting = asyncio.create_task(client.blpop(f"{{{keys[other]}}}", 0.5))
        frozen.call("CLUSTER", "DELSLOTS", key_slot(keys[frozen].encode()))
        with pytest.raises(RedisError, match="not served"):
            await client.get(keys[frozen])
        assert await waiting is None  # its connection wasn't closed
        os.kill(frozen.pid, signal.SIGSTOP)
        slow = 0
        for _ in range(6):  # the map is read anew after each; one node of three can't tell it
            with pytest.raises(RedisError):
                await client.get(keys[frozen])
            began = asyncio.get_running_loop().time()
            await client.get(keys[other])
            slow += asyncio.get_running_loop().time() - began > 0.8
        os.kill(frozen.pid, signal.SIGCONT)
        assert not slow
        await client.aclose()

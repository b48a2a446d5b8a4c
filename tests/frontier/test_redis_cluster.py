"""On a Redis Cluster every script stays within the one slot of its partition, whatever keys it makes up."""

from __future__ import annotations

import pytest
from frontier.hands import Hands, content, ends, nav, turns
from redis import Redis as SyncRedis
from redis.asyncio import Redis as AsyncRedis
from servers.needs import started

from crawler import figures
from crawler.demo.servers import Redis
from crawler.frontier import scripts
from crawler.frontier.admin import Admin

PARTITIONS = 3


class ClusterNode(Redis):
    """A cluster of one node, which refuses what would reach into two slots."""

    def __init__(self, folder):
        super().__init__(folder)
        self._command += ("--cluster-enabled", "yes")


@pytest.fixture
async def cluster(tmp_path):
    with started(ClusterNode, tmp_path) as server:
        client = AsyncRedis(port=server.port)
        await client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
        hands = Hands(client, PARTITIONS)
        hands.port = server.port

        async def is_up():
            return b"cluster_state:ok" in await client.execute_command("CLUSTER", "INFO")

        await hands.until(is_up)
        yield hands
        await client.aclose()


async def test_a_crawl_over_three_slots(cluster):
    await cluster.polite(concurrency=2, burst=50)
    for owner in ("A", "B"):
        await cluster.session(owner)
    await cluster.offer(*(content(number, f"h{number % 30}.test") for number in range(300)))
    await cluster.offer(*(nav(number, f"h{number % 30}.test") for number in range(30)))
    admin = Admin(cluster.queues["content"])
    await cluster.mark("pause other")
    finished = 0
    for partition in range(PARTITIONS):
        held = (await cluster.claim("A", 1_000, partition=partition)).seeds
        finished += len(held)
        await cluster.settle("A", ends(held[:1], "fail", reason="x"), partition=partition)
        await cluster.settle("A", ends(held[1:2], "retry", 0, "timeout"), partition=partition)
        await cluster.finish("A", held[2:], partition=partition)
        await cluster.settle("A", [], turns(held), partition=partition)
        (question, *_others) = (await cluster.claim("B", 10, frontier="nav", partition=partition)).seeds
        await cluster.queues["content"].borrow_turn("img.test", "s", "A")
        keys = cluster.keys.partition(partition).script_keys("nav")
        await scripts.run(cluster.redis, "undo", keys, ["wake", "B", question.claim, 10**6])
        await scripts.run(cluster.redis, "slow", keys, [question.seed.host, 100])
    assert finished == 300
    await cluster.lapse("B")
    for partition in range(PARTITIONS):
        await cluster.claim("A", 0, frontier="nav", partition=partition)
    assert await cluster.problems() == []
    assert await admin.retry(lambda _one: True) == PARTITIONS
    await cluster.mark("cancel p")
    assert await admin.cancel("p") == 2 * PARTITIONS
    assert await Admin(cluster.queues["nav"]).drop(lambda _one: True, "replaced") == 30
    assert await admin.forget("p", "s")
    assert await cluster.problems() == []
    with SyncRedis(port=cluster.port) as client:  # each worker's figures have slots of their own
        assert figures.publish(client, cluster.keys, "node:1:1:a", {}) == 1
        assert figures.publish(client, cluster.keys, "node:2:1:b", {}) == 2

"""The figures of a whole crawl, on a real Redis."""

from __future__ import annotations

import orjson
import pytest
from commands.conftest import content_seed
from commands.test_nodes import add_worker
from scrapy.settings import Settings

from crawler.base.models import Seed
from crawler.cluster import overview
from crawler.cluster.overview import read_overview
from crawler.plans.operator import Operator
from crawler.servers.redis import redis_sync
from crawler.telemetry import history

REFUSED_SCANS = ("scan", "keys", "hscan", "sscan", "zscan")


async def commands_of(operator, gathering):
    """Returns how often each command was called in Redis, but for the questions about that, while something ran."""

    async def calls():
        found = (await operator.redis.info("commandstats")).items()
        return {name.removeprefix("cmdstat_"): one["calls"] for name, one in found}

    before = await calls()
    await gathering
    after = await calls()
    return {name: number - before.get(name, 0) for name, number in after.items() if number > before.get(name, 0)}


async def test_of_an_empty_crawl_all_counts_are_none_and_redis_is_described(operator):
    found = (await read_overview(operator)).as_json()
    assert found["difference"] == found["oldest_due_s"] == found["turns_held"] == 0
    assert found["plans"] == found["failures"] == found["totals"] == {}
    assert found["workers"] == []
    (server,) = found["redis"]
    assert server["used_bytes"] > 100_000
    assert server["saves"]


async def test_seeds_hosts_and_plans_in_every_state(operator, claim, fail):
    await fail("http-404", content_seed(1), content_seed(2))
    await operator.queues["content"].offer([content_seed(number) for number in range(1, 8)])
    await operator.queues["nav"].offer([Seed("http://other.test/?q=a", "storm", "board", frontier="nav")])
    claimed = await claim(2)
    found = await read_overview(operator)

    content = found.frontiers["content"]
    assert (content.offered, content.known, content.ready, content.claims, content.failed) == (9, 2, 3, 2, 2)
    assert content.executing == 2
    assert (content.hosts, content.hosts_due, content.oldest_due_ms) == (1, 0, 0)  # its one turn is held
    nav = found.frontiers["nav"]
    assert (nav.ready, nav.hosts, nav.hosts_due) == (1, 1, 1)
    assert 0 < nav.oldest_due_ms <= found.at_ms
    assert 0 <= found.oldest_due_s < 60
    assert found.turns_held == len({one.turn for one in claimed}) == 1
    assert found.difference == 0
    assert found.failures() == {"http-404": 2}
    assert {plan: account.ready for plan, account in found.by_plan().items()} == {"flood": 3, "storm": 1}
    assert found.as_json()["plans"]["flood"]["failures"] == {"http-404": 2}


async def test_hosts_that_wait_are_told_from_those_that_could_be_claimed(operator):
    keys = operator.keys.partition(0).of("content", "hosts")
    now_ms = await operator.registry.now_ms()
    for due in range(5):
        await operator.redis.delete(keys)
        scores = {f"due{number}.test": now_ms - 90_000 - number for number in range(due)}
        scores |= {f"later{number}.test": now_ms + 60_000 + number for number in range(4)}
        await operator.redis.zadd(keys, scores)
        found = await read_overview(operator)
        assert (found.frontiers["content"].hosts, found.frontiers["content"].hosts_due) == (4 + due, due)
        assert (found.oldest_due_s >= 90) is (due > 0)


async def test_a_plan_that_was_deleted_counts_no_more(operator, fail):
    await fail("http-404", content_seed(1))
    for admin in operator.admins.values():
        assert await admin.forget("flood", "board")
    found = await read_overview(operator)
    assert found.frontiers["content"].failed == found.frontiers["content"].offered == found.difference == 0


async def test_a_seed_that_got_lost_is_a_difference(operator):
    await operator.queues["content"].offer([content_seed(1)])
    part = operator.keys.partition(0)
    await operator.redis.hincrby(part.of("content", "counts"), "ready", -1)
    assert (await read_overview(operator)).difference == 1


async def test_what_workers_report_and_ever_did(operator, redis_url):
    await add_worker(operator, "a-node:10:1:x", sinks_down=["kafka"])
    with redis_sync({"REDIS_URL": redis_url}) as client:
        for _ in range(2):
            history.add(client, operator.keys, 1_800_000_000, {"pages": 3, "status:200": 2})
    found = await read_overview(operator)
    assert [worker["sinks_down"] for worker in found.workers] == [["kafka"]]
    assert found.totals == {"pages": 6, "status:200": 4}
    orjson.dumps(found.as_json())


async def test_too_many_ledgers_leave_the_plans_out_and_nothing_else(operator, monkeypatch):
    await operator.queues["content"].offer([content_seed(1)])
    monkeypatch.setattr(overview, "MAX_LEDGERS", 0)
    found = await read_overview(operator)
    assert (found.ledgers, found.ledger, found.frontiers["content"].ready) == (1, {}, 1)


async def test_the_cost_does_not_grow_with_seeds_and_hosts(operator):
    async def offer(hosts):
        seeds = [Seed(f"http://h{number}.test/", "flood", "board") for number in range(hosts)]
        await operator.queues["content"].offer(seeds)

    await offer(2)
    await read_overview(operator)  # Redis knows the scripts by now
    few = await commands_of(operator, read_overview(operator))
    await offer(250)
    many = await commands_of(operator, read_overview(operator))
    assert not set(many) & set(REFUSED_SCANS)
    assert sum(many.values()) - sum(few.values()) <= 8  # of the search by halves, over both frontiers


@pytest.fixture
async def divided(redis_cluster):
    """An operator of a Redis Cluster, over 4 partitions."""
    redis_cluster.empty()
    settings = Settings()
    settings.setmodule("crawler.settings")
    settings.setdict({"REDIS_URL": redis_cluster.url, "REDIS_CLUSTER": 1, "FRONTIER_PARTITIONS": 4})
    async with Operator.connect(settings, begin=True) as operator:
        yield operator


async def test_partitions_and_servers_of_a_cluster_add_up(divided):
    await divided.queues["content"].offer([Seed(f"http://h{number}.test/", "flood", "board") for number in range(40)])
    found = await read_overview(divided)
    assert (found.frontiers["content"].ready, found.frontiers["content"].hosts_due) == (40, 40)
    assert found.ledgers == 4
    assert found.by_plan()["flood"].ready == 40
    assert len({server.name for server in found.redis}) == 3

"""The crawl's figures as metrics, on a real Redis."""

from __future__ import annotations

import re

import pytest
from commands.conftest import content_seed
from commands.test_nodes import add_worker

from crawler.cluster import metrics as module
from crawler.cluster.metrics import metrics
from crawler.cluster.overview import read_overview
from crawler.servers.redis import redis_sync
from crawler.telemetry import history
from crawler.telemetry.exposition import exposition

SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")


@pytest.fixture
def add(operator, redis_url):
    with redis_sync({"REDIS_URL": redis_url}) as client:
        yield lambda **counts: history.add(client, operator.keys, 1_800_000_000, counts)


async def samples(operator):
    """Returns the samples by name and labels, as they are written."""
    _content_type, text = exposition(metrics(await read_overview(operator)))
    lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


async def test_seeds_work_nodes_and_redis(operator, claim, fail, add):
    await fail("http-404", content_seed(1))
    await operator.queues["content"].offer([content_seed(2), content_seed(3)])
    await claim(1)
    await add_worker(operator, "a-node:10:1:x", sinks_down=["kafka"], why_no_claims="it waits for kafka")
    await add_worker(operator, "a-node:11:1:x", age_s=45.0)
    add(
        pages=5,
        bytes=900,
        items=2,
        **{"status:200": 4, "status:junk": 1, "failed:http-404": 1, "site:news:finished": 2},
    )
    found = await samples(operator)
    expected = {
        'headroom_seeds{frontier="content",state="executing"}': 1,
        'headroom_plan_seeds{plan="flood",state="ready"}': 1,
        'headroom_failed_seeds{reason="http-404"}': 1,
        "headroom_ledger_difference": 0,
        "headroom_turns_held": 1,
        "headroom_pages_total": 5,
        "headroom_received_bytes_total": 900,
        'headroom_responses_total{code="200"}': 4,
        'headroom_failures_total{reason="http-404"}': 1,
        'headroom_settled_seeds_total{site="news",state="finished"}': 2,
        'headroom_settled_seeds_total{site="news",state="failed"}': 0,
        'headroom_workers{state="alive"}': 2,
        'headroom_workers{state="silent"}': 1,
        'headroom_node_carried_seeds{node="a-node"}': 14,
        'headroom_node_cpu_used_ratio{node="a-node"}': 0.415,
        'headroom_node_cpu_limit_ratio{node="a-node"}': 0.8,
        'headroom_node_sink_down{node="a-node",sink="kafka"}': 1,
        'headroom_redis_saves{server="redis"}': 1,
        'headroom_label_values_left_out{label="site"}': 0,
    }
    assert {name: found[name] for name in expected} == expected
    assert not any("junk" in name for name in found)
    assert found['headroom_redis_used_bytes{server="redis"}'] > 100_000


async def test_counters_stay_when_nodes_leave(operator, add):
    await add_worker(operator, "a-node:10:1:x")
    add(pages=5)
    before = await samples(operator)
    await operator.redis.delete(operator.keys.node("a-node"), operator.keys.partition(0).sessions)
    after = await samples(operator)
    counters = {name for name in before if "_total" in name}
    assert counters
    assert {name: after.get(name) for name in counters} == {name: before[name] for name in counters}
    assert not any("a-node" in name for name in after)


async def test_labels_are_bounded_and_what_is_left_out_is_counted(operator, add, monkeypatch):
    monkeypatch.setattr(module, "MAX_VALUES", 2)
    add(**{f"site:s{number}:finished": number for number in range(1, 6)}, **{"failed:a": 1})
    found = await samples(operator)
    assert [name for name in found if "settled_seeds" in name and "finished" in name] == [
        'headroom_settled_seeds_total{site="s4",state="finished"}',
        'headroom_settled_seeds_total{site="s5",state="finished"}',
    ]
    assert found['headroom_label_values_left_out{label="site"}'] == 3
    assert found['headroom_label_values_left_out{label="reason"}'] == 0


async def test_a_name_that_would_act_does_not(operator, add):
    add(**{'site:"} evil{x="\x1b[2J\n:failed': 1})
    _content_type, text = exposition(metrics(await read_overview(operator)))
    assert all(line.startswith("#") or SAMPLE.fullmatch(line) for line in text.decode().splitlines())
    assert b"\x1b" not in text

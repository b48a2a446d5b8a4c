"""`scrapy nodes`, on a real Redis."""

from __future__ import annotations

import json
import time

import orjson

from crawler.cli.workers import read_workers

FIGURES = {
    "frontier": "content",
    "carrying": 7,
    "pages_per_minute": 120,
    "room": 3,
    "cpu_percent": 41.5,
    "memory_percent": 20.0,
    "own_cpu_percent": 12.0,
    "own_memory_percent": 1.5,
    "sinks_down": ["kafka"],
}


async def put(cluster, owner, session_s=10.0, age_s=1.0, **figures):
    """Writes down a worker, as one does that runs."""
    node, now = owner.partition(":")[0], time.time()
    await cluster.redis.hset(cluster.keys.node(node), owner, orjson.dumps({**FIGURES, **figures, "time": now - age_s}))
    await cluster.redis.zadd(cluster.keys.node_names, {node: now})
    if session_s is not None:
        await cluster.redis.zadd(cluster.keys.partition(0).sessions, {owner: (now + session_s) * 1000})


def test_nobody(scrapy):
    done = scrapy("nodes")
    assert done.returncode == 0
    assert done.stdout == "no worker runs; scrapy crawl producer and scrapy crawl consumer start one each\n"
    assert json.loads(scrapy("nodes", "--json").stdout) == {"workers": []}


async def test_workers_by_node_with_their_load(scrapy, cluster):
    await put(cluster, "b-node:20:1:x", frontier="nav", sinks_down=[])
    await put(cluster, "a-node:10:1:x")
    await put(cluster, "a-node:11:1:x", session_s=-30.0, sinks_down=[])
    await put(cluster, "c-node:30:1:x", age_s=45.0, sinks_down=[], redis_full=True)
    await put(cluster, "d-node:40:1:x", sinks_down=[], redis_full=True)
    done = scrapy("nodes", environment={"COLUMNS": "120"})
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[:2] == [
        "node process frontier state carries room pages/min CPU % mem %",
        "a-node 10 content alive, waits for kafka 7 3 120 41.5 20.0",
    ]
    assert lines[2].startswith("a-node 11 content lapsed 3")
    assert lines[3] == "b-node 20 nav alive 7 3 120 41.5 20.0"
    assert lines[4].startswith("c-node 30 content silent for 4")
    assert lines[5] == "d-node 40 content redis-full 7 3 120 41.5 20.0"
    states = [one["state"] for one in json.loads(scrapy("nodes", "--json").stdout)["workers"]]
    assert states == ["alive", "lapsed", "alive", "silent", "redis-full"]


async def test_json_has_every_figure(scrapy, cluster):
    await put(cluster, "a-node:10:1:x")
    (worker,) = json.loads(scrapy("nodes", "--json").stdout)["workers"]
    assert worker == FIGURES | {
        "node": "a-node",
        "owner": "a-node:10:1:x",
        "state": "alive",
        "age_s": worker["age_s"],
        "session_s": worker["session_s"],
    }
    assert 1 <= worker["age_s"] < 60
    assert worker["session_s"] <= 10


async def test_what_is_no_figure_is_left_out(cluster):
    await put(cluster, "a-node:10:1:x", carrying="\x1b[2J", room=True, sinks_down="all")
    await cluster.redis.hset(cluster.keys.node("a-node"), "a-node:11:1:x", b"\x80")
    await cluster.redis.zadd(cluster.keys.partition(0).sessions, {"a-node:12:1:x": 10**15})
    workers = await read_workers(cluster)
    assert [(one["carrying"], one["room"], one["sinks_down"]) for one in workers] == [(None, None, [])] * 3
    assert [one["state"] for one in workers] == ["alive", "lapsed", "alive"]

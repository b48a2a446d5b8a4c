"""`scrapy nodes`, on a real Redis."""

from __future__ import annotations

import time

import orjson
import pytest
from commands.answers import error_of, json_of, lines_of

from crawler.base.models import Seed
from crawler.cluster import audit

REPORT = {
    "version": "2.0",
    "frontier": "content",
    "carrying": 7,
    "pages_per_minute": 120,
    "room": 3,
    "cpu_percent": 41.5,
    "memory_percent": 20.0,
    "own_cpu_percent": 12.0,
    "own_memory_percent": 1.5,
    "egress_down_s": 0,
    "drained": False,
    "memory_limit_percent": 90,
    "cpu_limit_percent": 80,
    "first_batch": 5,
    "weight": 2.0,
    "sinks_down": [],
    "why_no_claims": "",
    "why_no_browser": "",
}


async def add_worker(operator, owner, session_s=10.0, age_s=1.0, **more):
    """Writes to Redis what a worker writes that runs."""
    node, now = owner.partition(":")[0], time.time()
    await operator.redis.hset(operator.keys.node(node), owner, orjson.dumps({**REPORT, **more, "time": now - age_s}))
    await operator.redis.zadd(operator.keys.node_names, {node: now})
    await operator.redis.zadd(operator.keys.partition(0).sessions, {owner: (now + session_s) * 1000})


def test_without_a_worker_it_says_how_one_is_started(scrapy):
    assert lines_of(scrapy("nodes")) == [
        "no worker runs; scrapy crawl producer and scrapy crawl consumer start one each"
    ]
    assert json_of(scrapy("nodes", "--json")) == {"workers": [], "orders": {}}


async def test_workers_by_node_with_their_load(scrapy, operator):
    await add_worker(operator, "b-node:20:1:x", frontier="nav")
    await add_worker(operator, "a-node:10:1:x", sinks_down=["kafka"], why_no_claims="it waits for kafka")
    await add_worker(operator, "a-node:11:1:x", session_s=-30.0)
    await add_worker(operator, "c-node:30:1:x", age_s=45.0, redis_full=True)
    await add_worker(operator, "d-node:40:1:x", redis_full=True)
    await add_worker(operator, "e-node:50:1:x", age_s=42.0, next_s=43.0)  # idle workers report seldom
    lines = lines_of(scrapy("nodes"))
    assert lines[:2] == [
        "node process frontier carries room pages/min CPU % mem % state",
        "a-node 10 content 7 3 120 41.5 20.0 alive, claims nothing: it waits for kafka",
    ]
    assert lines[2].startswith("a-node 11 content lapsed 3")
    assert lines[3] == "b-node 20 nav 7 3 120 41.5 20.0 alive"
    assert lines[4].startswith("c-node 30 content 7 3 120 41.5 20.0 silent for 4")
    assert lines[5] == "d-node 40 content 7 3 120 41.5 20.0 redis-full"
    assert lines[6] == "e-node 50 content 7 3 120 41.5 20.0 alive"

    workers = json_of(scrapy("nodes", "--json"))["workers"]
    assert [worker["state"] for worker in workers] == ["alive", "lapsed", "alive", "silent", "redis-full", "alive"]
    first = workers[0]
    assert first == REPORT | {
        "node": "a-node",
        "owner": "a-node:10:1:x",
        "sinks_down": ["kafka"],
        "why_no_claims": "it waits for kafka",
        "state": "alive",
        "is_overdue": False,
        "age_s": first["age_s"],
        "session_s": first["session_s"],
    }
    assert 1 <= first["age_s"] < 60
    assert first["session_s"] <= 10


async def test_shares_of_the_hosts_by_weight(scrapy, operator):
    assert lines_of(scrapy("nodes", "shares")) == ["no worker claims anything"]
    living = {"next_s": 3.0, "session_length_s": 15.0}
    await add_worker(operator, "a-node:10:1:x", weight=3.0, **living)
    await add_worker(operator, "a-node:11:1:x", weight=3.0, **living)
    await add_worker(operator, "b-node:20:1:x", weight=1.0, **living)
    await add_worker(operator, "c-node:30:1:x", frontier="nav", **living)
    await add_worker(operator, "d-node:40:1:x", drained=True, **living)
    await add_worker(operator, "e-node:50:1:x", age_s=19.0, **living)
    assert lines_of(scrapy("nodes", "shares")) == [
        "frontier node weight workers share % hosts hosts %",
        "content a-node 3.0 2 75.0 0",
        "content b-node 1.0 1 25.0 0",
        "nav c-node 2.0 1 100.0 0",
    ]
    await operator.queues["content"].offer([Seed(f"http://h{number}.test/", "p", "s") for number in range(200)])
    shares = json_of(scrapy("nodes", "shares", "--json"))["shares"]
    assert [share["hosts_percent"] for share in shares] == [pytest.approx(75, abs=10), pytest.approx(25, abs=10), None]
    assert sum(share["hosts"] for share in shares) == 200


async def test_a_worker_that_lost_its_lease_and_began_anew_is_one_row_with_its_figures(scrapy, operator):
    await add_worker(operator, "a-node:10:1:old", session_s=-5.0)
    await operator.redis.zadd(operator.keys.partition(0).sessions, {"a-node:10:1:new": (time.time() + 10) * 1000})
    (worker,) = json_of(scrapy("nodes", "--json"))["workers"]
    assert (worker["owner"], worker["state"], worker["carrying"]) == ("a-node:10:1:old", "alive", 7)
    await operator.redis.zrem(operator.keys.partition(0).sessions, "a-node:10:1:old")  # as in a Redis that lost all
    (worker,) = json_of(scrapy("nodes", "--json"))["workers"]
    assert (worker["state"], worker["frontier"], worker["carrying"]) == ("alive", "content", 7)


async def test_a_lapsed_worker_is_forgotten_after_an_hour(scrapy, operator):
    await add_worker(operator, "a-node:10:1:x", session_s=-3_500.0)
    await add_worker(operator, "a-node:11:1:x", session_s=-3_700.0)
    (worker,) = json_of(scrapy("nodes", "--json"))["workers"]
    assert (worker["owner"], worker["state"], worker["carrying"]) == ("a-node:10:1:x", "lapsed", None)


async def test_a_worker_whose_seeds_others_have_is_told_by_its_last_report(scrapy, operator):
    await add_worker(operator, "a-node:10:1:x", age_s=30.0)
    await operator.redis.zrem(operator.keys.partition(0).sessions, "a-node:10:1:x")
    assert lines_of(scrapy("nodes"))[1].startswith("a-node 10 content lapsed, heard of 3")


async def test_a_worker_that_was_killed_is_overdue_before_its_session_lapses(scrapy, operator):
    """Of a session that is as long as this node's SESSION_SECONDS say, or as its worker's own do."""
    for owner, session_s in (("a-node:10:1:x", 900.0), ("a-node:11:1:x", 250.0)):
        await add_worker(operator, owner, session_s=session_s)
    await add_worker(operator, "a-node:12:1:x", session_s=250.0, session_length_s=300.0)
    workers = json_of(scrapy("nodes", "--json", settings={"SESSION_SECONDS": 900}))["workers"]
    assert [(worker["state"], worker["is_overdue"]) for worker in workers] == [
        ("alive", False),
        ("alive", True),
        ("alive", False),
    ]


async def test_a_worker_that_has_just_begun_says_so(scrapy, operator):
    await operator.redis.zadd(operator.keys.partition(0).sessions, {"a-node:10:1:x": 10**15})
    assert lines_of(scrapy("nodes"))[1] == "a-node 10 alive, without figures so far"


async def test_versions_are_counted_while_they_differ(scrapy, operator):
    await add_worker(operator, "a-node:10:1:x")
    assert lines_of(scrapy("nodes"))[-1].endswith(" alive")
    await add_worker(operator, "a-node:11:1:x")
    await add_worker(operator, "b-node:12:1:x", version="")
    await add_worker(operator, "b-node:13:1:x", version="1.0", session_s=-30.0)
    await operator.redis.zadd(operator.keys.partition(0).sessions, {"b-node:14:1:x": 10**15})
    assert lines_of(scrapy("nodes"))[-1] == "versions: 1 of 0.1.0 or earlier, 2 of 2.0"


async def test_junk_in_a_report_is_left_out(scrapy, operator):
    await add_worker(operator, "a-node:10:1:x", carrying="\x1b[2J", room=True, sinks_down="all")
    await operator.redis.hset(operator.keys.node("a-node"), "a-node:11:1:x", b"\x80")
    await operator.redis.zadd(operator.keys.partition(0).sessions, {"a-node:12:1:x": 10**15})
    workers = json_of(scrapy("nodes", "--json"))["workers"]
    shown = [(worker["carrying"], worker["room"], worker["sinks_down"]) for worker in workers]
    assert shown == [(None, None, [])] * 3
    assert [worker["state"] for worker in workers] == ["alive", "lapsed", "alive"]


async def test_a_node_is_drained_and_claims_again(scrapy, operator):
    await add_worker(operator, "a-node:10:1:x")
    assert lines_of(scrapy("nodes", "drain", "a-node")) == ["a-node: may claim nothing, limits of its own settings"]
    await add_worker(operator, "a-node:10:1:x", drained=True)
    await add_worker(operator, "a-node:11:1:x", drained=True, carrying=0)
    lines = lines_of(scrapy("nodes"))
    assert lines[1].endswith(" draining")
    assert lines[2].endswith(" drained")
    assert lines[3] == "a-node: may claim nothing, limits of its own settings"
    assert lines_of(scrapy("nodes", "resume", "a-node")) == ["a-node: may claim, limits of its own settings"]
    assert json_of(scrapy("nodes", "--json"))["orders"] == {}
    entries = [(one.action, one.target) for one in reversed(await audit.read(operator))]
    assert entries == [("node-drain", "a-node"), ("node-resume", "a-node")]


async def test_limits_of_nodes_are_set_and_taken_back(scrapy, operator):
    await add_worker(operator, "a-node:10:1:x")
    await add_worker(operator, "b-node:10:1:x")
    lines = lines_of(scrapy("nodes", "set", "a-node", "b-node", "--cpu-limit", "50", "--first-batch", "2"))
    assert lines == [f"{node}: may claim, NODE_CPU_LIMIT_PERCENT 50, FIRST_BATCH 2" for node in ("a-node", "b-node")]
    order = json_of(scrapy("nodes", "--json"))["orders"]["a-node"]
    assert (order["cpu_limit_percent"], order["first_batch"], order["memory_limit_percent"]) == (50, 2, None)
    scrapy("nodes", "drain", "a-node")
    answer = json_of(scrapy("nodes", "reset", "a-node", "--json"))
    assert answer["orders"]["a-node"] == {
        "drained": True,
        "stopped_ms": 0,
        "memory_limit_percent": None,
        "cpu_limit_percent": None,
        "first_batch": None,
    }


async def test_what_can_not_be_ordered_changes_nothing(scrapy, operator):
    await add_worker(operator, "a-node:10:1:x")
    assert error_of(scrapy("nodes", "drain", "a-node", "b-nod")) == "no node 'b-nod'; did you mean a-node?"
    assert error_of(scrapy("nodes", "set", "a-node")).startswith("nodes set: expected one of --memory-limit")
    error = error_of(scrapy("nodes", "set", "a-node", "--cpu-limit", "0"))
    assert error.startswith("--cpu-limit: setting NODE_CPU_LIMIT_PERCENT: got '0'")
    assert error_of(scrapy("nodes", "stop")) == "nodes stop: expected NODE ..."
    assert json_of(scrapy("nodes", "--json"))["orders"] == {}

"""A worker's figures in Redis: often while it works, seldom while it idles."""

import asyncio
from types import SimpleNamespace

import orjson
import pytest

from crawler.base.events import Events
from crawler.frontier.keys import Keys
from crawler.frontier.session import SessionLost, SessionOpened, SessionRenewed
from crawler.telemetry import node_history
from crawler.worker.reports.figures import IDLE_SECONDS, Figures

SESSION_SECONDS = 15.0
NOW_S = 1_800_000_000
LENGTH = {"session_length_s": SESSION_SECONDS}
IDLE = {"frontier": "content", "carrying": 0, "room": 5, "sinks_down": [], "redis_full": False, "cpu_percent": 1.0}


@pytest.fixture
def keys():
    return Keys("figures")


@pytest.fixture
def write(redis, keys):
    """Returns a function that writes figures; returns how many workers the node has."""
    beats = {}

    def run(owner, figures, now_s, session_s=SESSION_SECONDS):
        writer = beats.setdefault(owner, Figures(keys, Events(), session_s, node(), {}))
        writer.latest = figures
        writer.write(redis, owner, now_s)
        return writer._headroom.workers_here

    return run


def node():
    return SimpleNamespace(workers_here=1)


class _Async:
    """A client whose answers are awaited."""

    def __init__(self, redis):
        self._redis = redis

    async def hmget(self, *arguments):
        return self._redis.hmget(*arguments)


def written(redis, keys):
    return {owner.decode(): orjson.loads(raw) for owner, raw in redis.hgetall(keys.node("node")).items()}


def test_figures_are_dated_by_redis(redis, keys, write):
    assert write("node:1:2:a", IDLE, NOW_S) == 1
    assert written(redis, keys) == {"node:1:2:a": IDLE | {"time": NOW_S, "next_s": IDLE_SECONDS + 3.0} | LENGTH}
    write("node:1:2:a", {**IDLE, "carrying": 1}, NOW_S + 1)
    assert written(redis, keys)["node:1:2:a"]["next_s"] == 3.0


def test_a_worker_is_named_from_the_opening_on_and_its_load_once_it_is_measured(redis, keys):
    events = Events()
    writer = Figures(keys, events, SESSION_SECONDS, node(), {"frontier": "content"})
    events.publish(SessionOpened(redis, "node:1:2:a", NOW_S))
    assert written(redis, keys)["node:1:2:a"]["frontier"] == "content"
    history = keys.node_history("node")
    assert not redis.exists(history)
    writer.latest = IDLE
    events.publish(SessionRenewed(redis, "node:1:2:a", NOW_S + 1))
    assert redis.exists(history)


def test_an_idle_worker_that_lost_a_lease_writes_at_once_what_an_empty_redis_lacks(redis, keys):
    events = Events()
    writer = Figures(keys, events, SESSION_SECONDS, node(), {})
    writer.latest = IDLE
    writer.write(redis, "node:1:2:a", NOW_S)
    redis.flushdb()
    writer.write(redis, "node:1:2:a", NOW_S + 1)
    assert written(redis, keys) == {}
    events.publish(SessionLost(0, "node:1:2:a"))
    writer.write(redis, "node:1:2:a", NOW_S + 2)
    assert written(redis, keys)["node:1:2:a"]["frontier"] == "content"


def test_a_crash_loop_takes_no_room_from_the_other_workers_of_a_node_for_long(redis, keys):
    for number in range(3):  # each wrote when it was opened, and died at once
        Figures(keys, Events(), SESSION_SECONDS, node(), {"frontier": "content"}).write(
            redis, f"node:{number}:2:a", NOW_S
        )
    writer = Figures(keys, Events(), SESSION_SECONDS, node(), {})
    writer.latest = {**IDLE, "carrying": 1}
    writer.write(redis, "node:9:2:b", NOW_S)
    assert writer._headroom.workers_here == 4
    writer.write(redis, "node:9:2:b", NOW_S + 2 * int(SESSION_SECONDS))
    assert writer._headroom.workers_here == 1
    writer.write(redis, "node:9:2:b", NOW_S + writer.kept_s + 1)
    assert list(written(redis, keys)) == ["node:9:2:b"]


def test_nodes_that_have_long_been_silent_are_forgotten(redis, keys, write):
    redis.zadd(keys.node_names, {"gone": NOW_S - node_history.KEPT_SECONDS - 1, "away": NOW_S - 3_600})
    write("node:1:2:a", IDLE, NOW_S)
    assert redis.zrange(keys.node_names, 0, -1) == [b"away", b"node"]


def test_figures_outlast_the_time_until_the_next_ones_and_a_node_that_is_gone_is_named_for_an_hour(redis, keys, write):
    for session_s in (15.0, 300.0, 3_600.0):
        owner = f"node:{session_s:g}:2:a"
        write(owner, IDLE, NOW_S, session_s)
        assert redis.ttl(keys.node("node")) > written(redis, keys)[owner]["next_s"] + session_s + 3_500


def test_an_idle_worker_writes_seldom(redis, keys, write):
    write("node:1:2:a", IDLE, NOW_S)
    before = redis.info("commandstats")["cmdstat_hset"]["calls"]
    for second in range(3, IDLE_SECONDS, 3):
        write("node:1:2:a", {**IDLE, "cpu_percent": float(second)}, NOW_S + second)
    assert redis.info("commandstats")["cmdstat_hset"]["calls"] == before
    write("node:1:2:a", IDLE, NOW_S + IDLE_SECONDS)
    assert written(redis, keys)["node:1:2:a"]["time"] == NOW_S + IDLE_SECONDS


@pytest.mark.parametrize(
    "change",
    [
        {"carrying": 3},
        {"sinks_down": ["kafka"]},
        {"redis_full": True},
        {"why_no_browser": "none"},
        {"why_no_claims": "no host answers it"},
        {"egress_down_s": 2},
    ],
)
def test_a_change_is_written_at_once(redis, keys, write, change):
    write("node:1:2:a", IDLE, NOW_S)
    write("node:1:2:a", {**IDLE, **change}, NOW_S + 3)
    found = written(redis, keys)["node:1:2:a"]
    assert found == {**IDLE, **change, "time": NOW_S + 3, "next_s": found["next_s"]} | LENGTH


def test_a_worker_that_leaves_removes_its_figures(redis, keys, write):
    write("node:1:2:a", IDLE, NOW_S)
    Figures(keys, Events(), SESSION_SECONDS, node(), {}).remove(redis, "node:1:2:a")
    assert written(redis, keys) == {}


def test_a_node_s_load_is_kept_once_a_minute_for_all_of_its_workers(redis, keys, write):
    def kept():
        read = node_history.read(_Async(redis), keys, "node", node_history.STEPS[0], last_s=NOW_S + 60, seconds=120)
        return [sample and (sample.carrying, sample.cpu_percent) for _begin, sample in asyncio.run(read)]

    write("node:1:2:a", {**IDLE, "carrying": 2}, NOW_S)
    assert kept() == [None, (2, 1.0), None]
    write("node:1:2:b", {**IDLE, "carrying": 3}, NOW_S + 1)
    write("node:1:2:a", {**IDLE, "carrying": 9}, NOW_S + 3)  # it has written one in this minute
    assert kept() == [None, (5, 1.0), None]
    write("node:1:2:b", {**IDLE, "carrying": 3}, NOW_S + 58)
    write("node:1:2:a", {**IDLE, "carrying": 1, "cpu_percent": 30.0}, NOW_S + 60)
    assert kept() == [None, (5, 1.0), (4, 30.0)]

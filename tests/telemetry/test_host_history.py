"""What the busiest hosts answered over time, in Redis."""

from __future__ import annotations

import pytest

from crawler.frontier.keys import Keys
from crawler.servers.redis import redis_sync
from crawler.telemetry import host_history
from crawler.telemetry.history import COARSE, DAY, HOUR
from crawler.telemetry.host_history import HostCounts, busiest

KEYS = Keys("hosts")
NOW_S = 1_800_000_000 // (6 * HOUR) * (6 * HOUR)  # the beginning of a step of each length
MINUTE, SIX_HOURS = COARSE


@pytest.fixture
def add(redis_settings):
    with redis_sync(redis_settings) as client:
        yield lambda now_s, **hosts: host_history.add(
            client, KEYS, now_s, {host: HostCounts(*counts) for host, counts in hosts.items()}
        )


async def test_counts_of_all_workers_add_up_over_steps_the_busiest_host_first(redis, add):
    add(NOW_S, a=(1, 100, 0), b=(2, 50, 1))
    add(NOW_S + 30, a=(3, 100, 1))
    add(NOW_S + 60, a=(5, 5_000_000_000, 0), c=(1, 1, 0))
    for step in COARSE:
        found = await host_history.read(redis, KEYS, step, last_s=NOW_S + 90, seconds=HOUR)
        assert list(found.items()) == [("a", (9, 5_000_000_200, 1)), ("b", (2, 50, 1)), ("c", (1, 1, 0))]
    late = await host_history.read(redis, KEYS, MINUTE, last_s=NOW_S + 90, seconds=0)
    assert late == {"a": (5, 5_000_000_000, 0), "c": (1, 1, 0)}


async def test_a_step_keeps_so_many_hosts_the_busiest(redis, add, monkeypatch):
    monkeypatch.setattr(host_history, "MAX_HOSTS", 2)
    add(NOW_S, a=(5, 1, 0), b=(1, 1, 0), c=(3, 1, 0))
    add(NOW_S, b=(3, 1, 0))
    add(NOW_S, d=(9, 1, 0))
    assert (await redis.get(KEYS.host_history(60, NOW_S))).count(b"\n") == 2
    found = await host_history.read(redis, KEYS, MINUTE, last_s=NOW_S, seconds=0)
    assert found == {"d": (9, 1, 0), "a": (5, 1, 0)}


async def test_a_full_step_is_as_small_as_said(redis, add):
    for some in range(0, 300, 50):
        add(NOW_S, **{f"www.host-{number}.example.org": (number, 10**9, 9) for number in range(some, some + 50)})
    steps = sum(one.kept_seconds // one.seconds for one in COARSE)
    assert await redis.strlen(KEYS.host_history(60, NOW_S)) * steps < 2_000_000


async def test_junk_is_left_out_and_mended(redis, add):
    key = KEYS.host_history(60, NOW_S)
    await redis.set(key, b"a many\nb 1 2\nc 1 2 3\n\xff 1 1 1\n\n d")
    assert await host_history.read(redis, KEYS, MINUTE, last_s=NOW_S, seconds=DAY) == {
        "c": (1, 2, 3),
        "\ufffd": (1, 1, 1),
    }
    add(NOW_S, a=(1, 1, 0))
    assert await redis.get(key) == b"a 1 1 0\nc 1 2 3\n\xff 1 1 1\n"


def test_the_busiest_come_first_and_those_alike_by_name():
    hosts = {name: HostCounts(pages, 0, 0) for name, pages in (("b", 1), ("a", 1), ("c", 3))}
    assert list(busiest(hosts, 2)) == ["c", "a"]


async def test_one_host_costs_less_and_says_the_same(redis, add):
    add(NOW_S, b=(1, 2, 3))
    add(NOW_S + 60, ab=(5, 0, 0), b=(4, 5, 6))
    period = {"last_s": NOW_S + 60, "seconds": HOUR}
    whole = await host_history.read(redis, KEYS, MINUTE, **period)
    assert whole["b"] == HostCounts(5, 7, 9)
    for host in ("b", "ab", "a", "c"):
        assert await host_history.read_one(redis, KEYS, host, MINUTE, **period) == whole.get(host)
    await redis.set(KEYS.host_history(60, NOW_S), b"b 1 2 x\n")
    assert await host_history.read_one(redis, KEYS, "b", MINUTE, **period) == HostCounts(4, 5, 6)

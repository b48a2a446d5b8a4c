"""What all workers did over time, in Redis."""

from __future__ import annotations

import pytest

from crawler.frontier.keys import Keys
from crawler.servers.redis import redis_sync
from crawler.telemetry import history
from crawler.telemetry.history import COARSE, DAY, HOUR, RESOLUTIONS

KEYS = Keys("history")
NOW_S = 1_800_000_000 // (6 * HOUR) * (6 * HOUR)  # the beginning of a step of each length
MINUTE, TEN_MINUTES, TWO_HOURS = RESOLUTIONS
SIX_HOURS = COARSE[1]


@pytest.fixture
def add(redis_settings):
    with redis_sync(redis_settings) as client:
        yield lambda now_s, **counts: history.add(client, KEYS, now_s, counts)


async def test_counts_of_all_workers_add_up_in_steps_of_each_length(redis, add):
    add(NOW_S, pages=2, items=1)
    add(NOW_S + 59, pages=3)
    add(NOW_S + 60, pages=5)
    add(NOW_S + 600, pages=7)

    async def pages(step, last_s):
        steps = await history.read(redis, KEYS, step, last_s=last_s, seconds=HOUR)
        return [(begin - NOW_S, counts["pages"]) for begin, counts in steps if counts]

    assert await pages(MINUTE, NOW_S + 700) == [(0, 5), (60, 5), (600, 7)]
    assert await pages(TEN_MINUTES, NOW_S + 700) == [(0, 10), (600, 7)]
    assert await pages(TWO_HOURS, NOW_S + 700) == [(0, 17)]


async def test_what_is_counted_by_site_stands_in_coarse_steps(redis, add):
    add(NOW_S, pages=2, **{"site:news:finished": 1})
    add(NOW_S + 2 * HOUR, **{"site:news:finished": 4})

    async def counts(step):
        steps = await history.read(redis, KEYS, step, last_s=NOW_S + 2 * HOUR, seconds=step.kept_seconds)
        return [counts for _begin, counts in steps if counts]

    assert await counts(MINUTE) == [{"pages": 2, "site:news:finished": 1}, {"site:news:finished": 4}]
    assert await counts(TEN_MINUTES) == await counts(TWO_HOURS) == [{"pages": 2}]
    assert await counts(SIX_HOURS) == [{"site:news:finished": 5}]
    assert await history.totals(redis, KEYS) == {"pages": 2, "site:news:finished": 5}


async def test_steps_without_counts_are_there_and_old_ones_are_not(redis, add):
    add(NOW_S - 200, pages=1)
    steps = await history.read(redis, KEYS, MINUTE, last_s=NOW_S + 30, seconds=180)
    assert [begin - NOW_S for begin, _counts in steps] == [-180, -120, -60, 0]
    assert all(counts == {} for _begin, counts in steps)
    assert len(await history.read(redis, KEYS, MINUTE, last_s=NOW_S, seconds=30 * DAY)) == 121  # as long as it is kept


async def test_each_step_is_dropped_in_its_time(redis, add):
    add(NOW_S, pages=1)
    for one in RESOLUTIONS:
        left_s = await redis.ttl(KEYS.history(one.seconds, NOW_S))
        assert one.kept_seconds < left_s <= one.kept_seconds + one.seconds


async def test_the_totals_add_up_and_stay(redis, add):
    add(NOW_S, pages=1)
    add(NOW_S + 40 * DAY, pages=2, items=1)
    assert await history.totals(redis, KEYS) == {"pages": 3, "items": 1}
    assert await redis.ttl(KEYS.totals) == -1


async def test_a_step_holds_so_many_names_and_no_more(redis, add, monkeypatch):
    monkeypatch.setattr(history, "MAX_NAMES", 2)
    add(NOW_S, a=1, b=1)
    add(NOW_S, b=1, c=1)
    ((_begin, counts),) = await history.read(redis, KEYS, TWO_HOURS, last_s=NOW_S, seconds=0)
    assert counts == {"a": 1, "b": 2}


async def test_junk_is_left_out(redis, add):
    add(NOW_S, pages=1)
    await redis.hset(KEYS.history(MINUTE.seconds, NOW_S), mapping={"items": "many", b"\xff": 1})
    ((_begin, counts),) = await history.read(redis, KEYS, MINUTE, last_s=NOW_S, seconds=0)
    assert counts == {"pages": 1, "\ufffd": 1}

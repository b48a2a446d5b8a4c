"""What came back in each hour, in Redis."""

from __future__ import annotations

import pytest

from crawler.frontier.keys import Keys
from crawler.servers.redis import redis_sync
from crawler.telemetry import hour_answers
from crawler.telemetry.history import HOUR
from crawler.telemetry.hour_answers import BY, NOTHING, OTHERS, AnswerCounts, busiest

KEYS = Keys("hours")
NOW_S = 1_800_000_000 // HOUR * HOUR
KEPT_S = 3 * HOUR


@pytest.fixture
def add(redis_settings):
    with redis_sync(redis_settings) as client:
        yield lambda now_s, by="host", **requests: hour_answers.add(
            client, KEYS, now_s, {by: {name: AnswerCounts(number, number) for name, number in requests.items()}}, KEPT_S
        )


async def test_what_workers_tell_adds_up_by_the_hour(redis, redis_settings, add):
    whole = AnswerCounts(12, 5, 1, 2, 1, 1, 1, 1, 5_000_000_000, 70, 900, 12_000)
    with redis_sync(redis_settings) as client:
        for second in (0, HOUR - 1):
            hour_answers.add(client, KEYS, NOW_S + second, {by: {"a": whole} for by in BY}, KEPT_S)
    add(NOW_S + HOUR, a=1)
    for by in BY:
        assert await hour_answers.read(redis, KEYS, by, NOW_S) == {"a": AnswerCounts(*(2 * number for number in whole))}
    assert await hour_answers.read(redis, KEYS, "host", NOW_S + HOUR) == {"a": AnswerCounts(1, 1)}
    assert await hour_answers.read(redis, KEYS, "host", NOW_S + 2 * HOUR) == {}
    assert KEPT_S < await redis.ttl(KEYS.hour_answers("host", NOW_S)) <= KEPT_S + HOUR
    assert whole.answers == 9


async def test_names_beyond_the_busiest_are_summed_and_nothing_is_lost(redis, add, monkeypatch):
    monkeypatch.setattr(hour_answers, "MAX_NAMES", 2)
    add(NOW_S, a=5, b=1, c=3)
    add(NOW_S, d=9, b=3)
    counts = await hour_answers.read(redis, KEYS, "host", NOW_S)
    assert {name: number.requests for name, number in counts.items()} == {"d": 9, "a": 5, OTHERS: 7}
    assert sum(counts.values(), NOTHING) == AnswerCounts(21, 21)


async def test_a_full_hour_is_as_small_as_said(redis, add):
    for some in range(0, 400, 50):
        add(NOW_S, **{f"www.host-{number}.example.org": 10_000 + number for number in range(some, some + 50)})
    assert await redis.strlen(KEYS.hour_answers("host", NOW_S)) < 25_000
    assert len(await hour_answers.read(redis, KEYS, "host", NOW_S)) == hour_answers.MAX_NAMES + 1


async def test_junk_is_left_out(redis, add, monkeypatch):
    await redis.set(KEYS.hour_answers("host", NOW_S), b"a many\nb 1 2\n\xff 1 1 0 0 0 0 0 0 0 0 0 0\n\n d")
    add(NOW_S, a=2)
    assert await hour_answers.read(redis, KEYS, "host", NOW_S) == {
        "a": AnswerCounts(2, 2),
        "\ufffd": AnswerCounts(1, 1),
    }
    monkeypatch.setattr(hour_answers, "MAX_NAMES", 1)
    add(NOW_S, a=2, b=1)
    assert await hour_answers.read(redis, KEYS, "host", NOW_S) == {"a": AnswerCounts(4, 4), OTHERS: AnswerCounts(2, 2)}


def test_the_busiest_come_first_and_the_rest_last():
    counts = {OTHERS: AnswerCounts(9), "b": AnswerCounts(1), "a": AnswerCounts(1), "c": AnswerCounts(3)}
    assert list(busiest(counts)) == ["c", "a", "b", OTHERS]
    assert busiest(counts, 2) == {"c": AnswerCounts(3), "a": AnswerCounts(1), OTHERS: AnswerCounts(10)}
    assert busiest({"a": AnswerCounts(1)}, 1) == {"a": AnswerCounts(1)}

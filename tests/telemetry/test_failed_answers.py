"""What hosts answered for pages that failed, in Redis."""

from __future__ import annotations

import zlib

import pytest

from crawler.frontier.keys import Keys
from crawler.servers.redis import redis_sync
from crawler.telemetry import failed_answers
from crawler.telemetry.failed_answers import FailedAnswer

KEYS = Keys("answers")
NOW_S = 1_800_000_000
ANSWER = FailedAnswer("http://a.test/1", 404, "Server: x", "<b>gone</b>")


@pytest.fixture
def add(redis_settings):
    with redis_sync(redis_settings) as client:
        yield lambda *fingerprints, site="news", now_s=NOW_S, bytes_max=10**6: failed_answers.add(
            client, KEYS, site, "http-404", [(one, ANSWER) for one in fingerprints], now_s=now_s, bytes_max=bytes_max
        )


async def test_an_answer_is_found_by_its_page(redis, add):
    add("aa", "bb")
    assert await failed_answers.read(redis, KEYS, "aa") == ANSWER
    assert await failed_answers.read(redis, KEYS, "cc") is None


async def test_the_latest_of_each_site_and_reason_stay(redis, add, monkeypatch):
    monkeypatch.setattr(failed_answers, "MAX_ANSWERS", 2)
    for number in range(4):
        add(f"{number:02x}", now_s=NOW_S + number)
    add("ff", site="blog")
    assert {name.decode() for name in await redis.hkeys(KEYS.failed_answers)} == {"02", "03", "ff"}
    add("fe", site="blog", bytes_max=0)
    assert not await redis.exists(KEYS.failed_answers)


async def test_junk_is_no_answer(redis):
    junk = (b"none", zlib.compress(b"{}"), zlib.compress(b'[1,2,"",""]'), zlib.compress(b"[" * 10**6))
    for number, value in enumerate(junk):
        await redis.hset(KEYS.failed_answers, f"{number:02x}", value)
        assert await failed_answers.read(redis, KEYS, f"{number:02x}") is None

"""That Redis is full is said once, not at each try."""

from __future__ import annotations

import logging

import pytest

from crawler.servers import redis_full
from crawler.servers.redis_full import RedisFull


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, "crawler.servers.redis_full")
    return lambda: [(record.levelname, record.getMessage().partition(":")[0]) for record in caplog.records]


FULL = ("WARNING", "Redis is full")
ROOM = ("INFO", "Redis has room again")


def test_it_is_said_once_until_all_goes_through_again(said):
    full = RedisFull()
    for _ in range(5):
        full.note(0, refused=True)
        full.note("offers", refused=True)
    assert said() == [FULL]
    full.note(0, refused=False)
    assert full.now
    full.note("offers", refused=False)
    assert not full.now
    assert said() == [FULL, ROOM]


def test_a_redis_that_is_full_by_turns_makes_a_line_a_minute(said, monkeypatch):
    now = [1_000.0]
    monkeypatch.setattr(redis_full.time, "monotonic", lambda: now[0])
    full = RedisFull()
    for _ in range(121):
        full.note(0, refused=True)
        full.note(0, refused=False)
        now[0] += 1
    assert said() == [FULL, ROOM] * 3

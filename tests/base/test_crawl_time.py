"""What a process writes down for others goes by Redis's clock, whatever its own says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crawler.base import crawl_time
from crawler.base.item import instant_now

REDIS_SAYS = datetime(2040, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def own_clock(monkeypatch):
    """Has nothing been heard of Redis's clock, before the test and after it."""
    monkeypatch.setattr(crawl_time, "_epoch_at_boot_s", None)


def test_a_process_that_has_not_asked_redis_has_its_own_time():
    assert abs(crawl_time.now() - datetime.now(UTC)) < timedelta(seconds=5)


def test_the_time_is_that_of_redis_once_it_was_heard():
    crawl_time.hear(int(REDIS_SAYS.timestamp() * 1000), asked=crawl_time.boottime())
    assert timedelta(0) <= crawl_time.now() - REDIS_SAYS < timedelta(seconds=5)
    assert instant_now().startswith("2040-01-02T03:04:")


def test_redis_is_taken_to_have_answered_halfway():
    crawl_time.hear(int(REDIS_SAYS.timestamp() * 1000), asked=crawl_time.boottime() - 40)
    assert timedelta(seconds=20) <= crawl_time.now() - REDIS_SAYS < timedelta(seconds=25)

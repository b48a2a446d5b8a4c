"""`scrapy doctor`: what it prints, and how it ends. `tests/doctor` has what it finds."""

from __future__ import annotations

import orjson
import pytest
from commands.answers import error_of, lines_of

from crawler.doctor.checks import NODE, REDIS


@pytest.fixture(autouse=True)
def _as_it_should_be(crawl):
    yield
    crawl.redis.config_set("maxmemory-policy", "noeviction")


def test_what_is_well_is_a_table_and_status_0(scrapy):
    lines = lines_of(scrapy("doctor"))
    assert lines[0] == "check state what was found"
    assert [line.split()[0] for line in lines[1:]] == [check.name for check in (*REDIS, *NODE)]
    assert {line.split()[1] for line in lines[1:]} <= {"ok", "better", "not-tried"}


def test_what_loses_data_or_stops_the_crawl_is_status_1_and_a_line(scrapy, crawl):
    crawl.redis.config_set("maxmemory-policy", "allkeys-lru")
    crawl.redis.hset(crawl.keys.schema, "version", "1")
    done = scrapy("doctor", "--json")
    assert done.returncode == 1
    assert done.stderr == "error: data will be lost: redis-eviction; the crawl can't run: frontier\n"
    states = {row["check"]: row["state"] for row in orjson.loads(done.stdout)["checks"]}
    assert (states["redis-eviction"], states["frontier"]) == ("loss", "stops")


@pytest.mark.faults  # it waits for seconds
def test_a_server_that_falls_silent_is_status_1_and_a_line(scrapy, crawl):
    """It answers PING and INFO, and nothing that may write."""
    crawl.redis.client_pause(30_000, all=False)
    try:
        done = scrapy("doctor", "--json")
    finally:
        crawl.redis.client_unpause()
    rows = {row["check"]: row for row in orjson.loads(done.stdout)["checks"]}
    assert (rows["redis"]["state"], rows["redis-rights"]["state"]) == ("ok", "no-answer")
    assert rows["redis-rights"]["text"] == "no answer within 4 s"
    assert done.returncode == 1
    assert done.stderr.startswith("error: no answer: redis-rights, redis-writes, ")


def test_arguments_and_wrong_settings_are_refused(scrapy):
    assert error_of(scrapy("doctor", "redis")) == "scrapy doctor takes no arguments"
    assert "FRONTIER_PARTITIONS" in error_of(scrapy("doctor", settings={"FRONTIER_PARTITIONS": "many"}))

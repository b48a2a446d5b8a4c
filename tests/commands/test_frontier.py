"""`scrapy frontier`, on a real Redis."""

from __future__ import annotations

import pytest
from commands.answers import error_of, json_of, lines_of

from crawler.frontier.keys import SCHEMA_VERSION
from crawler.frontier.migration import STEPS

OLD = min(STEPS)


async def test_there_is_nothing_to_do(scrapy, operator):
    assert lines_of(scrapy("frontier", "migrate")) == [
        f"the frontier has format {SCHEMA_VERSION}, this version's: nothing to do"
    ]
    assert json_of(scrapy("frontier", "migrate", "--json")) == {"from": SCHEMA_VERSION, "to": SCHEMA_VERSION}


@pytest.mark.parametrize("found", [str(OLD), f"{OLD}-to-{OLD + 1} 1"])
async def test_an_older_frontier_is_refused_until_it_is_migrated(scrapy, operator, found):
    await operator.redis.hset(operator.keys.schema, "version", found)
    for words in (("nodes",), ("plan", "list"), ("crawl", "consumer")):
        assert "run scrapy frontier migrate" in error_of(scrapy(*words)).replace("wait for", "run")
    done = scrapy("frontier", "migrate")
    assert done.returncode == 0
    assert done.stdout == f"the frontier has format {SCHEMA_VERSION} now: workers of this version may start\n"
    assert f"from format {OLD} to {OLD + 1}: 2 of 2 parts\n" in done.stderr
    assert scrapy("nodes").returncode == 0


async def test_it_says_why_it_can_t_begin(scrapy, operator):
    await operator.redis.hset(operator.keys.schema, "version", str(OLD))
    await operator.redis.zadd(operator.keys.partition(0).sessions, {"a-node:10:1:x": 10**15})
    assert "1 workers are alive (a-node:10:1): stop them by SIGTERM" in error_of(scrapy("frontier", "migrate"))
    assert "nothing after frontier" in error_of(scrapy("frontier"))

"""An operator of an empty Redis, for tests that bring it into a state before they run a command on it."""

from __future__ import annotations

import socket

import pytest
from scrapy.settings import Settings

from crawler.base.models import Seed
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.plans.operator import Operator

PLAN = """
name: flood
sites: [{use: demo_forum, name: board, base: "http://board.test"}]
keywords: {event: {optional: [洪水, flood]}}
pages: 2
"""


@pytest.fixture(autouse=True)
def _made_up_names(monkeypatch):
    """Has made-up names not be found at once, whatever name server this machine asks."""
    real = socket.getaddrinfo

    def look_up(host, *arguments, **options):
        if isinstance(host, str) and host.endswith((".test", ".invalid", ".example.org")):
            raise socket.gaierror(socket.EAI_NONAME, "made up")
        return real(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def content_seed(number, plan="flood", site="board"):
    return Seed(f"http://board.test/thread/{number}", plan, site, keywords=("洪水",))


@pytest.fixture
def plan_file(tmp_path):
    """A plan with 2 searches of 2 pages on one site."""
    file = tmp_path / "flood.yaml"
    file.write_text(PLAN, encoding="utf-8")
    return file


@pytest.fixture
async def operator(redis_url):
    settings = Settings()
    settings.setmodule("crawler.settings")
    settings.set("REDIS_URL", redis_url)
    settings.set("FINISHED_TIMES", "1")
    async with Operator.connect(settings, begin=True) as operator:
        yield operator


@pytest.fixture
def claim(operator):
    """Returns a function that claims seeds for an owner whose session outlives the test."""

    async def run(max_seeds=1, owner="node-1:10:1:abc", frontier="content"):
        await operator.redis.zadd(operator.keys.partition(0).sessions, {owner: 10**15})
        await operator.redis.delete(operator.keys.partition(0).turn("board.test"))
        number = await operator.redis.incr("test:claims")
        return (
            await operator.queues[frontier].claim(0, owner, f"{owner}#{number}", max_seeds=max_seeds, carrying=0)
        ).seeds

    return run


@pytest.fixture
def fail(operator, claim):
    """Returns a function that offers seeds and lets them fail for a reason."""

    async def run(reason, *seeds):
        await operator.queues["content"].offer(seeds)
        claimed = await claim(len(seeds))
        owner = claimed[0].claim.partition("#")[0]
        ends = [Settlement("fail", one, reason=reason) for one in claimed]
        turns = [TurnRelease(*turn) for turn in {(one.seed.host, one.turn) for one in claimed}]
        await operator.queues["content"].settle(0, owner, ends, turns)

    return run

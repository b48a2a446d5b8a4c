"""Plans and sites in Redis: what is written comes back, and what else lies there is refused."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from crawler import sites
from crawler.errors import FrontierError, PlanError
from crawler.frontier.keys import Keys
from crawler.plans.registry import SITES_CHANGED, PlanRecord, Registry

KEYS = Keys("t")


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def registry(redis):
    return Registry(redis, KEYS, 3)


async def test_a_changed_definition_gets_the_next_version_and_is_announced(registry, redis):
    site = sites.load("mediawiki").named("wiki", "https://a.test")
    async with redis.pubsub() as channel:
        await channel.subscribe(KEYS.wake("nav"))
        await channel.get_message(timeout=5)
        await registry.save_sites((site,))
        await registry.save_sites((site,))
        assert await registry.versions(["wiki", "none"]) == {"wiki": 1, "none": 0}
        await registry.save_sites((site.named("wiki", "https://b.test"),))
        assert await registry.versions(["wiki"]) == {"wiki": 2}
        heard = [(await channel.get_message(timeout=5))["data"] for _ in range(2)]
    assert heard == [SITES_CHANGED.encode()] * 2
    assert (await registry.site("wiki")).base == "https://b.test"


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"3", b'{"version": 1}', b'{"version": 1, "definition": {"x": 1}}'])
async def test_a_damaged_definition_is_refused_and_can_be_written_anew(registry, redis, raw):
    await redis.hset(KEYS.sites, "web", raw)
    with pytest.raises(FrontierError, match="definition of site 'web' in Redis is damaged"):
        await registry.site("web")
    await registry.save_sites((sites.load("web"),))
    assert (await registry.site("web")).name == "web"


async def test_an_unknown_one_says_what_to_do(registry):
    with pytest.raises(FrontierError, match="Redis has no definition of site 'x': submit a plan that uses it"):
        await registry.site("x")


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"\x80\x04", b'{"name": 3}', b'{"evil": 1}'])
async def test_a_damaged_plan_is_refused(registry, redis, raw):
    await redis.hset(KEYS.plans, "flood", raw)
    with pytest.raises(FrontierError, match="plan 'flood' in Redis is damaged"):
        await registry.plan("flood")


async def test_an_unknown_plan_is_told_which_are_known(registry):
    with pytest.raises(PlanError, match="no plan 'x'; submitted plans: there are none"):
        await registry.plan("x")
    await registry.save(PlanRecord("flood", {}, [], edition=1, nav_seeds=0))
    with pytest.raises(PlanError, match="no plan 'x'; submitted plans: flood"):
        await registry.plan("x")


async def test_marks_reach_every_partition(registry, redis):
    for state, marks in (("paused", {b"pause p"}), ("cancelled", {b"cancel p"}), ("active", set())):
        await registry.mark("p", state)
        assert [await redis.smembers(KEYS.partition(number).paused) for number in range(3)] == [marks] * 3

"""Plans and sites in Redis: what is written comes back, and what else lies there is refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from redis.exceptions import ResponseError
from waiting import PATIENCE_SECONDS

from crawler import sites
from crawler.base.errors import FrontierError, PlanError
from crawler.base.models import Seed
from crawler.frontier import ledger
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.queue import DAY_MILLISECONDS, Queue
from crawler.plans.plan_record import PlanRecord
from crawler.plans.registry import SITES_CHANGED, Registry

KEYS = Keys("t")
A_RECORD = PlanRecord("flood", {}, [], edition=1, nav_seeds=0)


@pytest.fixture
def registry(redis):
    return Registry(redis, KEYS, 3)


async def test_a_changed_definition_gets_the_next_version_and_is_announced(registry, redis):
    site = sites.load("mediawiki").named("wiki", "https://a.test")
    async with redis.pubsub() as channel:
        await channel.subscribe(KEYS.wake("nav"))
        await channel.get_message(timeout=PATIENCE_SECONDS)
        await registry.save_sites((site,))
        await registry.save_sites((site,))
        assert await registry.versions(["wiki", "none"]) == {"wiki": 1, "none": 0}
        await registry.save_sites((site.named("wiki", "https://b.test"),))
        assert await registry.versions(["wiki"]) == {"wiki": 2}
        heard = [(await channel.get_message(timeout=PATIENCE_SECONDS))["data"] for _ in range(2)]
    assert heard == [SITES_CHANGED.encode()] * 2
    assert (await registry.site("wiki")).base == "https://b.test"


async def test_a_full_redis_takes_a_site_with_its_politeness(registry, redis):
    site = sites.load("web")
    await redis.config_set("maxmemory", 1)
    try:
        await registry.save_sites((site,))
    finally:
        await redis.config_set("maxmemory", 0)
    for number in range(3):
        assert await redis.hexists(KEYS.partition(number).politeness, "web")


async def test_no_site_has_a_definition_before_each_partition_has_its_politeness(registry, redis):
    await redis.set(KEYS.partition(2).politeness, "junk")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await registry.save_sites((sites.load("web"),))
    assert await registry.versions(["web"]) == {"web": 0}


async def test_a_site_refused_leaves_the_politeness_of_the_stored_one(registry, redis):
    site = sites.load("web")
    await registry.save_sites((site,))
    before = await redis.hget(KEYS.partition(0).politeness, "web")
    slower = site.model_copy(update={"politeness": replace(site.politeness, delay_s=77.0)})
    with pytest.raises(PlanError, match="another definition"):
        await registry.save_sites((slower,), replace=False)
    assert await redis.hget(KEYS.partition(0).politeness, "web") == before
    await registry.save_sites((slower,))
    assert (await redis.hget(KEYS.partition(0).politeness, "web")).startswith(b"77000 ")


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
    with pytest.raises(PlanError, match="no plan 'x'; submitted plans: none"):
        await registry.plan("x")
    await registry.change_plan("flood", lambda _none: A_RECORD)
    with pytest.raises(PlanError, match="no plan 'x'; submitted plans: flood"):
        await registry.plan("x")


async def test_states_reach_every_partition_and_late_ones_change_nothing(registry, redis):
    first = A_RECORD.decided("active", 1)
    record = first
    for state in ("paused", "cancelled", "active"):
        record = record.decided(state, 1)
        for late in (record, first):
            await registry.tell_partitions(late)
        told = [await redis.hget(KEYS.partition(number).plan_states, "flood") for number in range(3)]
        assert told == [f"{record.version} {record.edition} {state}".encode()] * 3
    assert await registry.told_version("flood") == record.version == first.version + 3
    assert await registry.told_version("none") == 0


async def test_a_change_is_made_anew_when_somebody_else_was_first(registry):
    await registry.change_plan("flood", lambda _none: A_RECORD)
    seen = []

    def later(record):
        seen.append(record.nav_seeds)
        return replace(record, nav_seeds=record.nav_seeds + 1)

    await asyncio.gather(*(registry.change_plan("flood", later) for _ in range(5)))
    assert (await registry.plan("flood")).nav_seeds == 5
    assert len(seen) > 5


async def test_only_a_plan_that_is_as_it_was_known_is_removed(registry):
    record = await registry.change_plan("flood", lambda _none: A_RECORD)
    changed = await registry.change_plan("flood", lambda old: old.decided("paused", 5))
    assert not await registry.replace_plan(record, None)
    assert await registry.replace_plan(changed, None)
    assert not await registry.replace_plan(changed, None)
    assert await registry.plans() == {}


async def test_a_deleted_plan_s_offers_are_refused_until_it_is_submitted_anew_or_long_ago(registry, redis):
    queue = Queue(redis, FrontierConfig(KEYS, partitions=3), "content")
    record = A_RECORD.decided("active", await registry.now_ms())
    await registry.tell_partitions(record, deleted=True)
    assert await queue.offer([Seed("http://a.test/", "flood", "web")]) == [False]
    assert await ledger.read(redis, KEYS, 3) == {}
    await registry.tell_partitions(record.decided("active", 0))
    assert await queue.offer([Seed("http://a.test/", "flood", "web")]) == [True]
    for name, age_ms in (("lately", 1_000), ("long-ago", 8 * DAY_MILLISECONDS), ("now", 0)):
        deleted = replace(A_RECORD, name=name).decided("active", await registry.now_ms() - age_ms)
        await registry.tell_partitions(deleted, deleted=True)
    assert await redis.hkeys(KEYS.partition(0).plan_states) == [b"flood", b"lately", b"now"]

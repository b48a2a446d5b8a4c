"""What operators do to seeds: each action leaves a frontier that reconciles, and can be done twice."""

from __future__ import annotations

import pytest
from frontier.driver import content

from crawler.frontier.seed_admin import SeedAdmin


@pytest.fixture
def admin(frontier):
    return SeedAdmin(frontier.queues["content"])


async def found(admin, state=None):
    return {one.seed.url.rpartition("/")[2]: (one.state, one.reason) async for one in admin.seeds(state)}


async def test_seeds_are_found_by_state(frontier, admin):
    await frontier.fail(content(1))
    await frontier.offer(content(2))
    await frontier.claim()
    await frontier.offer(content(3))
    everything = {"1": ("failed", "http-404"), "2": ("executing", ""), "3": ("ready", "")}
    assert await found(admin) == everything
    for state in ("ready", "executing", "failed"):
        assert await found(admin, state) == {name: value for name, value in everything.items() if value[0] == state}


async def test_many_seeds_are_all_found(frontier, admin):
    seeds = [content(number) for number in range(2_500)]
    await frontier.offer(*seeds)
    assert len(await found(admin, "ready")) == 2_500


async def test_what_is_no_seed_is_passed_over(frontier, admin, redis):
    await frontier.offer(content(1))
    await redis.hset(frontier.key("seed"), b"x" * 16, b"\x80pickle")
    assert await found(admin) == {"1": ("ready", "")}


async def test_retry_makes_wanted_failures_ready(frontier, admin):
    await frontier.fail(content(1))
    await frontier.fail(content(2), reason="robots")
    assert await admin.retry(lambda one: one.reason == "robots") == 1
    assert await found(admin) == {"1": ("failed", "http-404"), "2": ("ready", "")}
    account = await frontier.account()
    assert (account.ready, account.failed, account.failures) == (1, 1, {"http-404": 1})
    assert len((await frontier.claim()).seeds) == 1


async def test_forget_removes_the_ledger_and_the_failures_only_when_all_is_over(frontier, admin):
    await frontier.fail(*(content(number) for number in range(700)))
    await frontier.offer(content("late"))
    assert not await admin.forget("p", "s")
    assert (await frontier.account()).offered == 701
    await frontier.finish("A", (await frontier.claim()).seeds)
    assert await admin.forget("p", "s")
    assert await admin.forget("p", "s")
    assert await found(admin) == {}
    with pytest.raises(KeyError):
        await frontier.account()
    assert await frontier.problems() == []
    assert await frontier.offer(content(1), content("late")) == [True, False]

"""What operators do to seeds: each action leaves a frontier that reconciles, and can be done twice."""

from __future__ import annotations

import pytest
from frontier.driver import content, nav

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


async def test_cancel_fails_what_nobody_holds(frontier, admin):
    await frontier.offer(content(1), content(2, plan="other"))
    (held,) = (await frontier.claim(max_seeds=1)).seeds
    await frontier.offer(content(3))
    await frontier.mark("cancel p")
    assert await admin.set_aside("p") == 1
    assert await admin.set_aside("p") == 0
    await frontier.finish("A", [held])
    account = await frontier.account()
    assert (account.finished, account.failed, account.failures) == (1, 1, {"cancelled": 1})
    assert (await frontier.account("other")).ready == 1
    assert await frontier.problems() == []


async def test_resume_brings_parked_seeds_back(frontier, admin):
    await frontier.offer(*(content(number) for number in range(3)))
    await frontier.mark("pause p")
    assert (await frontier.claim()).seeds == []
    await frontier.mark()
    assert await admin.resume("p") == 3
    assert await admin.resume("p") == 0
    assert len((await frontier.claim()).seeds) == 3
    assert await frontier.problems() == []


async def get_into(frontier, state):
    """Brings seed 1 into a state; returns what is then held."""
    if state == "failed":
        await frontier.fail(content(1))
        return []
    await frontier.offer(content(1))
    if state == "parked":
        await frontier.mark("pause p")
        await frontier.claim()
        await frontier.mark()
    if state == "quarantined":
        await frontier.crash("C")
        await frontier.crash("D")
        assert (await frontier.claim("A", carrying=1)).state == "drain"
    return (await frontier.claim()).seeds if state == "executing" else []


@pytest.mark.parametrize("state", ["ready", "parked", "quarantined", "executing", "failed"])
async def test_drop_ends_a_seed_in_any_state_and_it_may_be_offered_again(frontier, admin, redis, state):
    held = await get_into(frontier, state)
    await frontier.offer(content(2, "b.test", plan="q"))

    assert await admin.drop("p", lambda _one: True, "replaced") == 1
    assert await admin.drop("p", lambda _one: True, "replaced") == 0
    account = await frontier.account()
    assert account.failures == {"http-404" if state == "failed" else "replaced": 1}
    assert (account.ready, account.executing, account.failed, account.difference) == (0, 0, 1, 0)
    assert await frontier.problems() == []
    assert not await redis.hexists(frontier.key("crashes"), content(1).fingerprint)
    if held:  # its holder's word counts no more
        assert await frontier.finish("A", held) == (0, 1)
    assert await frontier.offer(content(1), content(2, "b.test", plan="q")) == [True, False]
    assert await frontier.problems() == []


async def test_drop_ends_a_schedule(frontier, redis):
    question = nav(1, interval_s=60)
    await frontier.offer(question)
    claimed = (await frontier.claim(frontier="nav")).seeds
    await frontier.finish("A", claimed, frontier="nav")
    assert (await frontier.totals("nav")).waiting == 1
    assert await SeedAdmin(frontier.queues["nav"]).drop("p", lambda _one: True, "replaced") == 1
    totals = await frontier.totals("nav")
    assert (totals.ready, totals.waiting, totals.failed) == (0, 0, 1)
    assert not await redis.exists(frontier.key("scheduled", "nav"))


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


async def test_failed_seeds_of_a_cancelled_plan_are_not_retried(frontier, admin):
    await frontier.fail(content(1), content(2, plan="q"))
    await frontier.mark("cancel p")
    assert await admin.retry(lambda _found: True) == 1
    account = await frontier.account()
    assert (account.ready, account.failures) == (0, {"http-404": 1})
    assert await frontier.problems() == []

"""A claim ends once, by the word of who holds it, and the ledger counts how."""

from __future__ import annotations

import pytest
from frontier.driver import FrontierDriver, content, ends, nav, turns

HOUR_MS = 3_600_000


async def claimed(frontier, *seeds, **options):
    await frontier.offer(*seeds)
    return (await frontier.claim(frontier=seeds[0].frontier, **options)).seeds


async def test_finished_seeds_leave_only_their_fingerprint(frontier):
    seeds = await claimed(frontier, content(1), content(2))
    assert await frontier.finish("A", seeds) == (2, 0)
    account = await frontier.account()
    assert (account.finished, account.executing, account.ready, account.difference) == (2, 0, 0, 0)
    assert await frontier.problems() == []
    for name in ("seed", "claims", "execute", "held:A", "tries", "reasons", "crashes"):
        assert not await frontier.redis.exists(frontier.key(name))


@pytest.mark.parametrize("operation", ["finish", "retry", "fail", "release"])
async def test_an_old_claim_ends_nothing(frontier, operation):
    old = await claimed(frontier, content(1))
    await frontier.lapse("A")
    assert len((await frontier.claim("B")).seeds) == 1
    before = await frontier.redis.hgetall(frontier.keys.partition(0).ledger("p", "s"))
    assert await frontier.settle("A", ends(old, operation, reason="late")) == (0, 1)
    assert await frontier.settle("B", ends(old, operation, reason="late")) == (0, 1)
    assert await frontier.redis.hgetall(frontier.keys.partition(0).ledger("p", "s")) == before
    assert await frontier.redis.hget(frontier.key("counts"), "refused") == b"2"
    assert await frontier.redis.scard(frontier.key("held:B")) == 1
    assert await frontier.problems() == []


async def test_settling_twice_counts_once(frontier):
    seeds = await claimed(frontier, content(1))
    assert await frontier.settle("A", ends(seeds) + ends(seeds, "fail", reason="x")) == (1, 1)
    assert await frontier.settle("A", ends(seeds)) == (0, 1)
    account = await frontier.account()
    assert (account.finished, account.failed, account.executing) == (1, 0, 0)


async def test_a_retry_waits_and_counts_a_try(frontier):
    seeds = await claimed(frontier, content(1))
    await frontier.settle("A", ends(seeds, "retry", 30_000, "http-503"), turns(seeds))
    answer = await frontier.claim()
    assert answer.seeds == []
    assert 29_000 < answer.wait_ms <= 30_000
    await frontier.make_due(content(1))
    assert (await frontier.claim()).seeds[0].tries == 1
    assert (await frontier.account()).notes == {"retried": 1}


async def test_after_the_last_try_it_fails_with_the_last_reason(redis):
    frontier = FrontierDriver(redis, max_attempts=3)
    await frontier.polite()
    await frontier.session("A")
    seeds = await claimed(frontier, content(1))
    for reason in ("http-500", "timeout", "http-503"):
        await frontier.settle("A", ends(seeds, "retry", 0, reason), turns(seeds))
        seeds = (await frontier.claim()).seeds
    assert seeds == []
    account = await frontier.account()
    assert (account.failed, account.failures, account.difference) == (1, {"http-503": 1}, 0)
    assert await frontier.redis.hget(frontier.key("reasons"), content(1).fingerprint) == b"http-503"
    assert await frontier.problems() == []


async def test_a_released_seed_keeps_its_place(frontier):
    now = await frontier.now_ms()
    await frontier.offer(content(1), due_ms=now - 2_000)
    await frontier.offer(content(2), due_ms=now - 1_000)
    seeds = (await frontier.claim(max_seeds=1)).seeds
    await frontier.settle("A", ends(seeds, "release"), turns(seeds))
    assert (await frontier.claim(max_seeds=1)).seeds[0].seed == content(1)


async def test_failures_are_forgotten_after_their_days_but_stay_counted(frontier):
    seeds = await claimed(frontier, content(1))
    await frontier.settle("A", ends(seeds, "fail", reason="http-404"), turns(seeds))
    fingerprint = content(1).fingerprint
    month_ms = 30 * 24 * HOUR_MS
    await frontier.redis.zadd(frontier.key("fail"), {fingerprint: await frontier.now_ms() - month_ms + 60_000})
    await frontier.settle("A", [])
    assert await frontier.offer(content(1)) == [False]
    await frontier.redis.zadd(frontier.key("fail"), {fingerprint: await frontier.now_ms() - month_ms - 1})
    await frontier.settle("A", [])
    account = await frontier.account()
    assert (account.failed, account.failures, account.difference) == (1, {"http-404": 1}, 0)
    assert await frontier.offer(content(1)) == [True]
    assert await frontier.problems() == []


# -- Scheduled seeds --------------------------------------------------------------------------------------------------


async def test_a_scheduled_seed_comes_due_again_an_interval_after_it_was_due(frontier):
    seed = nav(1, interval_s=3_600)
    due_ms = await frontier.now_ms() - 10_000
    await frontier.offer(seed, due_ms=due_ms)
    seeds = (await frontier.claim(frontier="nav")).seeds
    await frontier.finish("A", seeds, frontier="nav")
    assert await frontier.score("ready:a.test", seed.fingerprint, "nav") == due_ms + HOUR_MS
    account = await frontier.account(frontier="nav")
    assert (account.ready, account.finished, account.notes["visits"], account.difference) == (1, 0, 1, 0)


async def test_a_scheduled_seed_that_is_late_comes_due_now(frontier):
    seed = nav(1, interval_s=60)
    now = await frontier.now_ms()
    await frontier.offer(seed, due_ms=now - 2 * HOUR_MS)
    seeds = (await frontier.claim(frontier="nav")).seeds
    await frontier.finish("A", seeds, frontier="nav")
    assert await frontier.score("ready:a.test", seed.fingerprint, "nav") >= now


async def test_waiting_counts_re_runs_and_nothing_else(frontier):
    """`ready` without `waiting` is what STOP_WHEN_DONE goes by."""
    seed = nav(1, interval_s=3_600)

    async def counts():
        totals = await frontier.totals("nav")
        assert await frontier.problems() == []
        return totals.ready, totals.waiting, totals.executing, totals.parked

    async def again(owner="A", **options):
        await frontier.make_due(seed)
        return (await frontier.claim(owner, frontier="nav", **options)).seeds

    async def settle(owner, seeds, *how):
        await frontier.settle(owner, ends(seeds, *how), turns(seeds), frontier="nav")

    await frontier.offer(seed)
    assert await counts() == (1, 0, 0, 0)
    await settle("A", await again(), "retry", 0, "timeout")
    assert await counts() == (1, 0, 0, 0)  # its first run isn't done yet
    seeds = await again()
    assert await counts() == (0, 0, 1, 0)
    await settle("A", seeds)
    assert await counts() == (0, 1, 0, 0)
    await settle("A", await again(), "release")
    assert await counts() == (0, 1, 0, 0)
    await settle("A", await again(), "retry", 0, "timeout")
    assert await counts() == (0, 1, 0, 0)
    await frontier.mark("pause p")
    assert await again() == []
    assert await counts() == (0, 0, 0, 1)
    await frontier.mark()
    await frontier.resume("p", "nav")
    assert await counts() == (0, 1, 0, 0)
    await again()
    await frontier.lapse("A")
    alone = (await frontier.claim("B", frontier="nav")).seeds
    assert await counts() == (0, 0, 1, 0)
    await settle("B", alone, "release")
    assert await counts() == (0, 1, 0, 0)


async def test_a_forgotten_re_run_that_is_offered_again_starts_afresh(frontier):
    seed = nav(1, interval_s=3_600)
    await frontier.finish("A", await claimed(frontier, seed), frontier="nav")
    await frontier.mark("cancel p")
    await frontier.make_due(seed)
    await frontier.claim(frontier="nav")
    await frontier.redis.zadd(frontier.key("fail", "nav"), {seed.fingerprint: 1})
    await frontier.settle("A", [], frontier="nav")
    await frontier.mark()
    seeds = await claimed(frontier, seed)
    assert len(seeds) == 1
    totals = await frontier.totals("nav")
    assert (totals.ready, totals.waiting) == (0, 0)


@pytest.mark.parametrize(("operation", "counted"), [("finish", "visits"), ("fail", "missed"), ("retry", "retried")])
async def test_a_seed_of_a_cancelled_plan_does_not_come_back_later(frontier, operation, counted):
    await frontier.offer(nav(1, interval_s=3_600))
    held = (await frontier.claim(frontier="nav")).seeds
    await frontier.mark("cancel p")
    await frontier.settle("A", ends(held, operation, 60_000, "x" if operation != "finish" else ""), turns(held), "nav")
    account = await frontier.account(frontier="nav")
    assert (account.ready, account.failures, account.notes[counted]) == (0, {"cancelled": 1}, 1)
    assert (await frontier.totals("nav")).waiting == 0
    assert await frontier.problems() == []

"""A seed that several plans want is crawled once, and belongs to each of them until it is finished for it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from frontier.driver import content, ends, turns

from crawler.frontier.seed_admin import SeedAdmin
from crawler.frontier.seed_info import seed_info

P, Q, R = (content(1, plan=plan, keywords=(plan,)) for plan in "pqr")


@pytest.fixture
def admin(frontier):
    return SeedAdmin(frontier.queues["content"])


@pytest.fixture
def accounts_are(frontier):
    """A function that holds the accounts of plans against what is expected, and the ledger against a recount."""

    async def check(**expected):
        for plan, counts in expected.items():
            account = await frontier.account(plan)
            found = {name: getattr(account, name) for name in ("offered", "known", "ready", "executing", "finished")}
            assert {name: number for name, number in found.items() if number} | account.failures == counts, plan
            assert account.difference == 0
        assert await frontier.problems() == []

    return check


async def finish(frontier, claimed, *, tellable=True):
    settlements = [replace(one, tellable=tellable) for one in ends(claimed)]
    return await frontier.settle("A", settlements, turns(claimed))


async def claim(frontier, *plans):
    """Claims the one seed there is, and expects it to be for these plans, in their order."""
    (claimed,) = (await frontier.claim()).seeds
    assert [seed.plan for seed in claimed.seeds] == list(plans)
    assert [seed.keywords for seed in claimed.seeds] == [(plan,) for plan in plans]
    return [claimed]


def found_by(*words, plan="p"):
    return content(1, plan=plan, keywords=words)


# -- Combinations -----------------------------------------------------------------------------------------------------


async def combinations(frontier):
    """Claims the one seed there is; returns plan -> the combinations that it was found by."""
    (claimed,) = (await frontier.claim()).seeds
    return {seed.plan: seed.combinations for seed in claimed.seeds}


async def test_a_seed_is_given_with_all_combinations_that_found_it(frontier, accounts_are):
    assert await frontier.offer(found_by("a", "b")) == [True]
    for words in (("b",), ("a", "b"), ('"]\t[,', "\\"), ("b",)):
        assert await frontier.offer(found_by(*words)) == [False]
    await accounts_are(p={"offered": 5, "known": 4, "ready": 1})
    assert await combinations(frontier) == {"p": [["a", "b"], ["b"], ['"]\t[,', "\\"]]}


async def test_each_plan_has_combinations_of_its_own(frontier, admin):
    offered = [found_by("a"), found_by("b", plan="q"), found_by("c", plan="q"), found_by("d"), found_by("e", plan="r")]
    for seed in offered:
        await frontier.offer(seed)
    assert await combinations(frontier) == {"p": [["a"], ["d"]], "q": [["b"], ["c"]], "r": [["e"]]}
    await frontier.lapse("A")
    await frontier.session("B")
    await admin.drop("p", lambda _found: True, "replaced")
    answer = await frontier.claim("B")
    assert [seed.combinations for one in answer.seeds for seed in one.seeds] == [[["b"], ["c"]], [["e"]]]


async def test_combinations_are_bounded_in_number_and_bytes(frontier, redis):
    await frontier.offer(*(found_by(str(number)) for number in range(60)))
    (claimed,) = (await frontier.claim()).seeds
    assert claimed.seed.combinations == [[str(number)] for number in range(50)]
    long = [replace(content(2), keywords=(str(number) * 200,)) for number in range(10, 40)]
    await frontier.offer(*long)
    value = await redis.hget(frontier.key("seed"), long[0].fingerprint)
    assert 3_600 < len(value) <= 4_096


async def test_seeds_of_the_version_before_keep_further_combinations_too(frontier, redis):
    """Its JSON has no tabs. It names the words of such a seed itself, which are then named twice."""
    seed = found_by("a")
    await frontier.offer(seed)
    await redis.hset(frontier.key("seed"), seed.fingerprint, seed.dump().replace(b"\t", b""))
    for words in "bac":
        await frontier.offer(found_by(words))
    assert await combinations(frontier) == {"p": [["a"], ["b"], ["c"]]}


# -- Unfinished seeds -------------------------------------------------------------------------------------------------


async def test_it_is_crawled_once_for_all_plans(frontier, accounts_are):
    assert await frontier.offer(P) == [True]
    assert await frontier.offer(Q) == [True]
    assert await frontier.offer(Q, P) == [False, False]
    await accounts_are(p={"offered": 2, "known": 1, "ready": 1}, q={"offered": 2, "known": 1, "ready": 1})
    claimed = await claim(frontier, "p", "q")
    await accounts_are(p={"offered": 2, "known": 1, "executing": 1}, q={"offered": 2, "known": 1, "executing": 1})
    assert await finish(frontier, claimed) == (1, 0)
    await accounts_are(p={"offered": 2, "known": 1, "finished": 1}, q={"offered": 2, "known": 1, "finished": 1})
    assert await frontier.offer(P, Q) == [False, False]
    assert not [key async for key in frontier.redis.scan_iter("*:wanted:*")]


# -- Stopped plans ----------------------------------------------------------------------------------------------------


async def test_a_seed_is_called_stopped_when_all_its_plans_are(frontier):
    await frontier.offer(P, Q)
    await frontier.mark("pause p")
    assert "is paused" not in (await seed_info(frontier.queues["content"], P)).why
    await frontier.mark("pause p", "cancel q")
    assert (await seed_info(frontier.queues["content"], P)).why.startswith("plan p is paused; plan q is cancelled; due")


# -- Finished pages ---------------------------------------------------------------------------------------------------


async def test_a_later_plan_is_told_without_a_fetch_nor_a_turn(frontier, redis, accounts_are):
    await frontier.polite(delay_ms=60_000)
    await frontier.offer(P)
    await finish(frontier, await claim(frontier, "p"))
    assert await frontier.offer(Q) == [True]
    assert (await seed_info(frontier.queues["content"], Q)).why.startswith("delivered before; q will be told")
    claimed = await claim(frontier, "q")  # though the host's turn isn't free for a minute
    assert claimed[0].delivered
    assert claimed[0].turn == 0
    assert not [key async for key in redis.scan_iter("*:turns:*")]
    assert await frontier.settle("A", ends(claimed, "retry", 0, "x")) == (1, 0)  # what is told of may be told of later
    claimed = await claim(frontier, "q")
    assert await finish(frontier, claimed) == (1, 0)
    await accounts_are(p={"offered": 1, "finished": 1}, q={"offered": 1, "finished": 1})
    assert await frontier.offer(P, Q, R) == [False, False, True]
    assert (await claim(frontier, "r"))[0].delivered


async def test_many_to_be_told_hold_up_no_page(frontier):
    pages = [content(number) for number in range(60)]
    await frontier.offer(*pages)
    while claimed := (await frontier.claim()).seeds:
        await finish(frontier, claimed)
    await frontier.offer(*(replace(page, plan="q") for page in pages))
    await frontier.offer(content(1, "b.test"))
    claimed = (await frontier.claim(max_seeds=20)).seeds
    assert sum(one.delivered for one in claimed) < len(claimed)


async def test_a_damaged_line_costs_its_plan_the_keywords_alone(frontier, redis, accounts_are):
    await frontier.offer(P, Q)
    await redis.hset(frontier.key("also"), P.fingerprint, b"q {not json")
    (claimed,) = (await frontier.claim()).seeds
    assert claimed.also == (replace(Q, keywords=()),)
    await finish(frontier, [claimed])
    await accounts_are(q={"offered": 1, "finished": 1})


@pytest.mark.parametrize("waits_in", ["ready:a.test", "quarantine"])
async def test_a_damaged_seed_of_several_plans_stops_no_claim_nor_command(frontier, redis, admin, waits_in):
    await frontier.offer(P, Q)
    await redis.hset(frontier.key("seed"), P.fingerprint, b"junk")
    await redis.zrem(frontier.key("ready:a.test"), P.fingerprint)
    await redis.zadd(frontier.key(waits_in), {P.fingerprint: 1})
    await frontier.mark("cancel q")
    assert await admin.set_aside("q") == 0
    assert (await frontier.claim()).seeds == []
    assert await redis.hget(frontier.key("reasons"), P.fingerprint) == b"damaged"


# -- What claims do for stopped plans is bounded ----------------------------------------------------------------------


@pytest.mark.parametrize("what", ["pause", "cancel"])
async def test_one_claim_sets_few_seeds_aside_and_says_to_come_back(frontier, what):
    await frontier.polite(burst=500)
    for start in range(0, 3_000, 500):
        await frontier.offer(*(content(number, f"{number % 3}.test") for number in range(start, start + 500)))
    await frontier.mark(f"{what} p")
    before = 0
    while before < 3_000:
        answer = await frontier.claim(max_seeds=100)
        totals = await frontier.totals()
        after = totals.parked + totals.failed
        assert 0 < after - before < 600
        assert answer.seeds == []
        assert answer.wait_ms == (0 if after < 3_000 else None)
        before = after
    assert await frontier.problems() == []

"""A seed that may kill workers is suspected after one crash, quarantined after two, and fails after three more."""

from __future__ import annotations

import pytest
from frontier.driver import content, ends, nav, turns


async def crash_twice(frontier, ended_ms=1):
    """Quarantines all that is ready."""
    await frontier.crash("C")
    return await frontier.crash("D", ended_ms)


async def test_after_one_crash_seeds_are_only_suspected(frontier):
    """A worker killed at random held hundreds of seeds: they must not run one by one for that."""
    await frontier.polite(burst=500)
    await frontier.offer(*(content(number) for number in range(150)))
    assert len((await frontier.crash("C")).seeds) == 100
    answer = await frontier.claim("A", 500, carrying=1)
    assert (answer.state, len(answer.seeds)) == ("ok", 150)
    assert not any(claimed.quarantined for claimed in answer.seeds)
    assert await frontier.redis.zcard(frontier.key("suspects")) == 0
    await frontier.finish("A", answer.seeds)
    assert not await frontier.redis.exists(frontier.key("crashes"))
    assert await frontier.problems() == []


async def test_a_second_crash_quarantines_only_what_was_suspected(frontier):
    await frontier.offer(content(1))
    await frontier.crash("C")
    await frontier.offer(content(2))
    assert len((await frontier.crash("D")).seeds) == 2
    assert (await frontier.claim("A", carrying=1)).state == "drain"
    assert await frontier.redis.zrange(frontier.key("suspects"), 0, -1) == [content(1).fingerprint]


async def test_what_was_not_begun_stays_suspected(frontier):
    """A worker holds hundreds and fetches some tens: only those can have killed it."""
    await frontier.offer(*(content(number) for number in range(5)))
    await frontier.crash("C")
    await frontier.session("D")
    seeds = (await frontier.claim("D")).seeds
    assert all(claimed.suspected for claimed in seeds)
    await frontier.begin(seeds[2:3])
    await frontier.lapse("D")
    await frontier.claim("A", carrying=1)
    assert await frontier.redis.zrange(frontier.key("suspects"), 0, -1) == [seeds[2].fingerprint]


async def test_whose_session_lapsed_begins_nothing(frontier):
    await frontier.offer(content(1))
    await frontier.crash("C")
    await frontier.session("D")
    late = (await frontier.claim("D")).seeds
    await frontier.lapse("D")
    assert len((await frontier.claim("A")).seeds) == 1
    await frontier.begin(late)
    await frontier.lapse("A")
    assert (await frontier.claim("B")).state == "ok"


@pytest.mark.parametrize("operation", ["finish", "fail", "retry"])
async def test_a_worker_that_survives_a_seed_ends_the_suspicion(frontier, operation):
    question = nav(1, interval_s=60)
    await frontier.offer(question)
    for owner in ("C", "D"):
        await frontier.session(owner)
        await frontier.make_due(question)
        seeds = (await frontier.claim(owner, frontier="nav")).seeds
        assert [claimed.quarantined for claimed in seeds] == [False]
        await frontier.lapse(owner)
        if owner == "C":
            seeds = (await frontier.claim("A", frontier="nav")).seeds
            await frontier.settle("A", ends(seeds, operation, 0, "x"), turns(seeds), frontier="nav")
    seeds = (await frontier.claim("A", frontier="nav")).seeds
    assert [claimed.quarantined for claimed in seeds] == [False]
    assert await frontier.problems() == []


async def test_a_suspected_seed_that_is_released_stays_suspected(frontier):
    await frontier.offer(content(1))
    await frontier.crash("C")
    seeds = (await frontier.claim("A")).seeds
    await frontier.settle("A", ends(seeds, "release"), turns(seeds))
    await frontier.crash("D")
    assert (await frontier.claim("A")).state == "quarantined"


async def test_quarantined_seeds_are_claimed_one_by_one_by_who_carries_nothing(frontier):
    await frontier.offer(content(1), content(2))
    await crash_twice(frontier)
    await frontier.offer(content(3, "b.test"))
    assert (await frontier.claim("A", carrying=5)).state == "drain"
    other = await frontier.claim("B", carrying=5)  # A drains already: B goes on
    assert (other.state, [claimed.seed for claimed in other.seeds]) == ("ok", [content(3, "b.test")])
    for _ in range(2):
        answer = await frontier.claim("A", carrying=0)
        assert (answer.state, len(answer.seeds), answer.seeds[0].quarantined) == ("quarantined", 1, True)
        await frontier.finish("A", answer.seeds)
    assert (await frontier.claim("A")).state == "ok"
    assert (await frontier.totals()).finished == 2


async def test_three_crashes_in_quarantine_fail_the_seed_and_none_that_was_beside_it(frontier):
    poison = content(0)
    pages = [content(number) for number in range(5)]
    await frontier.offer(*pages)
    for owner in ("first", "second"):
        assert len((await frontier.crash(owner)).seeds) == 5
    finished, crashes, owner = set(), 0, "C1"
    await frontier.session(owner)
    while (answer := await frontier.claim(owner)).seeds:
        assert answer.state == "quarantined"
        if answer.seeds[0].seed == poison:
            crashes += 1
            await frontier.lapse(owner)
            owner = f"C{crashes + 1}"
            await frontier.session(owner)
        else:
            finished.add(answer.seeds[0].seed)
            await frontier.finish(owner, answer.seeds)
    account = await frontier.account()
    assert crashes == 3
    assert account.failures == {"crashed-worker": 1}
    assert finished == set(pages[1:])
    assert (account.finished, account.difference) == (4, 0)
    assert await frontier.problems() == []


async def test_releasing_a_quarantined_seed_is_no_crash_and_ends_no_quarantine(frontier):
    await frontier.offer(content(1))
    await crash_twice(frontier)
    for _ in range(5):
        answer = await frontier.claim("A")
        assert answer.state == "quarantined"
        await frontier.settle("A", ends(answer.seeds, "release"), turns(answer.seeds))
    assert (await frontier.account()).failed == 0


async def test_a_seed_that_its_worker_survived_leaves_the_quarantine(frontier):
    await frontier.offer(content(1))
    await crash_twice(frontier)
    answer = await frontier.claim("A")
    await frontier.settle("A", ends(answer.seeds, "retry", 0, "timeout"), turns(answer.seeds))
    answer = await frontier.claim("A", carrying=3)
    assert (answer.state, answer.seeds[0].quarantined, answer.seeds[0].tries) == ("ok", False, 1)


async def test_a_quarantined_seed_without_a_free_turn_holds_up_nobody(frontier):
    await frontier.polite(delay_ms=10_000)
    await frontier.offer(content(1))
    await crash_twice(frontier, ended_ms=await frontier.now_ms() - 1)
    await frontier.offer(content(2, "b.test"), content(3, "b.test"))
    await frontier.offer(content(4))
    answer = await frontier.claim("A")  # a.test waits for its delay
    assert (answer.state, {claimed.seed.host for claimed in answer.seeds}) == ("ok", {"b.test"})
    assert answer.wait_ms <= 1_000


async def test_who_drains_and_dies_lets_another_one_try(frontier):
    await frontier.offer(content(1))
    await crash_twice(frontier)
    assert (await frontier.claim("A", carrying=1)).state == "drain"
    await frontier.lapse("A")
    assert (await frontier.claim("B")).state == "quarantined"


async def test_quarantined_seeds_of_stopped_plans_don_t_run(frontier):
    await frontier.offer(content(1, plan="paused"), content(2, plan="cancelled"))
    await crash_twice(frontier)
    await frontier.mark("pause paused", "cancel cancelled")
    assert (await frontier.claim("A")).seeds == []
    assert (await frontier.account("paused")).ready == 1
    assert (await frontier.account("cancelled")).failures == {"cancelled": 1}
    await frontier.mark()
    await frontier.resume("paused")
    assert (await frontier.claim("A")).state == "quarantined"
    assert await frontier.problems() == []

"""A seed that may kill workers is suspected after one crash, quarantined after two, and fails after three more."""

from __future__ import annotations

from dataclasses import replace

from frontier.driver import content, turns

from crawler.frontier.settlement import Settlement


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
    assert await frontier.redis.zcard(frontier.key("quarantine")) == 0
    await frontier.finish("A", answer.seeds)
    assert not await frontier.redis.exists(frontier.key("crashes"))
    assert await frontier.problems() == []


async def test_quarantined_seeds_are_claimed_one_by_one_by_who_carries_nothing(frontier):
    await frontier.offer(content(1), content(2))
    await crash_twice(frontier)
    await frontier.offer(content(3, "b.test"))
    assert (await frontier.claim("A", carrying=5)).state == "laden"
    other = await frontier.claim("B", carrying=5)  # it is A's already: B goes on
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


async def test_a_page_that_another_has_named_is_given_once_more_to_be_failed(frontier):
    """By a worker: that has the other one crawled again, which lies in another partition."""
    await frontier.offer(replace(content(1), named_by="http://b.test/naming"))
    for owner in ("first", "second", "C1", "C2", "C3"):
        assert [claimed.hopeless for claimed in (await frontier.crash(owner)).seeds] == [False]
    for owner in ("C4", "A"):  # that one, too, may die, by another page's fault
        answer = await frontier.claim(owner) if owner == "A" else await frontier.crash(owner)
        assert (answer.state, [claimed.hopeless for claimed in answer.seeds]) == ("quarantined", [True])
    ends = [Settlement("fail", claimed, reason="crashed-worker") for claimed in answer.seeds]
    await frontier.settle("A", ends, turns(answer.seeds))
    assert (await frontier.account()).failures == {"crashed-worker": 1}
    assert await frontier.problems() == []


async def test_a_quarantined_seed_without_a_free_turn_holds_up_nobody(frontier):
    await frontier.polite(delay_ms=10_000)
    await frontier.offer(content(1))
    await crash_twice(frontier, ended_ms=await frontier.now_ms() - 1)
    await frontier.offer(content(2, "b.test"), content(3, "b.test"))
    await frontier.offer(content(4))
    answer = await frontier.claim("A")  # a.test waits for its delay
    assert (answer.state, {claimed.seed.host for claimed in answer.seeds}) == ("ok", {"b.test"})
    assert answer.wait_ms <= 1_000

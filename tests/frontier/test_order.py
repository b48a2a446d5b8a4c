"""What of a host comes first: by priority, by depth, by age; and nothing waits for ever for what comes before it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from frontier.driver import content, ends, nav, turns
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier.seed_admin import SeedAdmin

SHARE, ROUND = 10, 180  # as in claim.lua: after how many seeds another priority has a turn, and after how many each has
LOW, HIGH = 0, 9


def numbers(seeds):
    return [int(claimed.seed.url.rpartition("/")[2]) for claimed in seeds]


async def claimed_next(frontier, max_seeds=1):
    """Claims seeds, and finishes them at once so that the next may be claimed; returns them."""
    seeds = (await frontier.claim(max_seeds=max_seeds)).seeds
    await frontier.finish("A", seeds)
    return seeds


async def test_priority_comes_first_then_depth_then_age(frontier):
    now = await frontier.now_ms()
    for number, (priority, depth, age_ms) in enumerate(
        [(9, 7, 1), (9, 49, 3), (9, 400, 2), (5, 0, 2), (5, 0, 1), (5, 1, 50), (5, 2, 60), (4, 0, 70), (0, 9, 80)]
    ):
        await frontier.offer(content(number, priority=priority, depth=depth), due_ms=now - age_ms)
    assert numbers((await frontier.claim()).seeds) == list(range(9))


async def test_of_searches_likewise(frontier):
    await frontier.offer(nav(1, priority=4), nav(2), nav(3, priority=6))
    assert numbers((await frontier.claim(frontier="nav")).seeds) == [3, 2, 1]


async def test_a_seed_is_claimed_with_the_time_since_when_it_is_due(frontier):
    now = await frontier.now_ms()
    await frontier.offer(content(1, priority=8, depth=3), due_ms=now - 1_000)
    (claimed,) = (await frontier.claim()).seeds
    assert (claimed.due_ms, claimed.seed.priority, claimed.seed.depth) == (now - 1_000, 8, 3)


async def test_what_is_due_later_waits_whatever_its_priority(frontier):
    await frontier.offer(content(1, priority=HIGH), due_ms=await frontier.now_ms() + 60_000)
    await frontier.offer(content(2, priority=LOW))
    assert numbers((await frontier.claim()).seeds) == [2]


async def test_what_was_to_be_retried_has_its_place_among_the_others_once_it_is_due(frontier):
    await frontier.offer(content(1, priority=HIGH))
    claimed = (await frontier.claim()).seeds
    await frontier.settle("A", ends(claimed, "retry", 60_000, "timeout"), turns(claimed))
    await frontier.offer(content(2), content(3, priority=LOW), content(4, priority=HIGH, depth=1))
    due_ms = await frontier.score("ready:a.test", claimed[0].fingerprint)
    assert due_ms > await frontier.now_ms() + 50_000
    await frontier.redis.zadd(frontier.key("ready:a.test"), {claimed[0].fingerprint: due_ms - 60_000})  # time passes
    assert numbers((await frontier.claim()).seeds) == [1, 4, 2, 3]


async def test_seeds_that_an_earlier_version_has_offered_keep_their_age(frontier):
    """Its scores are times, of those seeds too that are due, and its JSON doesn't begin with the depth."""
    await frontier.offer(content(1), content(2), content(3, priority=6), content(4, priority=4))
    now = await frontier.now_ms()
    old = {content(1).fingerprint: now - 1_000, content(2).fingerprint: now - 2_000}
    await frontier.redis.zadd(frontier.key("ready:a.test"), old)
    assert numbers((await frontier.claim()).seeds) == [3, 2, 1, 4]


async def test_what_is_handed_back_untried_keeps_its_place(frontier):
    now = await frontier.now_ms()
    for number in range(4):
        await frontier.offer(content(number, priority=7), due_ms=now - 1_000 + number)
    claimed = (await frontier.claim(max_seeds=2)).seeds
    await frontier.offer(content(9, priority=7), content(8, priority=8))
    await frontier.settle("A", ends(claimed[1:], "release"), turns(claimed))
    await frontier.settle("A", ends(claimed[:1], "release"))
    assert numbers((await frontier.claim()).seeds) == [8, 0, 1, 2, 3, 9]


async def test_what_a_dead_worker_held_comes_by_its_priority(frontier):
    await frontier.offer(content(1, priority=8), content(2, priority=7))
    assert numbers((await frontier.crash("A")).seeds) == [1, 2]
    await frontier.offer(content(3), content(4, priority=HIGH))
    assert numbers((await frontier.claim("B")).seeds) == [4, 1, 2, 3]


async def test_what_a_lost_answer_gave_comes_by_its_priority(frontier, losing):
    await frontier.offer(content(1, priority=8), content(2, priority=7))
    losing.add("claim")
    with pytest.raises(RedisConnectionError):
        await frontier.claim()
    losing.clear()
    await frontier.offer(content(3), content(4, priority=HIGH))
    assert numbers((await frontier.claim()).seeds) == [4, 1, 2, 3]


async def test_a_paused_plans_seeds_keep_their_order(frontier):
    await frontier.offer(content(1, priority=LOW), content(2, priority=HIGH), content(3))
    await frontier.mark("pause p")
    assert (await frontier.claim()).seeds == []
    await frontier.mark()
    await frontier.resume("p")
    assert numbers((await frontier.claim()).seeds) == [2, 3, 1]


async def test_a_page_of_two_plans_comes_as_soon_as_one_of_them_asks_for(frontier):
    await frontier.offer(content(1, priority=4), content(2, priority=4), content(3, priority=6))
    await frontier.offer(content(2, priority=8, plan="q"), content(3, priority=3, plan="q"))
    await frontier.offer(content(1, priority=HIGH))  # its own plan has said what it is worth
    claimed = (await frontier.claim()).seeds
    assert numbers(claimed) == [2, 3, 1]
    await frontier.settle("A", ends(claimed, "retry", 0, "timeout"), turns(claimed))
    assert numbers((await frontier.claim()).seeds) == [2, 3, 1]


async def test_a_plan_s_priority_changes_while_it_runs(frontier):
    now = await frontier.now_ms()
    seeds = [content(1), content(2, depth=2), content(3, priority=8), *(content(n, plan="q") for n in (4, 5, 6))]
    for age_ms, seed in enumerate(reversed(seeds)):
        await frontier.offer(seed, due_ms=now - age_ms)
    await frontier.offer(content(5), content(3, plan="q", depth=1))
    await frontier.offer(content(7), due_ms=now + 60_000)
    (held,) = (await frontier.claim(max_seeds=1)).seeds
    assert await SeedAdmin(frontier.queues["content"]).prioritize("p", 4) == 5
    await frontier.settle("A", ends([held], "release"), turns([held]))
    assert numbers((await frontier.claim()).seeds) == [4, 5, 6, 3, 1, 2]  # 5 and 3 are q's, too
    assert await frontier.problems() == []


async def test_what_needs_no_fetch_is_told_in_the_order_of_time(frontier):
    await frontier.offer(content(1), content(2))
    claimed = (await frontier.claim()).seeds
    told = [replace(end, tellable=True) for end in ends(claimed)]
    await frontier.settle("A", told, turns(claimed))
    now = await frontier.now_ms()
    await frontier.offer(content(2, plan="q", priority=LOW), due_ms=now - 2_000)
    await frontier.offer(content(1, plan="q", priority=HIGH), due_ms=now - 1_000)
    told = (await frontier.claim()).seeds
    assert [claimed.delivered for claimed in told] == [True, True]
    assert numbers(told) == [2, 1]


async def test_a_host_queues_by_the_time_and_not_by_its_seeds_places(frontier):
    before_ms = await frontier.now_ms()
    await frontier.offer(content(1, "a.test", priority=HIGH))
    await frontier.offer(content(1, "b.test", priority=LOW))
    (first,) = (await frontier.claim(max_seeds=1)).seeds
    assert first.seed.host == "a.test"
    await frontier.settle("A", ends([first], "release"), turns([first]))
    places = dict(await frontier.redis.zrange(frontier.key("hosts"), 0, -1, withscores=True))
    assert before_ms <= places[b"b.test"] <= places[b"a.test"] <= await frontier.now_ms()


async def test_depth_is_kept_to_whatever_comes(frontier):
    """Within a priority nothing is passed over: it is a page of the next depth after all that are less deep."""
    await frontier.polite(burst=1)
    await frontier.offer(*(content(number, depth=1) for number in range(5)))
    for number in range(100, 160):
        await frontier.offer(content(number))
        (claimed,) = await claimed_next(frontier)
        assert claimed.seed.depth == 0


async def test_searches_and_pages_have_turns_of_their_own(frontier):
    """Nine pages and one search in turn: else it would be the search that is of another priority, each time."""
    await frontier.polite(burst=SHARE)
    await frontier.offer(content(1, priority=LOW), *(content(100 + n, priority=HIGH) for n in range(120)))
    await frontier.offer(nav(1, priority=LOW), *(nav(100 + n, priority=HIGH) for n in range(30)))
    given = defaultdict(list)
    for _ in range(SHARE):
        for which, number in (("content", SHARE - 1), ("nav", 1)):
            seeds = (await frontier.claim(max_seeds=number, frontier=which)).seeds
            await frontier.finish("A", seeds, frontier=which)
            given[which] += [claimed.seed.priority for claimed in seeds]
    assert given["content"].index(LOW) < 2 * SHARE
    assert given["nav"].index(LOW) < SHARE


@pytest.mark.parametrize("burst", [1, 7, 10])
async def test_the_lowest_priority_has_a_turn_in_time_however_much_comes_before_it(frontier, burst):
    await frontier.polite(burst=burst)
    await frontier.offer(*(content(number, priority=LOW) for number in range(3)))
    await frontier.offer(*(content(10 + number, priority=HIGH) for number in range(2 * burst)))
    given, next_number = [], 100
    while len(given) < 6 * SHARE + burst:
        seeds = await claimed_next(frontier, burst)
        given += [claimed.seed.priority for claimed in seeds]
        await frontier.offer(*(content(next_number + number, priority=HIGH) for number in range(burst)))
        next_number += burst
    places = [place for place, priority in enumerate(given) if priority == LOW]
    assert len(places) == 3
    assert all(place < 2 * SHARE * (n + 1) for n, place in enumerate(places))


async def test_all_priorities_of_many_hosts_have_turns_in_time(frontier):
    """20,000 seeds of 200 hosts, all priorities alike, and as many new ones of the highest as are claimed."""
    hosts, each = [f"h{number}.test" for number in range(200)], range(10)
    for host in hosts:
        await frontier.offer(*(content(10 * priority + n, host, priority=priority) for priority in each for n in each))
    given, number = defaultdict(list), 1_000
    while min(len(given[host]) for host in hosts) < ROUND + SHARE:
        seeds = await claimed_next(frontier, 500)
        for claimed in seeds:
            given[claimed.seed.host].append(claimed.seed.priority)
        number += 1
        new = enumerate(claimed.seed.host for claimed in seeds)
        await frontier.offer(*(content(1_000 * number + n, host, priority=HIGH) for n, host in new))
    for host in hosts:
        first = [given[host].index(priority) for priority in each]
        lowest = [place for place, priority in enumerate(given[host]) if priority == LOW]
        assert max(first) < ROUND + SHARE
        assert all(place < 2 * SHARE * (n + 1) for n, place in enumerate(lowest[: len(each)]))
        assert sum(priority == HIGH for priority in given[host]) >= 0.85 * len(given[host])


async def test_what_a_scorer_finds_to_be_worth_more_comes_sooner(frontier):
    first = [content(1, priority=4, why="1,0"), content(2), content(3, priority=3, why="1,0", keywords=("a",))]
    await frontier.offer(*first)
    better = content(3, priority=8, depth=1, why="90,100", keywords=("b",))
    assert not any(await frontier.offer(better, content(1, priority=2, why="0,0")))
    claimed = (await frontier.claim()).seeds
    assert numbers(claimed) == [3, 2, 1]
    assert (claimed[0].seed.why, claimed[0].seed.priority, claimed[2].seed.why) == ("90,100", 8, "1,0")
    assert claimed[0].seed.combinations == [["b"], ["a"]]
    await frontier.settle("A", ends(claimed, "retry", 0, "timeout"), turns(claimed))
    assert numbers((await frontier.claim()).seeds) == [3, 2, 1]


async def test_a_page_takes_the_smallest_depth_that_its_plan_finds_it_at(frontier):
    """Whatever its scorer says of a longer way; each plan counts its own."""
    await frontier.offer(content(1, depth=4), content(2, depth=3), content(2, depth=2, plan="q", priority=4))
    assert not any(await frontier.offer(content(1, depth=2), content(2, depth=7), content(2, plan="q", priority=1)))
    await frontier.offer(content(1, depth=6, priority=6, why="9,9"), content(3, depth=2))
    claimed = (await frontier.claim()).seeds
    assert numbers(claimed) == [1, 3, 2]
    assert [[seed.depth for seed in one.seeds] for one in claimed] == [[2], [2], [3, 0]]
    assert [seed.priority for seed in claimed[2].seeds] == [5, 4]


async def test_a_page_that_several_pages_of_a_call_lead_to_comes_by_the_best_of_them(frontier):
    await frontier.offer(content(2), *(content(1, priority=each, why=f"{each}") for each in (3, 8, 7)))
    claimed = (await frontier.claim()).seeds
    assert (numbers(claimed), claimed[0].seed.why) == ([1, 2], "8")

"""The partition's clock goes on where Redis's is set back: what waits doesn't wait for the step."""

from __future__ import annotations

import pytest
from frontier.driver import LONG_MS, PATIENCE_SECONDS, content, ends, turns

from crawler.base.events import Events
from crawler.frontier import clock
from crawler.robots.shared import ASKING_MILLISECONDS, SharedRobots

MINUTE_MS, DAY_MS = 60_000, 86_400_000
DELAY_MS = 400
LOCK_MS = 2_000  # of a queue, where nothing else is said
SLACK_MS = 2_000  # a busy machine's


async def at(frontier):
    return await clock.now_ms(frontier.redis, frontier.keys.partition(0))


@pytest.mark.parametrize("back_ms", [MINUTE_MS, 400 * DAY_MS])
async def test_nothing_waits_for_a_clock_that_was_set_back(frontier, redis_clock, back_ms):
    """A host's next start, a backoff, a seed to be tried again, a delivered page's: all are due as before."""
    await frontier.polite(delay_ms=DELAY_MS)
    waiting = [content(1), content(2, "b.test"), content(3, "c.test")]
    await frontier.offer(*waiting, content(4, "d.test"))
    delayed, backing_off, retried, last = (await frontier.claim()).seeds
    await frontier.settle("A", ends([delayed], "release"), turns([delayed], since_start_ms=0))
    await frontier.settle("A", ends([backing_off], "release"), turns([backing_off], 0, backoff_ms=2 * DELAY_MS))
    await frontier.settle("A", ends([retried], "retry", 2 * DELAY_MS), turns([retried], since_start_ms=0))
    await frontier.settle("A", ends([last]), turns([last], since_start_ms=0))
    await frontier.session("B", what="renew")
    redis_clock(-back_ms)
    await frontier.session("B", what="renew")
    answer = await frontier.claim("B")
    assert len(answer.seeds) < len(waiting)
    assert answer.seeds or answer.wait_ms <= DELAY_MS
    found = {one.seed.url for one in answer.seeds}
    until = await at(frontier) + PATIENCE_SECONDS * 1_000
    while len(found) < len(waiting) and await at(frontier) < until:
        found |= {one.seed.url for one in (await frontier.claim("B")).seeds}
    assert found == {seed.url for seed in waiting}
    assert await frontier.problems() == []


async def test_the_dead_lapse_when_they_would_have(frontier, redis_clock):
    await frontier.offer(content(1))
    await frontier.claim("A")
    redis_clock(LONG_MS * 2 // 5)
    await frontier.session("B", what="renew")
    redis_clock(LONG_MS * 2 // 5 - 60 * MINUTE_MS)
    await frontier.session("B", what="renew")
    redis_clock(LONG_MS * 4 // 5 - 60 * MINUTE_MS)
    await frontier.session("B", what="renew")
    assert (await frontier.claim("B")).seeds == []
    redis_clock(LONG_MS * 11 // 10 - 60 * MINUTE_MS)
    await frontier.session("B", what="renew")
    assert len((await frontier.claim("B")).seeds) == 1
    assert (await frontier.account()).notes == {"reclaimed": 1}


async def test_it_stands_still_until_the_next_renewal_and_agrees_with_redis_again_in_time(frontier, redis_clock):
    begun = await at(frontier)
    redis_clock(-MINUTE_MS)
    assert begun - SLACK_MS <= await at(frontier) <= begun
    assert begun - SLACK_MS <= await at(frontier) <= begun, "it stands still"
    await frontier.session("A", what="renew")
    redis_clock(0)  # a minute later
    minute_later = await at(frontier)
    assert minute_later == pytest.approx(begun + MINUTE_MS * 99 / 100, abs=SLACK_MS)
    redis_clock(98 * MINUTE_MS)
    assert await at(frontier) == pytest.approx(begun + 98 * MINUTE_MS + MINUTE_MS / 100, abs=SLACK_MS)
    redis_clock(200 * MINUTE_MS)
    assert await at(frontier) == pytest.approx(await frontier.now_ms() + 200 * MINUTE_MS, abs=SLACK_MS)


@pytest.mark.parametrize(
    "junk", ["", "x", "1 2", "9007199254740993 60000 0", f"{10**400} 1 1", f"1 60000 {10**15}", "-1 -1 -1"]
)
async def test_junk_in_its_place_doesn_t_set_it(frontier, junk):
    await frontier.redis.set(f"{frontier.keys.partition(0).stem}:renewed", junk)
    assert await at(frontier) == pytest.approx(await frontier.now_ms(), abs=SLACK_MS)
    await frontier.offer(content(1))
    await frontier.session("A", what="renew")
    assert len((await frontier.claim()).seeds) == 1


# -- What Redis itself lets expire, as it is after its clock was set back by a minute ----------------------------------


async def test_a_dead_claimant_s_lock_ends_in_time(frontier):
    await frontier.redis.set(frontier.key("lock"), "another", px=MINUTE_MS)
    answer = await frontier.claim()
    assert answer.state == "locked"
    assert answer.wait_ms <= LOCK_MS


async def test_freed_turns_are_announced_again_in_time(frontier):
    await frontier.redis.set(frontier.key("wake_pause"), 1, px=MINUTE_MS)
    await frontier.offer(content(1), content(2))
    seeds = (await frontier.claim(max_seeds=1)).seeds
    await frontier.finish("A", seeds)
    await frontier.settle("A", ends(seeds, "retry"))
    assert await frontier.redis.pttl(frontier.key("wake_pause")) <= SLACK_MS


async def test_who_asked_for_robots_txt_and_died_is_waited_for_as_long_as_ever(frontier):
    authority = "http://a.test"
    asked = frontier.keys.partition(0).robots_asked(authority)
    await frontier.redis.set(asked, "another", px=MINUTE_MS)
    assert not await SharedRobots(frontier.redis, frontier.keys, 1, Events()).start_asking(authority, "A")
    assert await frontier.redis.pttl(asked) <= ASKING_MILLISECONDS

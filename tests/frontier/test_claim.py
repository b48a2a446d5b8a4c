"""A claim takes what is due, oldest first, within lock, session, turns and politeness; its answer may get lost."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace

import pytest
from frontier.driver import LONG_MS, content, ends, turns
from redis.exceptions import ResponseError


def urls(seeds):
    return [claimed.seed.url for claimed in seeds]


async def test_the_longest_waiting_host_and_its_oldest_seed_come_first(frontier):
    now = await frontier.now_ms()
    await frontier.offer(content(1, "late.test"), due_ms=now - 1_000)
    await frontier.offer(content(2, "early.test"), due_ms=now - 2_000)
    await frontier.offer(content(3, "early.test"), due_ms=now - 3_000)
    answer = await frontier.claim()
    assert urls(answer.seeds) == ["http://early.test/3", "http://early.test/2", "http://late.test/1"]
    first = answer.seeds[0]
    assert (first.due_ms, first.tries, first.partition, first.quarantined) == (now - 3_000, 0, 0, False)
    assert first.fingerprint == content(3, "early.test").fingerprint


async def test_free_turns_share_the_seeds_up_to_burst_each(frontier):
    await frontier.polite(concurrency=3, burst=2)
    now = await frontier.now_ms()
    for number in range(10):
        await frontier.offer(content(number), due_ms=now - 1_000 + number)
    seeds = (await frontier.claim()).seeds
    assert [claimed.seed.url[-1] for claimed in seeds] == list("012345")
    tokens = [claimed.turn for claimed in seeds]
    assert len(set(tokens)) == 3
    assert tokens[:3] == tokens[3:]  # oldest first on all turns at once
    assert (await frontier.claim("B")).seeds == []


async def test_the_lock_keeps_a_second_claimant_off_and_dies_with_its_holder(frontier):
    await frontier.offer(content(1))
    await frontier.redis.set(frontier.key("lock"), "another", px=150)
    answer = await frontier.claim()
    assert (answer.state, answer.seeds) == ("locked", [])
    assert 0 <= answer.wait_ms <= 150

    async def free():
        return (await frontier.claim()).seeds

    assert len(await frontier.until(free)) == 1
    assert not await frontier.redis.exists(frontier.key("lock"))


async def test_many_claimants_at_once_share_without_overlap(frontier):
    await frontier.polite(burst=2)
    seeds = [content(number, f"h{number % 50}.test") for number in range(100)]
    await frontier.offer(*seeds)

    async def claimant(owner):
        taken = []
        await frontier.session(owner)
        while (answer := await frontier.claim(owner, 8)).seeds or answer.state == "locked":
            taken += urls(answer.seeds)
        return taken

    taken = await asyncio.gather(*(claimant(f"owner{number}") for number in range(8)))
    assert sorted(itertools.chain(*taken)) == sorted(seed.url for seed in seeds)


async def test_a_stale_head_is_repaired(frontier):
    later = await frontier.now_ms() + 20_000
    await frontier.offer(content(1), due_ms=later)
    await frontier.redis.zadd(frontier.key("hosts"), {"a.test": 1, "gone.test": 1})
    answer = await frontier.claim()
    assert answer.seeds == []
    assert answer.wait_ms > 19_000
    assert await frontier.redis.zrange(frontier.key("hosts"), 0, -1, withscores=True) == [(b"a.test", later)]


async def test_stale_heads_don_t_hide_a_host_that_is_due(frontier):
    await frontier.redis.zadd(frontier.key("hosts"), {f"stale{number}.test": 1 for number in range(400)})
    await frontier.offer(content(1))
    assert len((await frontier.claim(max_seeds=10)).seeds) == 1


async def test_a_host_that_waits_for_its_robots_txt_doesn_t_hold_all_up(frontier):
    await frontier.polite(concurrency=4)
    await frontier.offer(*(content(number) for number in range(1_200)))
    answer = await frontier.claim(max_seeds=1)
    await frontier.queues["content"].hold_for_robots("a.test", 500)
    await frontier.settle("A", ends(answer.seeds, "release"), turns(answer.seeds))
    assert len((await frontier.claim(max_seeds=100)).seeds) == 500


async def test_what_a_claim_reclaims_it_doesn_t_give_in_the_same_call(frontier):
    await frontier.offer(*(content(number, f"h{number}.test") for number in range(700)))
    await frontier.claim("A")
    await frontier.lapse("A")
    answer = await frontier.claim("B", 500)
    assert (len(answer.seeds), answer.wait_ms) == (300, 0)
    assert len((await frontier.claim("B", 500)).seeds) == 400


async def test_while_others_execute_the_next_look_is_at_their_deadline(frontier):
    await frontier.session("A", LONG_MS)
    await frontier.offer(content(1))
    await frontier.claim("A")
    assert LONG_MS / 2 < (await frontier.claim("B")).wait_ms <= LONG_MS + 100


async def test_a_damaged_seed_fails_and_harms_nobody(frontier):
    good, bad, alone = content(1), content(2), content(3, "b.test")
    await frontier.offer(good, bad, alone)
    await frontier.redis.hset(frontier.key("seed"), bad.fingerprint, b"a.test p s 0 {broken")
    await frontier.redis.hset(frontier.key("seed"), alone.fingerprint, b'b.test p s 0 {"u":"http://elsewhere.test/"}')
    assert urls((await frontier.claim()).seeds) == [good.url]
    assert (await frontier.account()).failures == {"damaged": 2}
    assert await frontier.problems() == []
    await frontier.offer(content(4, "b.test"))
    assert urls((await frontier.claim()).seeds) == ["http://b.test/4"]  # its turn came back


@pytest.mark.parametrize("url", ["x", "http://[", "ftp://a.test/"])
async def test_a_seed_without_a_url_that_can_be_asked_for_is_damaged(frontier, url):
    good, bad = content(1), replace(content(2), url=url)
    await frontier.offer(good)
    await frontier.redis.hset(frontier.key("seed"), bad.fingerprint, b'a.test p s 0 {"u":"%b"}' % url.encode())
    await frontier.redis.zadd(frontier.key("ready:a.test"), {bad.fingerprint: 1})
    assert urls((await frontier.claim()).seeds) == [good.url]
    assert await frontier.redis.hget(frontier.key("reasons"), bad.fingerprint) == b"damaged"


# -- Paused and cancelled plans ---------------------------------------------------------------------------------------


async def test_a_paused_host_does_not_hold_up_others(frontier):
    await frontier.offer(*(content(number, plan="paused") for number in range(60)))
    await frontier.offer(content(1, "b.test"))
    await frontier.mark("pause paused")
    assert urls((await frontier.claim(max_seeds=10)).seeds) == ["http://b.test/1"]
    assert (await frontier.totals()).parked == 60


# -- Answers that get lost --------------------------------------------------------------------------------------------


async def test_a_claim_that_junk_breaks_off_leaves_nothing_but_seeds(frontier):
    await frontier.offer(content(1))
    await frontier.redis.set(frontier.key("claims"), "junk")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await frontier.claim()
    assert await frontier.redis.zrange(frontier.key("execute"), 0, -1) == [content(1).fingerprint]


async def test_what_claims_write_is_no_list_that_redis_searches_from_its_head(frontier):
    """A small key would be one; 100 entries would cost three times as much."""
    await frontier.offer(*(content(number) for number in range(3)))
    claimed = (await frontier.claim()).seeds
    names = {"execute": b"skiplist", "claims": b"hashtable", "held:A": b"hashtable"}
    for name, encoding in names.items():
        assert await frontier.redis.object("ENCODING", frontier.key(name)) == encoding
    assert await frontier.problems() == []
    await frontier.finish("A", claimed)
    assert await frontier.redis.exists(*map(frontier.key, names)) == 0

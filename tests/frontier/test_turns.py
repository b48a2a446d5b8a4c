"""A host is asked by one request a turn, a delay apart, whoever asks: for nav or content seeds, or without one."""

from __future__ import annotations

import asyncio

import pytest
from frontier.driver import content, ends, nav, turns
from waiting import PATIENCE_SECONDS

from crawler.frontier.settlement import TurnRelease

FAILED = {"failures": 1}  # what one failed request says of its host


async def held(frontier, host="a.test"):
    """The host's turns as its hash has them, and as the owners' sets have them."""
    state = await frontier.redis.hgetall(frontier.keys.partition(0).turn(host))
    by_host = {value for field, value in state.items() if field.startswith(b"h")}
    by_owner = set()
    async for key in frontier.redis.scan_iter(match=f"{frontier.keys.partition(0).stem}:turns:*"):
        owner = key.rpartition(b":")[2]
        for entry in await frontier.redis.smembers(key):
            token, of_host = entry.split(b" ")
            if of_host.decode() == host:
                by_owner.add(owner + b" " + token)
    assert by_host == by_owner
    return by_host


async def messages(channel, number):
    """Returns a subscription's next messages. No offers: a cluster's nodes pass on late what was published before."""
    heard = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(heard) < number:
            message = await channel.get_message(ignore_subscribe_messages=True, timeout=None)
            heard += [message["data"]] if message and message["data"] != b"offer" else []
    return heard


async def acquire(frontier, host="a.test", owner="A"):
    return await frontier.queues["content"].acquire_turn(host, "s", owner)


async def release_turn(frontier, host, turn, owner="A", **options):
    await frontier.settle(owner, [], [TurnRelease(host, turn, **options)])


async def test_the_next_start_is_a_delay_after_the_last_also_for_others(frontier):
    await frontier.polite(delay_ms=10_000)
    await frontier.offer(content(1), content(2))
    await frontier.offer(nav(1))
    seeds = (await frontier.claim(max_seeds=1)).seeds
    assert seeds[0].delay_s == 10
    await frontier.settle("A", ends(seeds), turns(seeds, since_start_ms=4_000))
    for owner, kind in (("A", "content"), ("B", "content"), ("B", "nav")):
        answer = await frontier.claim(owner, frontier=kind)
        assert answer.seeds == []
        assert 5_000 < answer.wait_ms <= 6_000
    assert 5_000 < (await acquire(frontier)).wait_ms <= 6_000


async def test_a_turn_of_an_owner_without_a_session_blocks_nobody(frontier, redis):
    await frontier.polite(delay_ms=2_000)
    await frontier.offer(content(1))
    key = frontier.keys.partition(0).turn("a.test")
    await redis.hset(key, "h1", "ghost:1:1:abcd 1001")
    assert await frontier.problems() == ["content: 1 hosts have turns of owners without a session, such as a.test"]
    assert 1_500 < (await frontier.claim()).wait_ms <= 2_000  # it may have sent a request just before
    assert await held(frontier) == set()
    assert await frontier.problems() == []
    await redis.hset(key, "h1", "ghost:1:1:abcd 1001")
    assert 1_500 < (await acquire(frontier)).wait_ms <= 2_000


@pytest.mark.parametrize(
    ("field", "junk"), [("h1", "junk"), ("hx", "A 1001"), ("x", "junk"), ("r", "junk"), ("n1", "")]
)
async def test_junk_among_a_host_s_turns_blocks_nobody(frontier, redis, field, junk):
    await frontier.offer(content(1))
    await redis.hset(frontier.keys.partition(0).turn("a.test"), field, junk)
    assert len((await frontier.claim()).seeds) == 1


async def crawl_delay(frontier, delay_ms, claimed):
    surplus, wait_ms, _ = await frontier.queues["content"].turn_start("a.test", delay_ms, claimed.owner, claimed.turn)
    return surplus, wait_ms


async def test_without_its_crawl_delay_a_host_is_looked_at_at_once(frontier):
    await frontier.polite(concurrency=2, burst=1)
    await frontier.offer(*(content(number) for number in range(3)))
    (held,) = (await frontier.claim(max_seeds=1)).seeds
    await crawl_delay(frontier, 5_000, held)
    assert (await frontier.claim("B")).wait_ms > 10_000  # the one turn is held
    async with frontier.redis.pubsub() as channel:
        await channel.subscribe(frontier.queues["content"]._channel)
        await frontier.queues["content"].drop_crawl_delay("a.test")
        assert await messages(channel, 1) == [b"turn"]
    assert [claimed.seed for claimed in (await frontier.claim("B")).seeds] == [content(1)]


async def test_who_holds_other_turns_hears_of_a_crawl_delay_once(frontier):
    await frontier.polite(concurrency=2, burst=1)
    await frontier.offer(content(1), content(2))
    one, other = (await frontier.claim()).seeds
    async with frontier.redis.pubsub() as channel:
        await channel.subscribe(*(queue._channel for queue in frontier.queues.values()))
        for claimed in (one, other, one):
            await crawl_delay(frontier, 700, claimed)
        await crawl_delay(frontier, 900, one)
        heard = await messages(channel, 4)
    assert heard == [b"crawl-delay 700 a.test"] * 2 + [b"crawl-delay 900 a.test"] * 2


async def test_turns_beyond_a_concurrency_that_was_lowered_wait_for_those_that_count(frontier):
    await frontier.polite(delay_ms=100, concurrency=4, burst=1)
    await frontier.offer(*(content(number) for number in range(8)))
    seeds = (await frontier.claim()).seeds
    await frontier.polite(delay_ms=5_000, concurrency=2)
    queue = frontier.queues["content"]
    starts = [await queue.turn_start("a.test", 0, claimed.owner, claimed.turn) for claimed in seeds]
    assert starts == [(2, 5_000, 5_000), (2, 5_000, 5_000), (2, -1, 5_000), (2, -1, 5_000)]
    await frontier.settle("A", ends(seeds[:2], "release"), turns(seeds[:2]))
    assert await queue.turn_start("a.test", 0, "A", seeds[3].turn) == (0, 0, 5_000)
    assert (await frontier.claim("B")).seeds == []


async def test_a_host_that_has_one_turn_left_keeps_the_delay_after_the_starts_on_all_it_had(frontier):
    await frontier.polite(delay_ms=5_000, concurrency=2, burst=1)
    await frontier.offer(*(content(number) for number in range(4)))
    first, second = (await frontier.claim()).seeds
    await frontier.settle("A", ends([first, second]), turns([second], since_start_ms=1_000) + turns([first]))
    await frontier.polite(delay_ms=5_000, concurrency=1)
    assert 3_500 < (await frontier.claim("B")).wait_ms <= 4_000


async def test_a_crawl_delay_is_kept_though_nothing_is_known_of_the_host(frontier):
    assert await frontier.queues["content"].turn_start("a.test", 5_000, "A", 0) == (0, -1, 5_000)
    answer = await acquire(frontier)
    assert answer.delay_ms == 5_000
    await release_turn(frontier, "a.test", answer.token, since_start_ms=0)
    assert 4_900 < (await acquire(frontier)).wait_ms <= 5_000


async def level(frontier, host="a.test"):
    return int(await frontier.redis.hget(frontier.keys.partition(0).turn(host), "e") or 0)


async def wait_ms(frontier, host="a.test"):
    """How long the host has a backoff from now."""
    until = float(await frontier.redis.hget(frontier.keys.partition(0).turn(host), "x") or 0)
    return until - await frontier.now_ms()


async def ask(frontier, host="a.test", since_start_ms=0, **signs):
    """Acquires a turn as soon as it is free, and releases it with what its requests say of the host."""
    await frontier.redis.hdel(frontier.keys.partition(0).turn(host), "x", "n1")
    turn = (await acquire(frontier, host)).token
    assert turn > 0
    await release_turn(frontier, host, turn, since_start_ms=since_start_ms, **signs)


async def test_each_failure_doubles_the_pause_up_to_five_minutes(frontier):
    pauses = []
    for number in range(12):
        await ask(frontier, **({"failures": 1} if number % 2 else {"overloads": 1}))
        pauses.append(await wait_ms(frontier))
    assert await level(frontier) == 10
    for pause, expected in zip(pauses, (1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300), strict=True):
        assert 1_000 * expected - 500 < pause <= 1_000 * expected


async def test_a_slow_site_s_failures_count_from_its_own_delay(frontier):
    await frontier.polite(delay_ms=20_000)
    await ask(frontier, failures=1)
    assert 39_500 < await wait_ms(frontier) <= 40_000  # the delay, and as much again
    await ask(frontier, failures=1)
    assert 59_500 < await wait_ms(frontier) <= 60_000


async def test_each_answer_halves_the_level_again(frontier):
    await ask(frontier, failures=10)
    assert await level(frontier) == 10
    for expected in (5, 2, 1):
        await ask(frontier, answers=1)
        assert await level(frontier) == expected
        assert 1_000 * 2 ** (expected - 1) - 500 < await wait_ms(frontier) <= 1_000 * 2 ** (expected - 1)
    await ask(frontier, answers=1)
    assert await level(frontier) == 0
    assert await wait_ms(frontier) <= 0
    assert not await frontier.redis.hexists(frontier.keys.partition(0).turn("a.test"), "u")


async def test_failures_count_for_the_pages_own_while_the_host_answers_others(frontier):
    await ask(frontier, answers=3, failures=1)
    for _ in range(19):
        await ask(frontier, failures=1)
    assert (await level(frontier), await wait_ms(frontier) <= 0) == (0, True)
    await ask(frontier, failures=1)  # the host hasn't answered for 20 failures in a row
    assert await level(frontier) == 1
    assert 0 < await wait_ms(frontier) <= 1_000
    await ask(frontier, answers=1)
    await ask(frontier, failures=1)
    assert await level(frontier) == 0


async def test_an_overload_counts_also_while_the_host_answers(frontier):
    await ask(frontier, answers=3, overloads=1)
    assert await level(frontier) == 1
    assert 0 < await wait_ms(frontier) <= 1_000


async def test_while_a_host_fails_one_seed_at_a_time_is_given_out_in_both_frontiers(frontier):
    await frontier.polite(concurrency=8, burst=5)
    await frontier.offer(*(content(number) for number in range(30)))
    await frontier.offer(*(nav(number) for number in range(30)))
    seeds = (await frontier.claim(max_seeds=1)).seeds
    await frontier.settle("A", ends(seeds, "retry", 0, "http-500"), turns(seeds, since_start_ms=0, **FAILED))
    for kind in ("content", "nav"):
        answer = await frontier.claim("B", frontier=kind)
        assert answer.seeds == []
        assert 500 < answer.wait_ms <= 1_000
    await frontier.redis.hdel(frontier.keys.partition(0).turn("a.test"), "x")
    await frontier.redis.zadd(frontier.key("hosts", "nav"), {"a.test": 1})
    probe = (await frontier.claim("B", frontier="nav")).seeds
    assert len(probe) == 1
    assert (await frontier.claim()).seeds == []
    assert (await acquire(frontier)).state == "busy"
    await frontier.settle("B", ends(probe), turns(probe, since_start_ms=0, answers=1), frontier="nav")
    seeds = (await frontier.claim()).seeds  # it is well again
    assert len({claimed.turn for claimed in seeds}) > 1


async def test_what_was_under_way_when_the_level_rose_does_not_count(frontier):
    await frontier.polite(concurrency=3, burst=1)
    await frontier.offer(*(content(number) for number in range(9)))
    seeds = (await frontier.claim(max_seeds=3)).seeds
    await frontier.settle("A", ends(seeds[:1], "retry"), turns(seeds[:1], since_start_ms=50, **FAILED))
    await frontier.settle("A", ends(seeds[1:2], "retry"), turns(seeds[1:2], since_start_ms=60_000, **FAILED))
    await frontier.settle("A", ends(seeds[2:]), turns(seeds[2:], since_start_ms=60_000, answers=4))
    assert await level(frontier) == 1


async def test_a_pause_never_shortens_one_that_the_host_asked_for(frontier):
    turn = (await acquire(frontier)).token
    await release_turn(frontier, "a.test", turn, since_start_ms=0, backoff_ms=90_000, **FAILED)
    assert 89_000 < await wait_ms(frontier) <= 90_000
    answer = await acquire(frontier)
    assert answer.state == "backoff"
    assert answer.wait_ms == pytest.approx(await wait_ms(frontier), abs=500)


async def test_others_who_hold_turns_are_told_to_stop(frontier):
    await frontier.polite(concurrency=2)
    first = (await acquire(frontier)).token
    await acquire(frontier, owner="B")
    async with frontier.redis.pubsub() as channel:
        await channel.subscribe(frontier.keys.wake("nav"), frontier.keys.wake("content"))
        await release_turn(frontier, "a.test", first, since_start_ms=0, backoff_ms=30_000, **FAILED)
        assert await messages(channel, 2) == [b"backoff 30000 a.test"] * 2


async def test_a_host_can_be_reported_on_before_its_turn_is_released(frontier):
    await frontier.offer(content(1), content(2))
    seeds = (await frontier.claim(max_seeds=1)).seeds
    await release_turn(frontier, "a.test", 0, since_start_ms=10, **FAILED)
    assert await level(frontier) == 1
    assert len(await held(frontier)) == 1
    await frontier.settle("A", ends(seeds), turns(seeds, since_start_ms=20))
    assert (await level(frontier), await held(frontier)) == (1, set())
    assert 0 < await wait_ms(frontier) <= 1_000


async def test_nav_and_content_of_one_host_take_turns(frontier):
    """Neither starves, though the one that held the turn is always the first to know that it is free."""
    await frontier.polite(burst=3)
    await frontier.offer(*(content(number) for number in range(40)))
    await frontier.offer(*(nav(number) for number in range(40)))
    served = []
    seeds = {"content": (await frontier.claim("A")).seeds, "nav": []}
    for _ in range(8):
        assert (await frontier.claim("B", frontier="nav")).seeds == []
        await frontier.finish("A", seeds["content"])
        assert (await frontier.claim("A")).seeds == []  # it was there first, but nav has asked
        seeds["nav"] = (await frontier.claim("B", frontier="nav")).seeds
        served += ["nav"] * len(seeds["nav"])
        assert (await frontier.claim("A")).seeds == []
        await frontier.redis.zadd(frontier.key("hosts"), {"a.test": 1})  # as if it had waited for its next look
        assert (await frontier.claim("A")).seeds == []
        await frontier.finish("B", seeds["nav"], frontier="nav")
        seeds["content"] = (await frontier.claim("A")).seeds
        served += ["content"] * len(seeds["content"])
    assert served.count("nav") == served.count("content") == 24


async def test_of_several_free_turns_one_is_left(frontier):
    await frontier.polite(concurrency=4, burst=1)
    await frontier.offer(*(content(number) for number in range(9)))
    await frontier.offer(nav(1), nav(2))
    seeds = (await frontier.claim("A")).seeds
    assert (await frontier.claim("B", frontier="nav")).seeds == []
    await frontier.finish("A", seeds)
    assert len((await frontier.claim("A")).seeds) == 3
    assert len((await frontier.claim("B", frontier="nav")).seeds) == 1


async def test_a_turn_is_left_once_to_who_does_not_come(frontier):
    await frontier.polite(burst=1)
    await frontier.offer(*(content(number) for number in range(3)))
    await frontier.offer(nav(1))
    seeds = (await frontier.claim("A")).seeds
    await frontier.claim("B", frontier="nav")
    await frontier.finish("A", seeds)
    answer = await frontier.claim("A")
    assert answer.seeds == []
    assert 1_000 < answer.wait_ms <= 1_200
    await frontier.redis.zadd(frontier.key("hosts"), {"a.test": 1})
    assert len((await frontier.claim("A")).seeds) == 1


async def test_who_has_no_seed_gets_the_next_turn_of_a_busy_host(frontier):
    await frontier.polite(burst=1)
    await frontier.offer(*(content(number) for number in range(3)))
    seeds = (await frontier.claim("A")).seeds
    assert (await acquire(frontier, owner="B")).state == "busy"
    await frontier.finish("A", seeds)
    assert (await frontier.claim("A")).seeds == []
    assert (await acquire(frontier, owner="B")).state == "acquired"


async def test_yielding_calls_the_other_frontier(frontier):
    await frontier.offer(*(content(number) for number in range(20)))
    await frontier.offer(nav(1))
    seeds = (await frontier.claim("A")).seeds
    await frontier.claim("B", frontier="nav")
    async with frontier.redis.pubsub() as channel:
        await channel.subscribe(frontier.keys.wake("nav"))
        await frontier.finish("A", seeds)
        await frontier.claim("A")
        assert await messages(channel, 2) == [b"turn", b"yield"]


async def test_held_turns_never_expire_and_free_ones_do(frontier):
    turn_key = frontier.keys.partition(0).turn("a.test")
    await frontier.polite(concurrency=2, burst=1)
    await frontier.offer(content(1), content(2))
    seeds = (await frontier.claim()).seeds
    assert await frontier.redis.ttl(turn_key) == -1
    await frontier.settle("A", ends(seeds[:1]), turns(seeds[:1], since_start_ms=0))
    assert await frontier.redis.ttl(turn_key) == -1
    await frontier.settle("A", ends(seeds[1:]), turns(seeds[1:], since_start_ms=0))
    assert await frontier.redis.ttl(turn_key) > 3_600


async def test_a_damaged_politeness_is_the_default(frontier):
    await frontier.redis.hset(frontier.keys.partition(0).politeness, "s", "quick!")
    await frontier.offer(*(content(number) for number in range(20)))
    seeds = (await frontier.claim()).seeds
    assert (len(seeds), seeds[0].delay_s) == (10, 1)


@pytest.mark.alone
async def test_turns_of_a_host_are_shared_with_whoever_was_given_too_little(frontier):
    await frontier.polite(concurrency=4, burst=5)
    await frontier.offer(*(content(number) for number in range(100)))
    held_by_a = (await frontier.claim(max_seeds=20)).seeds
    assert len({claimed.turn for claimed in held_by_a}) == 4
    assert (await frontier.claim("B")).seeds == []
    for number in range(3):  # B's share is two of four: A takes its own turns again once it holds fewer than two
        of_turn = [claimed for claimed in held_by_a if claimed.turn == held_by_a[number].turn]
        await frontier.finish("A", of_turn)
        answer = await frontier.claim()
        assert len(answer.seeds) == (5 if number == 2 else 0)

    async def claimed_by_b():
        return (await frontier.claim("B", max_seeds=20)).seeds

    seeds = await frontier.until(claimed_by_b)  # in the same millisecond the host is left alone
    assert len({claimed.turn for claimed in seeds}) == 2


async def test_what_is_left_to_others_is_announced_and_asked_for_again_soon(frontier):
    await frontier.polite(concurrency=2, burst=5)
    await frontier.offer(*(content(number) for number in range(100)))
    seeds = (await frontier.claim(max_seeds=10)).seeds
    assert (await frontier.claim("B")).seeds == []
    await frontier.redis.delete(frontier.key("wake_pause"))
    async with frontier.redis.pubsub() as channel:
        await channel.subscribe(frontier.keys.wake("content"))
        await frontier.settle("A", [], turns(seeds[:1]))
        await frontier.redis.delete(frontier.key("wake_pause"))
        answer = await frontier.claim()
        assert answer.seeds == []
        assert answer.wait_ms <= 100
        assert await messages(channel, 2) == [b"turn", b"turn"]

    async def claimed_by_b():
        return (await frontier.claim("B", max_seeds=5)).seeds

    assert len(await frontier.until(claimed_by_b)) == 5  # in the same millisecond the host is left alone


async def test_nothing_is_left_to_who_has_enough_or_has_gone(frontier):
    await frontier.polite(concurrency=2, burst=5)
    await frontier.offer(*(content(number) for number in range(100)))
    seeds = (await frontier.claim(max_seeds=10)).seeds
    assert (await frontier.claim("B")).seeds == []
    await frontier.redis.zadd(frontier.key("unfilled"), {"B": 1})  # as if B had asked some time ago
    await frontier.finish("A", seeds)
    assert len((await frontier.claim(max_seeds=10)).seeds) == 10
    assert await frontier.redis.zscore(frontier.key("unfilled"), "B") is None


async def test_who_leaves_turns_of_one_host_is_given_seeds_of_another(frontier):
    await frontier.polite(concurrency=2, burst=5)
    await frontier.offer(*(content(number) for number in range(20)))
    seeds = (await frontier.claim(max_seeds=10)).seeds
    assert (await frontier.claim("B")).seeds == []
    await frontier.finish("A", [claimed for claimed in seeds if claimed.turn == seeds[0].turn])
    await frontier.offer(content(1, "b.test"))
    assert [claimed.seed.host for claimed in (await frontier.claim()).seeds] == ["b.test"]

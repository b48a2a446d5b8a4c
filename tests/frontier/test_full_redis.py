"""A Redis at maxmemory refuses claims and offers as a whole; what ends a claim or keeps the cluster sound goes on."""

from __future__ import annotations

import pytest
from frontier.driver import content, ends, nav, turns
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError

from crawler.frontier import scripts
from crawler.frontier.seed_admin import SeedAdmin
from crawler.frontier.seed_info import seed_info
from crawler.servers.redis_cluster import each_primary


@pytest.fixture
async def fill(redis):
    """Returns a function that makes Redis full; `fill(0)` gives it room again."""

    async def set_memory(most_bytes=1):
        for where in await each_primary(redis):
            await redis.config_set("maxmemory", most_bytes, **where)

    yield set_memory
    await set_memory(0)


async def keys_of(redis):
    return {key: await redis.dump(key) async for key in redis.scan_iter(count=1_000)}


async def test_offers_are_refused_and_leave_no_trace(frontier, redis, fill):
    await frontier.offer(content(1))
    before = await keys_of(redis)
    await fill()
    with pytest.raises(OutOfMemoryError):
        await frontier.offer(content(1), content(2), nav(3))
    assert await keys_of(redis) == before
    await fill(0)
    assert await frontier.offer(content(1), content(2)) == [False, True]
    assert await frontier.problems() == []


async def test_claims_are_refused_and_leave_no_trace(frontier, redis, fill):
    await frontier.offer(content(1))
    await frontier.session("C")
    await frontier.lapse("C")
    before = await keys_of(redis)
    await fill()
    answer = await frontier.claim()
    assert (answer.state, answer.wait_ms, answer.seeds) == ("full", 5_000, [])
    assert await frontier.settle("A", []) == (0, 0)  # with nothing to take back
    assert await keys_of(redis) == before
    await fill(0)
    assert len((await frontier.claim()).seeds) == 1


@pytest.mark.parametrize(
    ("operation", "state"), [("finish", "finished"), ("fail", "failed"), ("retry", "ready"), ("release", "ready")]
)
async def test_whatever_ends_a_claim_goes_on(frontier, fill, operation, state):
    await frontier.polite(burst=500)
    await frontier.offer(*(content(number) for number in range(200)))
    seeds = (await frontier.claim(max_seeds=200)).seeds
    await fill()
    assert await frontier.settle("A", ends(seeds, operation, 0, "x"), turns(seeds)) == (200, 0)
    assert getattr(await frontier.account(), state) == 200
    assert await frontier.problems() == []
    assert await frontier.session("A", what="end")  # its turns came back too


async def test_sessions_go_on(frontier, fill):
    await frontier.offer(content(1))
    seeds = (await frontier.claim("A")).seeds
    await fill()
    assert await frontier.session("A", what="renew")
    assert await frontier.session("C", what="open")
    await frontier.finish("A", seeds)
    assert await frontier.session("A", what="end")


async def test_a_claim_with_a_lost_answer_is_taken_back(frontier, losing, fill):
    await frontier.offer(content(1))
    losing.add("claim")
    with pytest.raises(RedisConnectionError):
        await frontier.claim("A")
    losing.clear()
    await fill()
    await frontier.settle("A", [])
    assert (await frontier.account()).ready == 1
    assert await frontier.problems() == []


async def test_a_held_seed_still_acquires_turns_for_its_images(frontier, fill):
    await fill()
    assert (await frontier.queues["content"].acquire_turn("img.test", "s", "A")).state == "acquired"


async def test_operators_make_room(frontier, redis, fill):
    admin = SeedAdmin(frontier.queues["content"])
    await frontier.offer(*(content(number) for number in range(30)), content("other", plan="q"))
    seeds = (await frontier.claim("A", 10)).seeds
    await frontier.mark("cancel p")
    await fill()
    assert await admin.set_aside("p") == 30 - len([one for one in seeds if one.seed.plan == "p"])
    await frontier.settle("A", ends(seeds, "release"), turns(seeds))
    assert await admin.set_aside("p") == len([one for one in seeds if one.seed.plan == "p"])
    await frontier.mark()  # a cancelled plan's seeds aren't retried
    assert await admin.retry(lambda one: one.seed == content(1)) == 1
    assert await admin.drop("p", lambda one: one.seed == content(1), "replaced") == 1
    assert await admin.forget("p", "s")
    assert (await seed_info(frontier.queues["content"], content("other", plan="q"))).state == "ready"
    assert await redis.hlen(frontier.key("seed")) == 1
    assert await frontier.problems() == []


async def test_one_command_that_a_full_redis_would_refuse(redis, fill):
    await fill()
    with pytest.raises(OutOfMemoryError):
        await redis.hset("t:plans", "p", "{}")
    await scripts.even_when_full(redis, "t:plans", "HSET", "p", "{}")
    assert await redis.hget("t:plans", "p") == b"{}"

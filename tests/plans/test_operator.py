"""What operators do to a submitted plan; each action can be done twice, and leaves a frontier that reconciles."""

from __future__ import annotations

import asyncio
import itertools
import time

import pytest
from redis.exceptions import ResponseError
from scrapy.settings import Settings
from waiting import PATIENCE_SECONDS

from crawler import plans
from crawler.base.errors import ConfigError, FrontierError, PlanError, UnavailableError
from crawler.base.models import Seed
from crawler.frontier import recount
from crawler.frontier.finished import number_of_records
from crawler.frontier.settlement import Settlement
from crawler.plans.operator import Operator
from crawler.plans.submission import submit

PLAN = """
name: flood
sites: [{use: demo_forum, name: board, base: "http://board.test"}]
keywords: {event: {optional: [洪水, flood, 停电, blackout]}}
pages: 1
"""


def settings(url, **more):
    values = Settings()
    values.setmodule("crawler.settings")
    values.setdict({"REDIS_URL": url, **more})
    return values


@pytest.fixture
async def operator(redis_url):
    async with Operator.connect(settings(redis_url), begin=True) as operator:
        yield operator


@pytest.fixture
async def submitted(operator):
    """A plan with 4 nav seeds and 3 content seeds."""
    plan = plans.parse(PLAN, "flood.yaml", max_seeds=100)
    async for _ in submit(plan, operator.registry, operator.queues):
        pass
    pages = [Seed(f"http://board.test/thread/{number}", "flood", "board") for number in range(3)]
    await operator.queues["content"].offer(pages)
    return operator


async def claim(operator, frontier="content"):
    await operator.redis.zadd(operator.keys.partition(0).sessions, {"A": 10**15})
    await operator.redis.delete(operator.keys.partition(0).turn("board.test"))
    number = await operator.redis.incr("test:claims")
    return (await operator.queues[frontier].claim(0, "A", f"A#{number}", max_seeds=1, carrying=0)).seeds


async def end(operator, held, operation="finish"):
    await operator.queues["content"].settle(0, "A", [Settlement(operation, one, reason="robots") for one in held])


async def account(operator, frontier="content"):
    return (await operator.ledger("flood"))["flood", "board"][frontier]


async def sound(operator):
    return await operator.recount() == []


async def test_a_paused_plan_is_not_claimed_until_it_is_resumed(submitted):
    for _ in range(2):
        await submitted.pause("flood")
        assert (await submitted.registry.plan("flood")).state == "paused"
        assert await claim(submitted) == await claim(submitted, "nav") == []
    parked = await submitted.resume("flood")
    assert parked == 7
    assert await submitted.resume("flood") == 0
    assert (await submitted.registry.plan("flood")).state == "active"
    assert len(await claim(submitted)) == 1
    assert await sound(submitted)


async def test_a_cancelled_plan_gives_up_what_nobody_holds(submitted):
    held = await claim(submitted)
    assert await submitted.cancel("flood") == 6
    assert await submitted.cancel("flood") == 0
    await end(submitted, held)
    content, nav = await account(submitted), await account(submitted, "nav")
    assert (content.finished, content.failures, nav.failures) == (1, {"cancelled": 2}, {"cancelled": 4})
    for action in (submitted.pause, submitted.resume):
        with pytest.raises(PlanError, match="was cancelled"):
            await action("flood")
    assert await sound(submitted)


async def test_a_plan_is_deleted_when_it_is_over(submitted):
    with pytest.raises(PlanError, match="has 7 seeds that are ready or executing; cancel it first"):
        await submitted.delete("flood")
    held = await claim(submitted)
    await submitted.cancel("flood")
    with pytest.raises(PlanError, match="has 1 seeds that are ready or executing; workers still end what they hold"):
        await submitted.delete("flood")
    await end(submitted, held)
    await submitted.delete("flood")
    assert await submitted.registry.plans() == {}
    assert await submitted.ledger() == {}
    assert [found async for found in submitted.admins["content"].seeds()] == []
    known = await submitted.queues["content"].offer([held[0].seed, Seed("http://board.test/thread/2", "p", "board")])
    assert known == [False, True]
    assert await sound(submitted)


async def test_no_search_page_of_a_deleted_plan_is_remembered_and_those_of_others_are(submitted):
    """Nobody asks for them again; content pages stay known that led nowhere."""
    other = plans.parse(PLAN.replace("name: flood", "name: other"), "other.yaml", max_seeds=100)
    async for _ in submit(other, submitted.registry, submitted.queues):
        pass
    for frontier in ("nav", "content"):
        while held := await claim(submitted, frontier):
            leads_on = held[0].seed.url.endswith("/2") or frontier == "nav"
            await submitted.queues[frontier].settle(
                0, "A", [Settlement("finish", one, tellable=not leads_on) for one in held]
            )
    keys = submitted.keys.partition(0)
    await submitted.delete("flood")
    for frontier, kept in (("nav", 4), ("content", 2)):
        buckets = await submitted.redis.hgetall(keys.of(frontier, "finish"))
        assert sum(map(number_of_records, buckets.values())) == kept
    assert (await submitted.queues["nav"].totals()).finished == 4
    assert await sound(submitted)
    await submitted.delete("other")
    assert not await submitted.redis.exists(keys.of("nav", "finish"))
    assert await sound(submitted)


async def test_a_cancelled_plan_is_deleted_though_its_worker_handed_a_page_back_and_is_gone(submitted):
    held = await claim(submitted)
    await submitted.cancel("flood")
    await end(submitted, held, "release")
    await submitted.delete("flood")
    assert await submitted.registry.plans() == {}
    assert await sound(submitted)


async def test_a_plan_is_not_deleted_while_it_is_submitted(operator):
    plan = plans.parse(PLAN, "flood.yaml", max_seeds=100)
    submission = submit(plan, operator.registry, operator.queues)
    await anext(submission)
    with pytest.raises(PlanError, match="is being submitted; cancel it first"):
        await operator.delete("flood")


async def test_sites_of_earlier_editions_are_deleted_too(submitted):
    other = plans.parse(PLAN.replace("name: board", "name: other"), "flood.yaml", max_seeds=100)
    async for _ in submit(other, submitted.registry, submitted.queues, replace=True):
        pass
    await submitted.cancel("flood")
    await submitted.delete("flood")
    assert await submitted.ledger() == {}
    assert await sound(submitted)


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "delete"])
async def test_an_unknown_plan_is_refused_by_name(operator, action):
    with pytest.raises(PlanError, match="no plan 'none'"):
        await getattr(operator, action)("none")


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "delete"])
async def test_a_plan_that_nobody_submitted_but_has_pages(operator, action):
    await operator.queues["content"].offer([Seed("http://board.test/1", "manual", "board")])
    with pytest.raises(PlanError, match="'manual' was submitted, its pages were offered one by one: they can't be"):
        await getattr(operator, action)("manual")
    assert (await operator.queues["content"].totals()).ready == 1


class TestConnect:
    async def test_without_redis_it_says_so_at_once(self):
        begun = time.monotonic()
        with pytest.raises(
            UnavailableError, match=r"^Redis at redis://127\.0\.0\.1:1/0: Error.*; is it running\? REDIS_URL names it$"
        ):
            async with Operator.connect(settings("redis://:secret@127.0.0.1:1/0")):
                pass
        assert time.monotonic() - begun < 5

    async def test_without_a_name_server_too(self):
        with pytest.raises(UnavailableError, match=r"^Redis at redis://no-such-host\.invalid: "):
            async with Operator.connect(settings("redis://no-such-host.invalid")):
                pass

    async def test_an_error_of_redis_later_is_one_too(self, redis_url):
        connection = Operator.connect(settings(redis_url))
        operator = await connection.__aenter__()
        await operator.redis.set(operator.keys.plans, "x")
        with pytest.raises(ResponseError) as caught:
            await operator.registry.plans()
        with pytest.raises(UnavailableError, match=r"^Redis at redis://.*: WRONGTYPE"):
            await connection.__aexit__(caught.type, caught.value, caught.tb)

    async def test_settings_are_checked(self, redis_url):
        with pytest.raises(ConfigError, match="setting KEY_PREFIX"):
            async with Operator.connect(settings(redis_url, KEY_PREFIX="a b")):
                pass

    async def test_other_partitions_are_refused(self, operator, redis_url):
        with pytest.raises(FrontierError, match="FRONTIER_PARTITIONS"):
            async with Operator.connect(settings(redis_url, FRONTIER_PARTITIONS=2)):
                pass


@pytest.fixture
def meanwhile(monkeypatch):
    """A function that has another one called in the middle of each recount, with the recount's number from 0."""
    add_sizes = recount._add_sizes

    def meanwhile(happens):
        numbers = itertools.count()

        async def move_and_add_sizes(*arguments):
            await happens(next(numbers))
            await add_sizes(*arguments)

        monkeypatch.setattr(recount, "_add_sizes", move_and_add_sizes)

    return meanwhile


async def test_seeds_that_move_during_each_recount_are_no_problem(submitted, meanwhile):
    async def offer(number):
        await submitted.queues["content"].offer([Seed(f"http://board.test/new/{number}", "flood", "board")])

    meanwhile(offer)
    assert await submitted.recount() == []


async def test_only_what_is_wrong_in_the_same_way_each_time_is_a_problem(submitted, meanwhile):
    """Here and there a move leaves no trace in the ledger: a seed is claimed and released again."""
    held = submitted.keys.partition(0).of("content", "held:A")

    async def hold(number):
        await submitted.redis.sadd(held, number)

    meanwhile(hold)
    assert await submitted.recount() == []
    meanwhile(lambda _: asyncio.sleep(0))
    assert await submitted.recount() == ["content: 0 in execute, 0 claims, 2 held"]


async def test_another_priority_reaches_what_waits_and_workers_that_hold_pages(submitted):
    (held,) = await claim(submitted)
    async with submitted.redis.pubsub() as heard:
        await heard.subscribe(submitted.keys.wake("content"))
        assert await submitted.prioritize("flood", 8) == 7
        told = 0
        async with asyncio.timeout(PATIENCE_SECONDS):
            while told < 2:
                message = await heard.get_message(timeout=PATIENCE_SECONDS)
                told += message["data"] == b"priority flood 8"
    await submitted.queues["content"].settle(0, "A", [Settlement("release", held)])
    again = await claim(submitted)
    assert [each.seed.priority for each in again] == [8]
    assert (await submitted.registry.plan("flood")).definition["priority"] == 8
    assert await sound(submitted)

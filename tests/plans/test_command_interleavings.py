"""Two commands on one plan at once, stopped at every write: the last to decide is obeyed, whoever dies where."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

import pytest
from redis.asyncio import Redis

from crawler import plans
from crawler.base.errors import PlanError
from crawler.base.models import Seed
from crawler.frontier import recount
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.preflight import prepare
from crawler.frontier.queue import queues_of
from crawler.frontier.seed_admin import SeedAdmin
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.plans.operator import Operator
from crawler.plans.registry import Registry
from crawler.plans.submission import submit

PARTITIONS = 2
YAML = """
name: flood
sites: [{use: demo_forum, name: board, base: "http://board.test"}]
keywords: {event: {optional: [flood]}}
pages: 2
schedule: every 1h
"""
PLAN = plans.parse(YAML, "flood.yaml", max_seeds=100)
PAGES = [Seed(f"http://h{number}.test/", "flood", "board") for number in range(3)]
KEYS = Keys("t")
WRITES = {"EVAL", "EVALSHA", "HSET", "HDEL"}


class SteppedRedis(Redis):
    """A client that stops before each of its writes while `gate` says so."""

    gate = None

    async def execute_command(self, *arguments, **options):
        if self.gate is not None and arguments[0] in WRITES:
            await self.gate()
        return await super().execute_command(*arguments, **options)


@dataclass
class Terminal:
    """An operator's connection, and what he types."""

    redis: SteppedRedis
    operator: Operator = field(init=False)

    def __post_init__(self):
        queues = queues_of(FrontierConfig(KEYS, PARTITIONS), self.redis)
        admins = {name: SeedAdmin(queue) for name, queue in queues.items()}
        registry = Registry(self.redis, KEYS, PARTITIONS)
        self.operator = Operator(self.redis, KEYS, PARTITIONS, 15.0, registry, queues, admins)

    async def type(self, command, plan=PLAN):
        """Runs a command; one that is refused changes nothing."""
        with contextlib.suppress(PlanError):
            if command in ("submit", "replace"):
                async for _ in submit(plan, self.operator.registry, self.operator.queues, replace=command == "replace"):
                    pass
            else:
                await getattr(self.operator, command)("flood")

    async def work(self):
        """Lets a worker claim all that it gets; what it holds it hands back at once."""
        for name, queue in self.operator.queues.items():
            for partition in range(PARTITIONS):
                owner = f"{name}{partition}"
                await self.redis.zadd(KEYS.partition(partition).sessions, {owner: 10**15})
                number = await self.redis.incr("test:claims")
                answer = await queue.claim(partition, owner, f"{owner}#{number}", max_seeds=100, carrying=0)
                released = [Settlement("release", one) for one in answer.seeds]
                turns = {(one.seed.host, one.turn) for one in answer.seeds}
                await queue.settle(partition, owner, released, [TurnRelease(*turn) for turn in turns])


@pytest.fixture
async def terminals(redis_url):
    async with SteppedRedis.from_url(redis_url) as one, SteppedRedis.from_url(redis_url) as two:
        yield Terminal(one), Terminal(two)


async def begin(terminal):
    """A plan that was submitted, with pages that it led to, in an empty Redis."""
    await terminal.redis.flushall()
    await prepare(terminal.redis, KEYS, PARTITIONS)
    for number in range(PARTITIONS):
        await terminal.redis.hset(KEYS.partition(number).politeness, "board", "0 8 100")
    await terminal.type("submit")
    await terminal.operator.queues["content"].offer(PAGES)


async def check(terminal, case):
    """The record, what the partitions were told, and where the seeds are agree."""
    await terminal.work()
    operator = terminal.operator
    record = (await operator.registry.plans()).get("flood")
    told = [await operator.redis.hget(KEYS.partition(number).plan_states, "flood") for number in range(PARTITIONS)]
    totals = [await queue.totals() for queue in operator.queues.values()]
    if record is None:
        assert all(one.endswith(b" deleted") for one in told), case
        assert await operator.ledger() == {}, case
        assert await operator.queues["content"].offer([Seed("http://late.test/", "flood", "board")]) == [False], case
    else:
        assert told == [f"{record.version} {record.edition} {record.state}".encode()] * PARTITIONS, case
        if record.state == "active":
            assert [one.parked for one in totals] == [0, 0], case
        else:
            assert [one.ready for one in totals] == [0, 0], case
        if record.state == "cancelled":
            assert [one.parked for one in totals] == [0, 0], case
        editions = {found.seed.edition async for found in operator.admins["nav"].seeds() if found.state != "failed"}
        assert editions <= {record.edition}, case
    assert await recount.recount(operator.redis, KEYS, PARTITIONS) == [], case


class Stop:
    """Stops a client before its write number `at`; the client goes on when it is released."""

    def __init__(self, at):
        self.left = at
        self.reached = asyncio.Event()
        self.released = asyncio.Event()

    async def __call__(self):
        self.left -= 1
        if self.left < 0:
            self.reached.set()
            await self.released.wait()


async def test_of_two_plans_that_call_two_places_alike_one_is_refused(terminals):
    """The first submission is stopped before each of its writes in turn; the second one runs meanwhile."""
    elsewhere = plans.parse(
        YAML.replace("name: flood", "name: other").replace("board.test", "b.test"), "other.yaml", max_seeds=100
    )
    slow, quick = terminals
    at, ended = 0, False
    while not ended:
        await quick.redis.flushall()
        await prepare(quick.redis, KEYS, PARTITIONS)
        slow.redis.gate = stop = Stop(at)
        typed = asyncio.create_task(slow.type("submit"))
        reached = asyncio.create_task(stop.reached.wait())
        await asyncio.wait({typed, reached}, return_when=asyncio.FIRST_COMPLETED)
        ended = typed.done()
        await quick.type("submit", elsewhere)
        stop.released.set()
        await typed
        reached.cancel()
        slow.redis.gate = None
        registry = quick.operator.registry
        [name] = await registry.plans()
        assert (await registry.site("board")).base == {"flood": "http://board.test", "other": "http://b.test"}[name]
        assert {plan for plan, _site in await quick.operator.ledger()} == {name}, at
        at += 1


class DeathError(Exception):
    """The process died."""


def pairs(firsts, seconds, quick):
    """Returns all pairs of commands; those that aren't quick are tried by `make faults` alone."""
    return [
        pytest.param(first, second, marks=[] if (first, second) in quick else pytest.mark.faults)
        for first in firsts
        for second in seconds
    ]


QUICK = {("submit", "pause"), ("submit", "cancel"), ("pause", "resume")}


@pytest.mark.parametrize(
    ("first", "second"),
    pairs(
        ("submit", "pause", "resume", "cancel", "replace"), ("pause", "resume", "cancel", "replace", "delete"), QUICK
    ),
)
@pytest.mark.parametrize("before", ["active", pytest.param("pause", marks=pytest.mark.faults)])
async def test_the_last_to_decide_is_obeyed(terminals, before, first, second):
    """The first command is stopped before each of its writes in turn; the second one runs meanwhile."""
    slow, quick = terminals
    at, ended = 0, False
    while not ended:
        await begin(quick)
        if before != "active":
            await quick.type(before)
            await quick.work()
        slow.redis.gate = stop = Stop(at)
        typed = asyncio.create_task(slow.type(first))
        reached = asyncio.create_task(stop.reached.wait())
        await asyncio.wait({typed, reached}, return_when=asyncio.FIRST_COMPLETED)
        ended = typed.done()
        await quick.type(second)
        await quick.work()
        stop.released.set()
        await typed
        reached.cancel()
        slow.redis.gate = None
        await check(quick, (before, first, at, second))
        at += 1


@pytest.mark.parametrize(
    ("first", "second"),
    pairs(
        ("pause", "resume", "cancel", "replace", "delete"),
        ("pause", "resume", "cancel", "replace"),
        {("delete", "cancel")},
    ),
)
async def test_wherever_a_command_dies_the_next_one_completes_its_own(terminals, first, second):
    """The first command dies before each of its writes in turn; the second one runs, then itself once more."""
    dying, living = terminals
    at, ended = 0, False

    async def die():
        nonlocal left
        left -= 1
        if left < 0:
            raise DeathError

    while not ended:
        await begin(living)
        dying.redis.gate, left = die, at
        try:
            await dying.type(first)
            ended = True
        except DeathError:
            pass
        dying.redis.gate = None
        if (await living.operator.registry.plans()).get("flood"):
            await living.type(second)
            await living.type(first)
        await check(living, (first, at, second))
        at += 1

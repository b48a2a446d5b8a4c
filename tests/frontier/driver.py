"""Seeds, settlements, and one object through which tests do everything to a frontier in Redis."""

from __future__ import annotations

import asyncio
import itertools
import time

from redis.exceptions import RedisError

from crawler.base.models import Seed
from crawler.frontier import ledger, recount, scripts
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.queue import queues_of
from crawler.frontier.seed_admin import SeedAdmin
from crawler.frontier.settlement import Settlement, TurnRelease

LONG_MS = 60_000  # a session that no test outlives
PATIENCE_SECONDS = 5.0
STATES = {"pause": "paused", "cancel": "cancelled"}
FAILOVER_SECONDS = 20.0  # a node is given up after a second, and replaced after another


def content(number, host="a.test", *, plan="p", site="s", **more):
    return Seed(f"http://{host}/{number}", plan, site, **more)


def nav(number, host="a.test", *, plan="p", site="s", **more):
    return Seed(f"http://{host}/search/{number}", plan, site, frontier="nav", edition=1, **more)


def ends(seeds, operation="finish", amount_ms=0, reason=""):
    return [Settlement(operation, claimed, amount_ms, reason) for claimed in seeds]


def turns(seeds, since_start_ms=-1, backoff_ms=0, **signs):
    """The turns that claimed seeds run on, each once."""
    held = dict.fromkeys((claimed.seed.host, claimed.turn) for claimed in seeds if claimed.turn)
    return [TurnRelease(host, turn, since_start_ms, backoff_ms, **signs) for host, turn in held]


class FrontierDriver:
    """Calls a frontier's queues and scripts with short defaults, over one or more partitions."""

    def __init__(self, redis, partitions=1, **options):
        self.redis = redis
        self.keys = Keys("t")
        self.partitions = partitions
        self.queues = queues_of(FrontierConfig(self.keys, partitions, **options), redis)
        self.claims = itertools.count(1)

    async def polite(self, site="s", delay_ms=0, concurrency=1, burst=10):
        for number in range(self.partitions):
            await self.redis.hset(self.keys.partition(number).politeness, site, f"{delay_ms} {concurrency} {burst}")

    async def rendered(self, site="s", frontier="content", *, is_rendered=True):
        """Says that all pages of a site are rendered, or not; in a few calls, where many hosts are to be moved."""
        for number in range(self.partitions):
            keys = self.keys.partition(number).script_keys(frontier)
            while await scripts.run(self.redis, "render_site", keys, [site, int(is_rendered)]):
                pass

    async def session(self, owner, ms=LONG_MS, what="open"):
        """Opens, renews or ends a session in each partition; returns whether all answered yes."""
        answers = [
            await scripts.run(
                self.redis, "session", self.keys.partition(number).script_keys("content"), [what, owner, ms]
            )
            for number in range(self.partitions)
        ]
        return all(answers)

    async def lapse(self, owner, ended_ms=1):
        """Lets an owner's session lapse, as if its deadline had been at `ended_ms`."""
        for number in range(self.partitions):
            await self.redis.zadd(self.keys.partition(number).sessions, {owner: ended_ms}, xx=True)

    async def offer(self, *seeds, due_ms=0, **options):
        return await self.queues[seeds[0].frontier].offer(seeds, due_ms, **options)

    async def claim(self, owner="A", max_seeds=100, *, carrying=0, frontier="content", partition=0, **more):
        claim = f"{owner}#{next(self.claims)}"
        return await self.queues[frontier].claim(
            partition, owner, claim, max_seeds=max_seeds, carrying=carrying, **more
        )

    async def begin(self, seeds):
        """Begins to fetch seeds, which workers tell Redis of suspected ones."""
        for claimed in seeds:
            if claimed.suspected:
                await self.queues[claimed.seed.frontier].begin_fetch(claimed)

    async def crash(self, owner, ended_ms=1):
        """Opens a session, claims, begins all that was given and dies; returns the answer."""
        await self.session(owner)
        answer = await self.claim(owner)
        await self.begin(answer.seeds)
        await self.lapse(owner, ended_ms)
        return answer

    async def settle(self, owner, settlements, turns_back=(), frontier="content", partition=0):
        return await self.queues[frontier].settle(partition, owner, settlements, turns_back)

    async def finish(self, owner, seeds, **options):
        return await self.settle(owner, ends(seeds), turns(seeds), **options)

    async def fail(self, *seeds, reason="http-404"):
        """Offers seeds and lets them fail, with all others that can be claimed."""
        await self.offer(*seeds)
        while claimed := (await self.claim()).seeds:
            await self.settle("A", ends(claimed, "fail", reason=reason), turns(claimed))

    async def totals(self, frontier="content"):
        return await self.queues[frontier].totals()

    async def account(self, plan="p", site="s", frontier="content"):
        return (await ledger.read(self.redis, self.keys, self.partitions))[plan, site][frontier]

    async def problems(self):
        return [str(problem) for problem in await recount.recount(self.redis, self.keys, self.partitions)]

    def key(self, name, frontier="content", partition=0):
        return self.keys.partition(partition).of(frontier, name)

    async def mark(self, *marks):
        for number in range(self.partitions):
            states = self.keys.partition(number).plan_states
            await self.redis.delete(states)
            for what, plan in (mark.split() for mark in marks):
                await self.redis.hset(states, plan, f"0 0 {STATES[what]}")

    async def resume(self, plan, frontier="content"):
        return await SeedAdmin(self.queues[frontier]).resume(plan)

    async def now_ms(self):
        seconds, micros = await self.redis.time()
        return seconds * 1000 + micros // 1000

    async def score(self, name, member, frontier="content", partition=0):
        return await self.redis.zscore(self.key(name, frontier, partition), member)

    async def until(self, condition):
        """Waits until a condition is true; returns its value."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := await condition()):
            assert time.monotonic() < deadline, "waited in vain"
            await asyncio.sleep(0.005)
        return found

    async def until_answered(self, call, *arguments, **options):
        """Calls until Redis answers, as workers do; returns the answer."""
        deadline = time.monotonic() + FAILOVER_SECONDS
        while True:
            try:
                return await call(*arguments, **options)
            except RedisError:
                assert time.monotonic() < deadline, "waited in vain"
                await asyncio.sleep(0.05)

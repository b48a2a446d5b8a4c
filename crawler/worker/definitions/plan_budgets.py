"""What plans have used of their budgets. Redis counts it for all workers, in one round trip before each page."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.base import crawl_time, tasks
from crawler.base.errors import UnavailableError
from crawler.base.urls import hostname
from crawler.frontier.keys import as_count
from crawler.scope.registrable import registrable_domain
from crawler.worker.visits.visit import VisitEnded

if TYPE_CHECKING:
    import asyncio

    from redis.asyncio import Redis

    from crawler.base.events import Events
    from crawler.base.models import Seed
    from crawler.frontier.keys import Keys
    from crawler.plans.plan_budget import PlanBudget

SUMS = ("items", "bytes")  # bounds of what pages bring


class PlanBudgets:
    """Takes pages of budgets, and counts what they bring. A larger budget goes on where a smaller one has ended."""

    def __init__(self, redis: Redis, keys: Keys, events: Events) -> None:
        self._redis, self._keys = redis, keys
        # By plans of which this worker has taken a page: what Redis hasn't been told yet.
        self._unsaid: dict[str, Counter[str]] = defaultdict(Counter)
        self._telling: set[asyncio.Task[None]] = set()  # asyncio itself forgets tasks that nobody holds
        self._events = events
        events.subscribe(VisitEnded, self._count_items)

    async def take(self, seed: Seed, budget: PlanBudget, edition: int) -> str:
        """Takes a page; returns the name of the bound that allows none any more, and then takes nothing.

        Args:
            edition: Of the plan, from whose first page on its seconds are counted.

        Raises:
            UnavailableError: Redis is away.
        """
        key, places, began = self._keys.plan_budget(seed.plan), _places(seed, budget), f"began {edition}"
        now_s = int(crawl_time.now().timestamp())
        unsaid, self._unsaid[seed.plan] = self._unsaid[seed.plan], Counter()
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for name, number in unsaid.items():
                    pipe.hincrby(key, name, number)
                pipe.hsetnx(key, began, str(now_s))
                for place in places.values():
                    pipe.hincrby(key, place, 1)
                pipe.hmget(key, [*places.values(), *SUMS, began])
                counted: Any = (await pipe.execute())[-1]
        except RedisError as error:
            self._unsaid[seed.plan] += unsaid
            raise UnavailableError(f"the budget of plan {seed.plan}: {error}") from error
        *used, began_s = (as_count(raw or b"0") or 0 for raw in counted)
        over = [
            name
            for name, number in zip((*places, *SUMS), used, strict=True)
            if (most := getattr(budget, name)) is not None and number + (name in SUMS) > most
        ]
        if budget.seconds is not None and now_s - began_s >= budget.seconds:
            over.append("seconds")
        if over:
            await self.give_back(seed, budget)
        return over[0] if over else ""

    async def give_back(self, seed: Seed, budget: PlanBudget) -> None:
        """Gives a page back that wasn't asked for. What Redis isn't told of it now, it is with the next page."""
        self._unsaid[seed.plan].subtract(_places(seed, budget).values())
        await self._tell(seed.plan)

    def count_bytes(self, seed: Seed, number: int) -> None:
        """Counts bytes of a page of a plan that has a budget."""
        self._unsaid[seed.plan]["bytes"] += number

    async def _tell(self, plan: str) -> None:
        unsaid, self._unsaid[plan] = self._unsaid[plan], Counter()
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for name, number in unsaid.items():
                    pipe.hincrby(self._keys.plan_budget(plan), name, number)
                await pipe.execute()
        except RedisError:
            for name, number in unsaid.items():
                self._unsaid[plan][name] += number

    def _count_items(self, event: VisitEnded) -> None:
        """Counts the items of a visit that all sinks have, for its plans that have a budget."""
        if event.visit.items and event.settlement.operation == "finish":
            for seed in event.visit.seeds:
                if seed.plan in self._unsaid:
                    self._unsaid[seed.plan]["items"] += event.visit.items
                    # At once, for other workers; a page that this one asks for first tells it as well.
                    telling = tasks.start(self._tell(seed.plan), name="budget", died=self._events.publish)
                    self._telling.add(telling)
                    telling.add_done_callback(self._telling.discard)


def _places(seed: Seed, budget: PlanBudget) -> dict[str, str]:
    """Returns where pages are counted, by bound."""
    host = hostname(seed.url)
    places = {"pages": "pages", "per_host": f"host {host}"}
    if budget.per_domain is not None:
        places["per_domain"] = f"domain {registrable_domain(host) or host}"
    return {name: place for name, place in places.items() if name == "pages" or getattr(budget, name) is not None}

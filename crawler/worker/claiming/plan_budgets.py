"""What plans have taken of their budgets. Redis counts it for all workers, in one round trip before each page.

A page is in flight from when it is taken for a claim until what it used is booked, and counted all that time. The
settlement that ends the claim says what that is, in the seed's partition; from there it is booked where the plan is, by
whichever worker comes first. So each page counts once, wherever workers die between these steps.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

from redis.exceptions import RedisError, ResponseError

from crawler.base import crawl_time, tasks
from crawler.base.crawl_time import boottime
from crawler.base.errors import UnavailableError
from crawler.base.urls import hostname
from crawler.frontier import scripts
from crawler.frontier.keys import as_text
from crawler.frontier.settlement import BudgetUse
from crawler.scope.registrable import registrable_domain
from crawler.servers.redis_refusal import is_of_a_key
from crawler.worker.offers.address_kind import kind_of
from crawler.worker.settling.settler import BudgetsUsed

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Collection, Sequence

    from redis.asyncio import Redis

    from crawler.base.events import Events
    from crawler.base.models import Claimed, Seed
    from crawler.frontier.keys import Keys
    from crawler.plans.plan_budget import PlanBudget
    from crawler.worker.visits.visit import Visit

SUMS = ("items", "bytes")  # bounds of what pages bring
BOOK_ALL_SECONDS = 5.0  # how often it is looked for what workers have left that died before they booked it
FINGERPRINT_BYTES = 16  # with which an entry begins of what a settled page used; its claim follows
# A line of such an entry: plan, edition, pages, items, bytes.
_USE = re.compile(rb"^([^ \n]+) \d+ ([01]) (\d{1,15}) (\d{1,15})$", re.MULTILINE)


class PlanBudgets:
    """Takes pages of budgets, and books what they used. A larger budget goes on where a smaller one has ended.

    Acts on `BudgetsUsed`.

    Args:
        partitions: FRONTIER_PARTITIONS.
    """

    def __init__(self, redis: Redis, keys: Keys, partitions: int, events: Events) -> None:
        self._redis, self._keys, self._events = redis, keys, events
        self._partitions = range(partitions)
        self._all_due = 0.0  # when all partitions are looked at again, by `boottime`
        self._unbooked: set[int] = set()  # partitions with settlements that aren't booked, as far as is known
        self._booking: asyncio.Task[None] | None = None
        events.subscribe(BudgetsUsed, self._book_soon)

    async def take(self, visit: Visit, seed: Seed, budget: PlanBudget, edition: int) -> str:
        """Takes a page; returns the name of the bound that allows none any more, and then takes nothing.

        Args:
            visit: Whose settlement says what becomes of the page.
            seed: The page as a plan of the visit wants it.
            edition: Of the plan, from whose first page on its seconds are counted.

        Raises:
            UnavailableError: Redis is away, or somebody else holds the seed by now. The seed is released, and with
                that the page is given back if it was taken.
        """
        visit.use = visit.use or BudgetUse()
        visit.use.editions[seed.plan] = edition
        visit.judged_by(seed, edition)
        try:
            if boottime() >= self._all_due:
                await self._book(self._partitions)
            bound, holder = await self._ask(visit.claimed, seed, budget, edition)
            if holder:
                await self._check_held(visit.claimed)
            if bound:  # what has been settled may not be booked yet
                await self._book(self._partitions)
                bound, holder = await self._ask(visit.claimed, seed, budget, edition, holder)
            if visit.ended:  # perhaps long ago, so that its settlement is booked already
                await self._book_pages(seed.plan, [visit.claimed.fingerprint, visit.claimed.claim, 0, 0, 0])
        except RedisError as error:
            raise UnavailableError(f"the budget of plan {seed.plan}: {error}") from error
        if holder:
            raise UnavailableError(f"the budget of plan {seed.plan}: the page is still in flight for {holder}")
        return bound

    async def close(self) -> None:
        """Books what this worker has settled, if Redis answers; else others do it."""
        if self._booking is not None:
            await self._booking

    async def _ask(
        self, claimed: Claimed, seed: Seed, budget: PlanBudget, edition: int, over_claim: str = ""
    ) -> tuple[str, str]:
        """Returns what take_page.lua does.

        Raises:
            UnavailableError: The plan was deleted.
        """
        now_s = int(crawl_time.now().timestamp())
        arguments = [seed.plan, claimed.fingerprint, claimed.claim, over_claim, now_s, edition, _word(budget.seconds)]
        for name, field in _fields(seed, budget).items():
            arguments += (name, field, _word(getattr(budget, name)), int(name not in SUMS))
        bound, holder = map(as_text, await self._run("take_page", seed.plan, arguments))
        if bound == "deleted":
            raise UnavailableError(f"plan {seed.plan} was deleted, and its budget with it")
        return bound, holder

    async def _check_held(self, claimed: Claimed) -> None:
        """Makes sure that the claims of a seed before this one are over.

        Raises:
            UnavailableError: This one is over, too.
        """
        key = self._keys.partition(claimed.partition).of("content", "claims")
        if await cast("Awaitable[bytes | None]", self._redis.hget(key, claimed.fingerprint)) != claimed.claim.encode():
            raise UnavailableError(f"{claimed.seed.url} is held by somebody else by now")

    def _book_soon(self, event: BudgetsUsed) -> None:
        self._unbooked.add(event.partition)
        if self._booking is None or self._booking.done():
            self._booking = tasks.start(self._book_settled(), name="budgets", died=self._events.publish)

    async def _book_settled(self) -> None:
        while self._unbooked:
            partitions, self._unbooked = self._unbooked, set()
            try:
                await self._book(partitions)
            except RedisError:
                self._all_due = 0.0  # it is done before the next page

    async def _book(self, partitions: Collection[int]) -> None:
        """Books what settled pages of some partitions used, whoever has settled them."""
        keys = [self._keys.partition(partition).of("content", "used") for partition in partitions]
        async with self._redis.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.hgetall(key)
            settled: list[dict[bytes, bytes]] = await pipe.execute()
        for key, uses in zip(keys, settled, strict=True):
            by_plan: dict[str, list[bytes]] = defaultdict(list)
            for name, lines in uses.items():
                for plan, *numbers in _USE.findall(lines):
                    by_plan[as_text(plan)] += (name[:FINGERPRINT_BYTES], name[FINGERPRINT_BYTES:], *numbers)
            for plan, pages in by_plan.items():
                try:
                    await self._book_pages(plan, pages)
                except ResponseError as error:
                    if not is_of_a_key(error):
                        raise  # what the plan's key holds is that plan's trouble alone
            if uses:
                await self._redis.hdel(key, *cast("list[str]", [*uses]))
        if len(keys) == len(self._partitions):
            self._all_due = boottime() + BOOK_ALL_SECONDS

    async def _book_pages(self, plan: str, pages: Sequence[object]) -> None:
        await self._run("book_pages", plan, pages)

    async def _run(self, script: str, plan: str, arguments: Sequence[object]) -> Any:
        keys = [self._keys.plan_budget(plan), self._keys.held_pages(plan), self._keys.plans]
        return await scripts.run(self._redis, script, keys, arguments)


def _word(most: int | None) -> int | str:
    return "" if most is None else most


def _fields(seed: Seed, budget: PlanBudget) -> dict[str, str]:
    """Returns by which field of the plan's budget each bound counts a page, or what it brings."""
    host = hostname(seed.url)
    fields = {"pages": "pages", "per_host": f"host {host}", "per_depth": f"depth {seed.depth}"}
    if budget.per_domain is not None:
        fields["per_domain"] = f"domain {registrable_domain(host) or host}"
    if budget.per_template is not None:
        fields["per_template"] = f"template {kind_of(seed.url).family}"
    fields |= dict(zip(SUMS, SUMS, strict=True))
    return {name: field for name, field in fields.items() if name == "pages" or getattr(budget, name) is not None}

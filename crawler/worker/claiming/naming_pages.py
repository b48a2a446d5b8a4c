"""Pages that have named another one as the page to index: they are crawled again if that one makes no item."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.base import reasons, tasks
from crawler.base.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.base.events import Events
    from crawler.base.models import Seed
    from crawler.frontier.settlement import Settlement
    from crawler.worker.definitions.plan_crawl import PlanCrawls
    from crawler.worker.offers.offers import Offers
    from crawler.worker.visits.visit import VisitEnded


class NamingPages:
    """Has such pages offered anew before the page that they have named is settled, however that ends.

    Args:
        settle: Settles a claim.
        max_attempts: MAX_ATTEMPTS.
    """

    def __init__(
        self,
        plan_crawls: PlanCrawls,
        offers: Offers,
        settle: Callable[[Settlement], None],
        max_attempts: int,
        events: Events,
    ) -> None:
        self._plan_crawls, self._offers, self._settle = plan_crawls, offers, settle
        self._max_attempts, self._events = max_attempts, events
        self._under_way: set[asyncio.Task[None]] = set()

    def settle(self, event: VisitEnded) -> None:
        """Settles the claim of a visit that has ended, at once where no page has named its page."""
        named = [seed for seed in event.visit.seeds if seed.named_by not in ("", seed.url)]
        if not named or not self._brings_no_item(event.settlement):
            self._settle(event.settlement)
            return
        task = tasks.start(
            self._take_back(named, event.settlement), name="offer of a page again", died=self._events.publish
        )
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def close(self) -> None:
        """Waits for what is under way: whatever Redis doesn't take as the worker stops is left to another visit."""
        await asyncio.gather(*self._under_way)

    def _brings_no_item(self, settlement: Settlement) -> bool:
        """Returns whether a page has failed for good, or only leads on."""
        if settlement.operation == "retry":
            return settlement.claimed.tries + 1 >= self._max_attempts
        return settlement.operation == "fail" or settlement.reason == reasons.LIST_PAGE

    async def _take_back(self, named: list[Seed], settlement: Settlement) -> None:
        try:
            for seed in named:
                crawl = await self._plan_crawls.of(seed)
                if naming := crawl.moved(replace(seed, hops=0, stands_for=""), seed.named_by):
                    await self._offers.ask(naming, again=True)
        except UnavailableError:
            settlement = replace(settlement, operation="release", reason=reasons.UNAVAILABLE)
        self._settle(settlement)

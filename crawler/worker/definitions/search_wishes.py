"""What plans want of their searches: which of their pages come first, and which aren't worth a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.base.models import MAX_PRIORITY
from crawler.plans.plan import priority_of
from crawler.plans.plan_searches import PlanSearches

if TYPE_CHECKING:
    from crawler.base.models import Seed
    from crawler.worker.definitions.plan_cache import PlanCache

# A page that is expected to bring fewer new ones than these parts of a full page of results has a priority of one, two
# ... five less. benchmarks/search_yield.py compares others. Each costs a search one more claim at most.
LEVELS = (0.2, 0.1, 0.05, 0.025, 0.0125)


class SearchWish(NamedTuple):
    """What a plan wants of its searches.

    Attributes:
        priority: The plan's.
        by_yield: Those of its pages come first that are expected to bring the most.
        least_new: A page that is expected to bring fewer isn't worth a request; None: each is.
    """

    priority: int
    by_yield: bool
    least_new: float | None

    def priority_of(self, seed: Seed, expected: float) -> int:
        """Returns the priority of a search page that is expected to bring so many new pages."""
        lower = sum(expected < part * seed.per_page for part in LEVELS) if self.by_yield else 0
        return max(0, self.priority - lower)

    def refuses(self, seed: Seed, expected: float) -> bool:
        """Returns whether a search page that is expected to bring so many isn't worth a request.

        The first page of a scheduled search is: whatever was new so far, it alone tells whether there are news.
        """
        return self.least_new is not None and not seed.interval_s and expected < self.least_new


class SearchWishes:
    """What each plan wants, by its newest edition."""

    def __init__(self, plans: PlanCache) -> None:
        self._plans = plans

    async def of(self, seed: Seed) -> SearchWish | None:
        """Returns what the plan of a search page wants; None: its pages come as they are.

        So do those of one search, and of scheduled ones: they bring little each time, and mustn't wait for other plans.
        """
        await self._plans.load({seed.plan})
        record = self._plans.get(seed.plan)
        if record is None or record.edition != seed.edition or not seed.keywords:
            return None
        try:
            priority = priority_of(record.definition)
            searches = PlanSearches.model_validate(record.definition.get("searches", {}))
        except (ValueError, TypeError):  # Redis isn't trusted
            return None
        by_yield = searches.order == "yield" and record.nav_seeds > 1 and not record.definition.get("schedule")
        wish = SearchWish(priority, by_yield, searches.least_new)
        return wish if (by_yield or wish.least_new is not None) and priority in range(MAX_PRIORITY + 1) else None

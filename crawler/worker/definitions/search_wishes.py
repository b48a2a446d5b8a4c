"""What plans want of their searches: which of their pages come first, and which aren't worth a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from crawler.base.models import MAX_PRIORITY
from crawler.plans.plan_searches import PlanSearches

if TYPE_CHECKING:
    from crawler.base.models import Seed
    from crawler.worker.definitions.plan_cache import PlanCache

# A page that is expected to bring fewer new ones than these parts of a full page of results has a priority of one, two
# ... five less. They were found on the searches of a MediaWiki; each costs a search at most one more claim.
LEVELS = (0.3, 0.2, 0.12, 0.07, 0.03)


class SearchWish(NamedTuple):
    """What a plan wants of its searches.

    Attributes:
        priority: The plan's.
    """

    searches: PlanSearches
    priority: int

    def priority_of(self, seed: Seed, expected: float) -> int:
        """Returns the priority of a search page that is expected to bring so many new pages."""
        lower = sum(expected < part * seed.per_page for part in LEVELS) if self.searches.order == "yield" else 0
        return max(0, self.priority - lower)

    def refuses(self, expected: float) -> bool:
        """Returns whether a page that is expected to bring so many isn't worth a request."""
        return self.searches.least_new is not None and expected < self.searches.least_new


class SearchWishes:
    """What each plan wants, by its newest edition."""

    def __init__(self, plans: PlanCache) -> None:
        self._plans = plans

    async def of(self, seed: Seed) -> SearchWish | None:
        """Returns what the plan of a search page wants; None: its pages come as they are, as those of one search do."""
        await self._plans.load({seed.plan})
        record = self._plans.get(seed.plan)
        if record is None or record.edition != seed.edition or not seed.keywords:
            return None
        priority = record.definition.get("priority", seed.priority)
        try:
            searches = PlanSearches.model_validate(record.definition.get("searches", {}))
        except ValidationError:  # Redis isn't trusted
            return None
        is_wanted = (searches.order == "yield" and record.nav_seeds > 1) or searches.least_new is not None
        return SearchWish(searches, priority) if is_wanted and priority in range(MAX_PRIORITY + 1) else None

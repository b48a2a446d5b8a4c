"""The words of plans, which workers look for in lists of results and in the text of pages."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy.utils.datatypes import LocalCache

from crawler.base.errors import HeadroomError, UnavailableError
from crawler.extract.words import CombinationSearch
from crawler.plans.plan import Plan

if TYPE_CHECKING:
    from crawler.base.models import Seed
    from crawler.worker.definitions.plan_cache import PlanCache
    from crawler.worker.definitions.site_cache import SiteCache

# Most plans whose words are kept: with 10,000 combinations, the most that are looked for, some 25 MB each.
MAX_PLANS = 10


@dataclass(frozen=True, slots=True)
class WordsOfPlan:
    """What a plan says of its words.

    Attributes:
        search: Finds its combinations in a text.
        match_text: It wants the pages alone whose text has those of one.
        edition: The plan's that says so.
    """

    search: CombinationSearch
    match_text: bool
    edition: int


class PlanWords:
    """The words of each plan, by its newest edition."""

    def __init__(self, plans: PlanCache, sites: SiteCache) -> None:
        self._plans = plans
        self._sites = sites
        self._known: LocalCache[tuple[str, int], WordsOfPlan] = LocalCache(MAX_PLANS)

    async def of(self, seed: Seed) -> WordsOfPlan:
        """Returns the words of a seed's plan, of the seed's edition or a newer one.

        Raises:
            UnavailableError: Redis is away, or doesn't have the plan any more; then the seed isn't crawled again.
        """
        await self._plans.load({seed.plan})
        if (record := self._plans.get(seed.plan)) is None:
            raise UnavailableError(f"plan {seed.plan} can't be had, and with it the words to look for")
        if record.edition < seed.edition:  # the word of the change is still on its way
            self._plans.expire()
            raise UnavailableError(f"plan {seed.plan} is known as it was before, with other words to look for")
        key = (seed.plan, record.edition)
        if key not in self._known:
            await self._sites.load(set(record.sites))
            sites = {name: site for name in record.sites if (site := self._sites.get(name)) is not None}
            try:
                plan = Plan.from_definition(record.definition, sites)
                search = await asyncio.to_thread(CombinationSearch, plan.combinations())
            except HeadroomError as error:
                raise UnavailableError(f"the words of plan {seed.plan}: {error}") from error
            self._known[key] = WordsOfPlan(search, plan.file.match_text, record.edition)
        return self._known[key]

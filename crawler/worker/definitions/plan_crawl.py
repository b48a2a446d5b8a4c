"""What plans say of links, which workers ask where pages lead on: `follow`, and which site reads a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.utils.datatypes import LocalCache

from crawler.base.errors import HeadroomError, UnavailableError, UrlError
from crawler.base.urls import canonical
from crawler.plans.plan import Plan
from crawler.plans.plan_follow import PlanFollow, host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.base.models import Seed
    from crawler.sites import Site
    from crawler.worker.definitions.plan_cache import PlanCache
    from crawler.worker.definitions.site_cache import SiteCache

MAX_PLANS = 100  # most plans of which this is kept, as many as records are: a few kB each
_NO_FOLLOW = PlanFollow(depth=0)


class PlanCrawl:
    """What one edition of a plan says of links.

    Args:
        sites: Where its sites' definitions are kept up to date.
    """

    def __init__(self, plan: Plan, sites: SiteCache) -> None:
        self.follow = plan.file.follow or _NO_FOLLOW
        self._choice = plan.site_choice
        self._start_hosts = frozenset(host_of(canonical(address, routes=True)) for address in plan.file.start)
        self._sites = sites

    @property
    def per_page(self) -> int:
        """Most links of one page that are followed."""
        return self.follow.links

    def wants(self, url: str, page_url: str) -> bool:
        """Returns whether a link is followed; both addresses are canonical."""
        return self.follow.wants(url, page_url, self._start_hosts)

    def linked(self, seed: Seed, url: str) -> Seed | None:
        """Returns the seed of a page that a link on a seed's page leads to; None: no site of the plan reads it."""
        return self._at(replace(seed, depth=seed.depth + 1, hops=0, row="", further_keywords=()), url, seed)

    def may_redirect(self, seed: Seed, url: str) -> bool:
        """Returns whether the page of a seed may be fetched where it redirects to."""
        may = self.follow.wants if seed.depth else self.follow.may_redirect
        return may(url, seed.url, self._start_hosts)

    def moved(self, seed: Seed, url: str) -> Seed | None:
        """Returns the seed of a page where it redirects to; None: it may not be had there."""
        return self._at(seed, url, seed) if self.may_redirect(seed, url) else None

    def _at(self, seed: Seed, url: str, page: Seed) -> Seed | None:
        """Returns a seed with another address, read by the site of that."""
        site: Site | None = self._sites.get(self._choice.of(url, page.url, page.site))
        if site is None:
            return None
        if site.name != page.site:  # its addresses have other parameters that mean nothing
            try:
                url = canonical(url, drop=site.drop, routes=site.has_routes("content"))
            except UrlError:
                return None
        return replace(seed, url=url, site=site.name, exact=site.exact)


class PlanCrawls:
    """What each plan says of links, by its newest edition."""

    def __init__(self, plans: PlanCache, sites: SiteCache) -> None:
        self._plans = plans
        self._sites = sites
        self._known: LocalCache[tuple[str, int], PlanCrawl] = LocalCache(MAX_PLANS)

    async def load(self, seeds: Iterable[Seed]) -> None:
        """Has what `get` is asked for read, as far as Redis answers."""
        for plan, seed in {seed.plan: seed for seed in seeds if seed.general}.items():
            if (record := self._plans.get(plan)) is None or (plan, record.edition) not in self._known:
                try:
                    await self.of(seed)
                except UnavailableError:
                    continue

    def get(self, seed: Seed) -> PlanCrawl:
        """Returns what a seed's plan says, as far as it is loaded.

        Raises:
            UnavailableError: It isn't; the seed is released.
        """
        record = self._plans.get(seed.plan)
        crawl = self._known.get((seed.plan, record.edition)) if record else None
        if crawl is None:
            raise UnavailableError(f"plan {seed.plan} can't be had, and with it what its pages may lead to")
        return crawl

    async def of(self, seed: Seed) -> PlanCrawl:
        """Returns what a seed's plan says.

        Raises:
            UnavailableError: Redis is away, or doesn't have the plan any more; then the seed isn't crawled again.
        """
        await self._plans.load({seed.plan})
        if (record := self._plans.get(seed.plan)) is None:
            raise UnavailableError(f"plan {seed.plan} can't be had, and with it what its pages may lead to")
        key = (seed.plan, record.edition)
        if key not in self._known:
            await self._sites.load(set(record.sites))
            sites = {name: site for name in record.sites if (site := self._sites.get(name)) is not None}
            try:
                plan = Plan.from_definition(record.definition, sites)
            except HeadroomError as error:
                raise UnavailableError(f"what plan {seed.plan} says of links: {error}") from error
            self._known[key] = PlanCrawl(plan, self._sites)
        return self._known[key]

"""What plans say of links, which workers ask where pages lead on: `follow`, `scope`, and which site reads a page."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.utils.datatypes import LocalCache

from crawler.base import log_events, reasons
from crawler.base.errors import HeadroomError, PlanError, UnavailableError, UrlError
from crawler.base.models import MAX_PRIORITY
from crawler.base.seldom import Seldom
from crawler.base.urls import canonical
from crawler.extract.words import CombinationSearch, comparable
from crawler.plans.plan import Plan
from crawler.plans.plan_follow import PlanFollow, host_of
from crawler.scope.candidate import Candidate
from crawler.scope.scope import Scope
from crawler.scope.scorers import Link, LinkScore, PageOfLinks, PlanTopic
from crawler.scope.scorers.choice import scorer_class
from crawler.scope.scorers.scorer import MAX_WHY_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.base.item import PageType
    from crawler.base.log_events import EventLogger
    from crawler.base.models import Seed
    from crawler.base.reasons import Reason
    from crawler.extract import Links
    from crawler.plans.plan_record import PlanRecord
    from crawler.scope.candidate import Kind
    from crawler.scope.scorers import Scorer
    from crawler.sites import Site
    from crawler.sites.follow import Follow
    from crawler.worker.definitions.plan_cache import PlanCache
    from crawler.worker.definitions.site_cache import SiteCache

logger: EventLogger = logging.getLogger(__name__)
MAX_PLANS = 100  # most plans of which this is kept, as many as records are: a few kB each
_NO_FOLLOW = PlanFollow(depth=0)


class PlanCrawl:
    """What one edition of a plan says of links.

    Attributes:
        scope: Where its crawl ends; None: it says nothing of that.
        is_general: Whether it says itself which links are followed.
        budget: How much it may have; None: there is no bound.
        edition: When it was submitted, in ms since the epoch.
        scorer: What its links are worth.

    Args:
        sites: Where its sites' definitions are kept up to date.
    """

    def __init__(self, plan: Plan, sites: SiteCache, scope: Scope | None, scorer: Scorer, edition: int) -> None:
        self.follow = plan.file.follow or _NO_FOLLOW
        self.scope, self.scorer = scope, scorer
        self.is_general = plan.file.is_general
        self.budget, self.edition = plan.file.budget, edition
        self._choice = plan.site_choice
        self._start_hosts = frozenset(host_of(canonical(address, routes=True)) for address in plan.file.start)
        self._sites = sites
        self._name, self._priority, self._interval_s = plan.name, plan.file.priority, plan.file.interval_s
        self._warn = Seldom(logger.error)

    def follow_at(self, site: Site) -> PlanFollow | Follow | None:
        """Returns which links of a site's pages are followed; None: none are. What the plan says goes before its site.

        A plan that only has a scope leaves that to its sites.
        """
        return self.follow if self.is_general else site.follow

    def wants(self, url: str, page_url: str, follow: PlanFollow | Follow) -> bool:
        """Returns whether a link is followed, whatever the scope says; both addresses are canonical."""
        return follow.wants(url, page_url, self._start_hosts)

    def refusal(self, url: str, depth: int = 0, page_url: str = "", kind: Kind = "page") -> str:
        """Returns the name of the filter by which an address is out of the plan's scope; empty: it is in scope."""
        if self.scope is None:
            return ""
        return self.scope.refusal(Candidate.of(url, depth=depth, page_url=page_url, kind=kind))

    def linked(self, seed: Seed, url: str) -> Seed | None:
        """Returns the seed of a page that a link on a seed's page leads to; None: no site of the plan reads it."""
        interval_s = self._interval_s if self.follow.is_list(url) else 0
        linked = replace(seed, depth=seed.depth + 1, row="", interval_s=interval_s, further_keywords=())
        linked = replace(linked, hops=0, trap="", stands_for="", named_by="")
        return self._at(linked, url, seed)

    def scored(self, seed: Seed, links: Links, text: str) -> list[Seed]:
        """Returns the seeds of the pages that links of a seed's page lead to, as `linked`, each with what it is worth.

        Args:
            text: Of the page, as `PageOfLinks` has it.
        """
        read = PageOfLinks(seed.url, seed.priority, seed.depth, seed.why, text)
        scores = self._scores([Link(url, *links.contexts.get(url, ())) for url in links.urls], read)
        return [
            replace(linked, priority=score.priority, why=score.why)
            for url, score in zip(links.urls, scores, strict=True)
            if (linked := self.linked(seed, url))
        ]

    def _scores(self, links: list[Link], page: PageOfLinks) -> list[LinkScore]:
        """Returns what links are worth: the plan's priority by a scorer that fails, for no link is lost by it."""
        try:
            scores = self.scorer.scores(links, page)
            if len(scores) != len(links) or not all(map(_is_score, scores)):
                raise ValueError(f"{len(links)} links: {scores[:3]}")  # noqa: TRY301 -- as whatever it may raise
        except Exception as error:  # noqa: BLE001 -- somebody's own scorer may raise anything
            self._warn(log_events.LINK_SCORER_FAILED, self._name, error)
            return [LinkScore(self._priority)] * len(links)
        return scores

    def found(self, result: Seed) -> Seed:
        """Returns the seed of a search's result: where another site has its host, that reads the page.

        So it does where links lead there: read by two sites, it would be two pages.
        """
        name = self._choice.named(result.url)
        other = self._at(replace(result, row=""), result.url) if name and name != result.site else None
        return other or result

    def listed(self, seed: Seed, list_url: str) -> Seed | None:
        """Returns the seed of a page that a sitemap or a feed names, by its own site; None: it isn't the plan's."""
        if not self.follow.takes_listed(seed.url, list_url, self._start_hosts):
            return None
        return self._at(seed, seed.url)

    def makes_item(self, seed: Seed, url: str, page_type: PageType | None = None) -> bool:
        """Returns whether the page of a seed makes an item, found at an address; a scheduled one only leads on."""
        return not seed.interval_s and not self.follow.only_leads_on(url, page_type)

    def next_visit(self, seed: Seed, page_type: PageType | None, site: Site) -> Seed | None:
        """Returns the scheduled seed of a list that was told by its type; None: it isn't asked again, or has a time."""
        types = (*self.follow.list_types, *(site.follow.list_types if site.follow else ()))
        is_new = self._interval_s and not seed.interval_s and page_type in types
        return replace(seed, interval_s=self._interval_s, further_keywords=()) if is_new else None

    def canonical_page(self, seed: Seed, url: str | None, page_url: str, site: Site) -> Seed | None:
        """Returns the seed of the page that a seed's page names as the one to index; None: itself, or none of the plan.

        Args:
            url: What it names; None: nothing.
            page_url: Where the page was found.
            site: The page's.
        """
        if url is None or seed.named_by:  # what others name is taken as it is: two pages may name each other
            return None
        try:
            target = canonical(url, drop=site.drop, routes=site.has_routes("content"))
        except UrlError:
            return None
        named = None if self.redirect_refusal(seed, target, site) else self.moved(seed, target)
        own = (seed.fingerprint, replace(seed, url=page_url).fingerprint)
        if named is None or named.fingerprint in own or named.url == seed.stands_for:  # which has led here
            return None
        if not self.makes_item(named, named.url):
            return None
        return replace(named, named_by=seed.url)

    def redirect_refusal(self, seed: Seed, url: str, site: Site) -> Reason | None:
        """Returns why the page of a seed may not be fetched where it redirects to; None: it may."""
        may = self.follow.wants if seed.depth else self.follow.may_redirect
        may_go = may(url, seed.url, self._start_hosts) if self.is_general else site.may_redirect(seed, url)
        if not may_go:
            return reasons.OUT_OF_SCOPE
        name = self.refusal(url, seed.depth, seed.url, "redirect")
        return reasons.scope_reason(name) if name else None

    def moved(self, seed: Seed, url: str) -> Seed | None:
        """Returns the seed of a page where it redirects to; None: no site of the plan reads it there."""
        return self._at(seed, url, seed)

    def _at(self, seed: Seed, url: str, page: Seed | None = None) -> Seed | None:
        """Returns a seed with another address, read by the site of that; `page` leads there."""
        if not self.is_general:
            return replace(seed, url=url)
        name = self._choice.of(url, page.url, page.site) if page else self._choice.of(url)
        site: Site | None = self._sites.get(name)
        if site is None:
            return None
        if page is None or site.name != page.site:  # its addresses have other parameters that mean nothing
            try:
                url = canonical(url, drop=site.drop, routes=site.has_routes("content"))
            except UrlError:
                return None
        return replace(seed, url=url, site=site.name, exact=site.exact)


def _is_score(score: LinkScore) -> bool:
    """Returns whether a score is one that a seed can have."""
    is_priority = type(score.priority) is int and 0 <= score.priority <= MAX_PRIORITY  # neither NaN nor a bool
    return is_priority and type(score.why) is str and len(score.why) <= MAX_WHY_CHARACTERS


def _scorer_of(plan: Plan, settings: Mapping[str, Any]) -> Scorer:
    """Returns a new scorer for a plan.

    Raises:
        HeadroomError: There is none of the plan's `order`, or it lacks what it needs.
    """
    scorer = scorer_class(plan.file.order, settings)
    combinations = [tuple(map(comparable, words)) for words in plan.combinations()] if scorer.wants_words else []
    search = CombinationSearch(combinations)
    try:
        return scorer.of(PlanTopic(plan.file.priority, combinations, lambda text: search.words_in(comparable(text))))
    except ValueError as error:
        raise PlanError(f"order: {plan.file.order}: {error}") from error


class PlanCrawls:
    """What each plan says of links, by its newest edition."""

    def __init__(self, plans: PlanCache, sites: SiteCache, settings: Mapping[str, Any]) -> None:
        self._plans = plans
        self._sites = sites
        self._settings = settings
        self._warn = Seldom(logger.error)
        self._known: LocalCache[tuple[str, int, int], PlanCrawl] = LocalCache(MAX_PLANS)

    async def load(self, seeds: Iterable[Seed]) -> None:
        """Has what `get` is asked for read, as far as Redis answers."""
        for plan, seed in {seed.plan: seed for seed in seeds if seed.general}.items():
            if (record := self._plans.get(plan)) is None or _key(record) not in self._known:
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
        crawl = self._known.get(_key(record)) if record else None
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
        key = _key(record)
        if key not in self._known:
            await self._sites.load(set(record.sites))
            sites = {name: site for name in record.sites if (site := self._sites.get(name)) is not None}
            try:
                plan = Plan.from_definition(record.definition, sites)
                scope = Scope.of(plan.file.scope, self._settings) if plan.file.scope else None
                scorer = await asyncio.to_thread(_scorer_of, plan, self._settings)
            except HeadroomError as error:
                self._warn(log_events.PLAN_LACKS, seed.plan, error)
                raise UnavailableError(f"what plan {seed.plan} says of links: {error}") from error
            self._known[key] = PlanCrawl(plan, self._sites, scope, scorer, record.edition)
        return self._known[key]


def _key(record: PlanRecord) -> tuple[str, int, int]:
    """Returns what a plan's word changes with: its edition, and its priority, which it may get while it runs."""
    return record.name, record.edition, record.definition.get("priority", 0)

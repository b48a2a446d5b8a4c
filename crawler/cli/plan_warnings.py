"""Which sites of a plan would be searched in vain, and why: said before the plan is sent, not found out after."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import CannotResolveHostError, UnsupportedURLSchemeError

from crawler import config
from crawler.base.errors import HeadroomError, PrivateAddressError
from crawler.base.urls import canonical, hostname
from crawler.cli.page_fetcher import PageFetcher
from crawler.download.targets import Targets
from crawler.plans.pattern_trial import useless_patterns
from crawler.plans.start_pages import seed_of
from crawler.scope.candidate import Candidate
from crawler.scope.scope import Scope
from crawler.scope.scorers.choice import scorer_class

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy.settings import Settings

    from crawler.base.models import Seed
    from crawler.plans import Plan
    from crawler.sites import SearchTarget, Site

# How long all names' look-ups may take together: a name server that is slower says nothing of a host.
LOOKUP_SECONDS = 3.0
ASK_SECONDS = 10.0  # how long the robots.txt of all hosts may take together: who checks a plan waits for it
MAX_STARTS = 20  # most start addresses whose hosts are looked up and asked: enough to see that all are out of reach
MAX_AT_ONCE = 16  # most hosts that are asked at the same time; a plan has a handful


async def all_of(plan: Plan, settings: Settings) -> list[dict[str, str]]:
    """Returns all warnings of a plan; of each site one at most, beside those of start addresses and of patterns.

    Raises:
        HeadroomError: A filter of the plan's scope lacks what it needs, such as a database of regions, or there is no
            such order as the plan's.
    """
    scorer_class(plan.file.order, settings)
    warnings = [{"site": "", "host": "", "why": why} for why in useless_patterns(plan)]
    warnings += out_of_scope(plan, settings) + same_searches(plan) + await unreachable_hosts(plan, settings)
    return warnings + await forbidden_searches(plan, settings, {warning["site"] for warning in warnings})


def out_of_scope(plan: Plan, settings: Settings) -> list[dict[str, str]]:
    """Returns the `site`, `host` and `why` of each start address that the plan's own scope refuses."""
    scope = Scope.of(plan.file.scope, settings) if plan.file.scope else None
    warnings = []
    for address in plan.file.start if scope else ():
        seed = seed_of(plan, address)
        if scope and (name := scope.refusal(Candidate.of(seed.url))):
            why = f"the start address {address} isn't offered, since `{name}` of the plan's scope refuses it"
            warnings.append({"site": seed.site, "host": hostname(seed.url), "why": why})
    return warnings


def same_searches(plan: Plan) -> list[dict[str, str]]:
    """Returns the `site`, `host` and `why` of each site whose searches are all those of a site before it."""
    asked = {seed.site for seed in plan.nav_seeds(edition=0)}
    words = next(iter(plan.combinations()), ())
    readers: dict[tuple[str, str, str], str] = {}  # request -> the site that reads its answer
    warnings = []
    for site in plan.searched:
        target = plan.targets(site, words, pages=1)[0]
        if site.name in asked:
            readers.setdefault(_request(target), site.name)
        else:
            reader = readers.get(_request(target), "another site")
            why = f"it gets no page, since its searches are those of {reader}; leave it out, or give it another base"
            warnings.append({"site": site.name, "host": hostname(target.url), "why": why})
    return warnings


def _request(target: SearchTarget) -> tuple[str, str, str]:
    return target.method, canonical(target.url, routes=True), target.body


async def unreachable_hosts(plan: Plan, settings: Settings) -> list[dict[str, str]]:
    """Returns the `site`, `host` and `why` of each site whose search these settings refuse, or can't find.

    Names are looked up, and nothing is connected to. What isn't known in time isn't warned of.
    """
    urls: dict[tuple[str, str], str] = {}
    for seed in plan.nav_seeds(edition=0):
        urls.setdefault((seed.site, ""), seed.url)
    for seed in _first_starts(plan):
        urls.setdefault((seed.site, seed.host), seed.url)
    targets, proxies = Targets.from_settings(settings), HttpProxyMiddleware()
    reasons = await asyncio.gather(*(_why_in_vain(url, targets, proxies) for url in urls.values()))
    return [
        {"site": site, "host": urlsplit(url).hostname or "", "why": why}
        for ((site, _host), url), why in zip(urls.items(), reasons, strict=True)
        if why
    ]


def _first_starts(plan: Plan) -> list[Seed]:
    """Returns the first start addresses of a plan; those of its files aren't looked at."""
    return [seed_of(plan, address) for address in plan.file.start[:MAX_STARTS]]


def lines(warnings: list[dict[str, str]]) -> list[str]:
    """Returns warnings as lines to print."""
    return [f"warning: {f'site {name}: ' if (name := warning['site']) else ''}{warning['why']}" for warning in warnings]


async def _why_in_vain(url: str, targets: Targets, proxies: HttpProxyMiddleware) -> str:
    """Returns why a page would be asked for in vain; empty: it may be had, or there was no time to see."""
    request, host = Request(url), urlsplit(url).hostname
    proxies.process_request(request)
    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            await targets.find(request)
    except PrivateAddressError:
        return (
            f"{host} has a private address, which these settings refuse: ALLOW_PRIVATE_ADDRESSES=1 lets it be crawled"
        )
    except CannotResolveHostError:
        return (
            "its proxy has no address"
            if "proxy" in request.meta
            else f"{host} has no address, so nothing is found there"
        )
    except UnsupportedURLSchemeError as error:
        return str(error)
    except TimeoutError:
        return ""
    return ""


async def forbidden_searches(plan: Plan, settings: Settings, left_out: Collection[str] = ()) -> list[dict[str, str]]:
    """Returns the `site`, `host` and `why` of each site whose robots.txt forbids its search, or can't be read.

    Each host is asked for its robots.txt, and for nothing else; for none where the settings don't obey it.

    Args:
        left_out: Names of sites whose hosts aren't asked.
    """
    if not config.ROBOTSTXT_OBEY.of(settings):
        return []
    words = next(iter(plan.combinations()), ())
    searches = [(site, plan.targets(site, words)[0].url) for site in plan.searched if site.name not in left_out]
    starts = {seed.host: seed for seed in reversed(_first_starts(plan)) if seed.site not in left_out}
    searches += [(plan.sites_by_name[seed.site], seed.url) for seed in starts.values()]
    if not searches:
        return []
    limit = asyncio.Semaphore(MAX_AT_ONCE)
    async with PageFetcher.open(settings, *(site for site, _url in searches)) as fetcher:
        refusals = await asyncio.gather(*(_why(fetcher, url, site, limit) for site, url in searches))
    return [
        {"site": site.name, "host": hostname(url), "why": why}
        for (site, url), why in zip(searches, refusals, strict=True)
        if why
    ]


async def _why(fetcher: PageFetcher, url: str, site: Site, limit: asyncio.Semaphore) -> str:
    try:
        async with asyncio.timeout(ASK_SECONDS), limit:
            return await fetcher.refusal(url, site)
    except TimeoutError:
        return f"robots.txt can't be read within {ASK_SECONDS:g} s, so it isn't known whether it forbids the search"
    except HeadroomError as error:
        return f"it isn't known whether robots.txt forbids the search: {error}"

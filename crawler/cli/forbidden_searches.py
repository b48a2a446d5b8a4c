"""Which searches of a plan robots.txt forbids: said before the plan is sent, not by the ledger of each of its pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from crawler import config
from crawler.base.errors import HeadroomError
from crawler.base.urls import hostname
from crawler.cli.page_fetcher import PageFetcher

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy.settings import Settings

    from crawler.plans import Plan
    from crawler.sites import Site

ASK_SECONDS = 10.0  # for all hosts together: who checks a plan waits for it
AT_ONCE_MAX = 16  # hosts that are asked at the same time; a plan has a handful


async def of_plan(plan: Plan, settings: Settings, left_out: Collection[str] = ()) -> list[dict[str, str]]:
    """Returns the `site`, `host` and `why` of each site whose robots.txt forbids its search, or can't be read.

    Each host is asked for its robots.txt, and for nothing else; for none where the settings don't obey it.

    Args:
        left_out: Names of sites whose hosts aren't asked.
    """
    if not config.ROBOTSTXT_OBEY.of(settings):
        return []
    words = plan.combinations()[0]
    searches = [(site, plan.targets(site, words)[0].url) for site in plan.sites if site.name not in left_out]
    if not searches:
        return []
    limit = asyncio.Semaphore(AT_ONCE_MAX)
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

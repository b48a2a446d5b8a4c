"""Which hosts a plan would search in vain with the settings at hand: said before it is sent, not found out after."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import CannotResolveHostError, UnsupportedURLSchemeError

from crawler.base.errors import PrivateAddressError
from crawler.download.targets import Targets

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawler.plans import Plan

LOOKUP_SECONDS = 3.0  # for all names together: a name server that is slower says nothing of a host


async def of_plan(plan: Plan, settings: BaseSettings) -> list[dict[str, str]]:
    """Returns the `site`, `host` and `why` of each site whose search these settings refuse, or can't find.

    Names are looked up, and nothing is connected to. What isn't known in time isn't warned of.
    """
    urls: dict[str, str] = {}
    for seed in plan.nav_seeds(edition=0):
        urls.setdefault(seed.site, seed.url)
    targets, proxies = Targets.from_settings(settings), HttpProxyMiddleware()
    found = await asyncio.gather(*(_why_in_vain(url, targets, proxies) for url in urls.values()))
    return [
        {"site": site, "host": urlsplit(url).hostname or "", "why": why}
        for (site, url), why in zip(urls.items(), found, strict=True)
        if why
    ]


def lines(found: list[dict[str, str]]) -> list[str]:
    """Returns warnings as lines to print."""
    return [f"warning: site {one['site']}: {one['why']}" for one in found]


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

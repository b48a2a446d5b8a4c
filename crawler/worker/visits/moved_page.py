"""Whether a page that redirects on its host is another page there, crawled once whatever leads to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.base import urls
from crawler.base.models import SentOn
from crawler.extract.login import leads_to_login

if TYPE_CHECKING:
    from crawler.base.models import Seed
    from crawler.sites import Site


def has_moved(seed: Seed, target: str, site: Site, *, for_good: bool = False) -> bool:
    """Returns whether a seed's page is another one since it redirects to an address of its host.

    It isn't where that is the address that has led here: browsers, too, would go round, and may come to a page. Nor
    where it may be a login: then the page is where it was, for those who may see it. A page that is visited again and
    again has a target of its own each time.

    Args:
        target: Canonical.
        for_good: The server says that it has moved for good.
    """
    if seed.frontier != "content" or (not for_good and (seed.interval_s or leads_to_login(SentOn(seed.url, target)))):
        return False
    if site.address_of(seed.url) != seed.url:  # what was asked for is fetched in the page's place
        return False
    moved = replace(seed, url=urls.canonical(target, drop=site.drop, routes=True))
    return moved.fingerprint != seed.fingerprint and moved.url != seed.stands_for

"""Whether a page that redirects on its host is another page there, crawled once whatever leads to it.

A site may send all its pages to one for a while: to say that it is being mended, or that somebody asks too often. Those
pages haven't moved, and are to be had later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.utils.datatypes import LocalCache

from crawler.base import urls
from crawler.base.models import SentOn
from crawler.extract.login import leads_to_login

if TYPE_CHECKING:
    from crawler.base.models import Seed
    from crawler.sites import Site

MAX_SENT_TO_ONE = 20  # pages of a worker that may be sent on, not for good, to one page: names of a product, say
MAX_TARGETS = 10_000  # that are counted, in some 2 MB


class SharedTargets:
    """Counts how many pages of a worker were sent on to each page, not for good."""

    def __init__(self) -> None:
        self._numbers: LocalCache[str, int] = LocalCache(MAX_TARGETS)

    def has_too_many(self, target: str) -> bool:
        """Counts a page that is sent on to a target, and returns whether that were too many before."""
        number = self._numbers.get(target, 0)
        self._numbers[target] = number + 1
        return number >= MAX_SENT_TO_ONE


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

"""Downloader middleware that refuses pages whose site nobody has defined: they could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.base import reasons
from crawler.worker.definitions.site_cache import UNREAD_SITE_SECONDS
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.worker.definitions.site_cache import SiteCache

UNKNOWN_SITE_SECONDS = 60.0  # when Redis is asked again: somebody must see it and submit the site's plan once more


class KnownSiteMiddleware:
    """Puts visits off whose site isn't known, before anything is sent for them."""

    def __init__(self, sites: SiteCache) -> None:
        self._sites = sites

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Finds the worker's sites."""
        return cls(Worker.of(crawler).claiming.sites)

    def process_request(self, request: Request) -> None:
        """Lets requests of visits pass whose site is known.

        Raises:
            RefusedError: The site isn't known; the seed is tried again later, and fails when its tries are used up.
                Or it isn't known yet, since Redis is away; the seed is due again later, and that was no try.
        """
        state = state_of(request)
        if state is None or self._sites.get(state.visit.seed.site) is not None:
            return
        if self._sites.is_being_read(state.visit.seed.site):
            raise RefusedError(Outcome("postpone", reasons.UNREAD_SITE), UNREAD_SITE_SECONDS)
        raise RefusedError(Outcome("retry", reasons.UNKNOWN_SITE), UNKNOWN_SITE_SECONDS)

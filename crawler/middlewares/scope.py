"""Downloader middleware that refuses other schemes than http(s), private addresses, and what plans have out of scope.

This checks the addresses that URLs name. Those that host names resolve to are checked in `crawler/download/targets.py`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Self

from crawler import config
from crawler.base import reasons, urls
from crawler.base.errors import UnavailableError, UrlError
from crawler.download.private_addresses import is_private
from crawler.worker.definitions.site_cache import UNREAD_SITE_SECONDS
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.page_request import canonical_url
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.visits.visit_scope import VisitScope
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.base.models import Seed
    from crawler.worker.definitions.plan_crawl import PlanCrawl
    from crawler.worker.visits.visit import Visit

MAX_HOSTS = 10_000  # most hosts whose check is remembered
_is_private = lru_cache(MAX_HOSTS)(is_private)


class ScopeMiddleware:
    """Refuses requests of a visit to anything but the public web."""

    def __init__(self, crawl_of: Callable[[Seed], PlanCrawl], *, allow_private: bool) -> None:
        self._crawl_of = crawl_of
        self._allow_private = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads the setting."""

        def crawl_of(seed: Seed) -> PlanCrawl:
            return Worker.of(crawler).claiming.plan_crawls.get(seed)

        return cls(crawl_of, allow_private=config.ALLOW_PRIVATE_ADDRESSES.of(crawler.settings))

    def process_request(self, request: Request) -> None:
        """Lets requests to public hosts pass.

        Raises:
            RefusedError: The URL isn't valid, has another scheme, names a private address, or is out of scope. Or
                it can't be told here now whether it is; then the seed is due again later, and that was no try.
        """
        state = state_of(request)
        if state is None:
            return
        try:
            url = canonical_url(request)
            host = urls.hostname(url)
        except UrlError:
            raise RefusedError(Outcome("fail", reasons.BAD_URL)) from None
        if not self._allow_private and _is_private(host):
            raise RefusedError(Outcome("fail", reasons.PRIVATE_ADDRESS))
        if state.visit.scope is None and state.purpose.is_page:
            self._find_scope(state.visit)
        if state.visit.scope is not None and (kind := state.purpose.kind):
            state.visit.scope.judge(url, kind)

    def _find_scope(self, visit: Visit) -> None:
        """Looks whether the plans of a visit have a scope; those of search pages are what the plans themselves name."""
        if visit.seed.frontier != "content" or not any(seed.general for seed in visit.seeds):
            return
        try:
            crawls = [(seed, self._crawl_of(seed)) for seed in visit.seeds if seed.general]
        except UnavailableError as error:
            visit.error_text = str(error)
            raise RefusedError(Outcome("postpone", reasons.UNAVAILABLE), UNREAD_SITE_SECONDS) from None
        for seed, crawl in crawls:
            visit.judged_by(seed, crawl.edition)
        if scopes := [(seed, crawl.scope) for seed, crawl in crawls if crawl.scope is not None]:
            visit.scope = VisitScope(visit, scopes)

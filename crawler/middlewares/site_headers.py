"""Downloader middleware that gives requests the headers and cookies of their site's file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from crawler.base import log_events, reasons
from crawler.base.seldom import Seldom
from crawler.download.site_headers import NoSecretError, SiteHeaders
from crawler.worker.visits.chain_cookies import joined_cookies
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.page_request import canonical_url
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.base.log_events import EventLogger
    from crawler.worker.definitions.site_cache import SiteCache

logger: EventLogger = logging.getLogger(__name__)
NO_SECRET = Outcome("postpone", reasons.NO_SECRET)  # nothing was sent, so it is no try
NO_SECRET_SECONDS = 60.0  # when the page is claimed again, perhaps by a worker that has the secret


class SiteHeadersMiddleware:
    """Sets the headers anew for each request, also for each redirect: what was for one place isn't sent to the next.

    Not for robots.txt, nor for what asks whether anybody answers: those are the crawl's own requests.
    """

    def __init__(self, headers: SiteHeaders, sites: SiteCache) -> None:
        self._headers = headers
        self._sites = sites
        self._warn = Seldom(logger.error)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads the setting.

        Raises:
            ConfigError: SITE_SECRET_HOSTS is wrong.
        """
        return cls(SiteHeaders.of(crawler.settings), Worker.of(crawler).claiming.sites)

    def process_request(self, request: Request) -> None:
        """Lets requests pass.

        Raises:
            RefusedError: A secret is missing; the seed waits, and that was no try.
        """
        state = state_of(request)
        if state is None or state.purpose.is_robots_txt:
            return
        seed = state.visit.seed
        site = self._sites.get(seed.site)
        assert site is not None  # KnownSiteMiddleware sends no request before it is known
        if not site.headers and not site.cookies:
            return
        for name in self._headers.names(site):
            request.headers.pop(name, None)
        try:
            headers = self._headers.at(site, canonical_url(request), seed.trusted_host)
        except NoSecretError as error:
            self._warn(log_events.SITE_SECRET_MISSING, error)
            raise RefusedError(NO_SECRET, NO_SECRET_SECONDS) from error
        if state.purpose.page_cookies and site.cookies:
            headers["Cookie"] = joined_cookies(headers.get("Cookie", ""), state.purpose.page_cookies)
        for name, value in headers.items():
            request.headers[name] = value

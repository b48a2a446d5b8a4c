"""Downloader middleware that keeps robots.txt (RFC 9309); `crawler/robots/` finds, parses and caches the files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from crawler import config
from crawler.base import reasons, urls
from crawler.robots.file import page_delay_s
from crawler.robots.finder import RobotsFinder
from crawler.robots.rules import robot_name
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.page_request import canonical_url
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector


class RobotsMiddleware:
    """Refuses what robots.txt disallows for this crawler, and says which Crawl-delay its request must keep.

    Args:
        retry_s: ROBOTS_RETRY_SECONDS: the delay until a page is tried again the first time.
    """

    def __init__(self, finder: RobotsFinder, stats: StatsCollector, *, retry_s: float) -> None:
        self._finder = finder
        self._stats = stats
        self._retry_s = retry_s

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware.

        Raises:
            NotConfigured: ROBOTSTXT_OBEY is off.
            ConfigError: A setting is wrong.
        """
        settings, worker = crawler.settings, Worker.of(crawler)
        if not config.ROBOTSTXT_OBEY.of(settings):
            raise NotConfigured("ROBOTSTXT_OBEY is off")
        retry_s = config.ROBOTS_RETRY_SECONDS.of(settings)
        finder = RobotsFinder(
            crawler,
            worker,
            robot_name(settings),
            retry_s=retry_s,
            max_delay_s=config.ROBOTS_MAX_CRAWL_DELAY_SECONDS.of(settings),
            timeout_s=config.DOWNLOAD_TIMEOUT.of(settings),
        )
        assert crawler.stats is not None  # Scrapy makes the statistics before the middlewares
        return cls(finder, crawler.stats, retry_s=retry_s)

    async def process_request(self, request: Request) -> None:
        """Lets requests pass that the rules allow.

        Raises:
            RefusedError: `robots`: the rules forbid it; `robots-unreachable`: there are no rules for now, which counts
                as a try if the host was asked for them, or for a page, while the visit held the seed.
            HeadroomError: The visit may fetch no more, or the session was lost, before the rules were found.
        """
        state = state_of(request)
        if state is None or request.meta.get("dont_obey_robotstxt"):
            return
        visit, began = state.visit, asyncio.get_running_loop().time()
        url = canonical_url(request)
        authority = urls.origin(url)
        cached = self._finder.cached(authority)
        if cached is None:  # the search ends with the visit, also where Redis doesn't answer
            cached = await visit.run(self._finder.find(authority, urls.host(url), state))
        if cached.rules is None:
            wait_s = max(0.0, cached.until - asyncio.get_running_loop().time())
            if cached.asked_at < began and not visit.started:
                raise RefusedError(Outcome("postpone", reasons.ROBOTS_UNREACHABLE), wait_s)
            raise RefusedError(
                Outcome("retry", reasons.ROBOTS_UNREACHABLE),
                max(wait_s, page_delay_s(visit.claimed.tries, self._retry_s)),
            )
        state.crawl_delay_s = cached.delay_s
        if not cached.rules.allows(request.url):
            self._stats.inc_value("robotstxt/forbidden")
            raise RefusedError(Outcome("fail", reasons.ROBOTS))

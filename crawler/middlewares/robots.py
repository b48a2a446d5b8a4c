"""Downloader middleware that keeps robots.txt (RFC 9309); `crawler/robots/` finds, parses and caches the files."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from crawler import config, urls
from crawler.robots.file import MAX_DELAY_SECONDS
from crawler.robots.finder import RobotsFinder
from crawler.robots.rules import product_token
from crawler.worker.outcomes import Outcome
from crawler.worker.refused import RefusedError
from crawler.worker.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

# Retry delay of a refused seed, as a factor of the time until the file is asked for again; random, so that seeds that
# were refused together don't come back together.
DELAY_FACTOR = (1.0, 1.25)


class RobotsMiddleware:
    """Refuses what robots.txt disallows for this crawler, and keeps the Crawl-delay.

    Args:
        max_failures: MAX_ATTEMPTS: a seed fails when its robots.txt was unreachable so often in a row.
    """

    def __init__(self, finder: RobotsFinder, stats: StatsCollector, *, max_failures: int) -> None:
        self._finder = finder
        self._stats = stats
        self._max_failures = max_failures

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware.

        Raises:
            NotConfigured: ROBOTSTXT_OBEY is off.
            ConfigError: A setting is wrong.
        """
        settings, worker = crawler.settings, Worker.of(crawler)
        if not config.flag(settings, "ROBOTSTXT_OBEY"):
            raise NotConfigured("ROBOTSTXT_OBEY is off")
        finder = RobotsFinder(
            crawler,
            worker,
            product_token(str(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])),
            retry_s=config.number(settings, "ROBOTS_RETRY_SECONDS", 0, MAX_DELAY_SECONDS),
            max_delay_s=config.number(settings, "ROBOTS_MAX_CRAWL_DELAY_SECONDS", 0, 3_600),
            timeout_s=config.number(settings, "DOWNLOAD_TIMEOUT", 0.1, 3_600),
        )
        assert crawler.stats is not None  # Scrapy makes the statistics before the middlewares
        return cls(finder, crawler.stats, max_failures=worker.config.frontier.max_attempts)

    async def process_request(self, request: Request) -> None:
        """Lets requests pass that the rules allow.

        Raises:
            RefusedError: `robots`: the rules forbid it; `robots-unreachable`: there are no rules for now.
            HeadroomError: The visit may fetch no more, or the session was lost, before the rules were found.
        """
        state = state_of(request)
        if state is None or request.meta.get("dont_obey_robotstxt"):
            return
        url = request.url if "verbatim_url" in request.meta else urls.canonical(request.url)
        authority = urls.origin(url)
        cached = self._finder.cached(authority) or await self._finder.find(authority, urls.host(url), state)
        if cached.rules is None:
            failed = cached.failures >= self._max_failures
            delay_s = max(0.0, cached.until - asyncio.get_running_loop().time()) * random.uniform(*DELAY_FACTOR)
            raise RefusedError(Outcome("fail" if failed else "retry", "robots-unreachable"), delay_s)
        lane = state.held_lane
        if cached.delay_s and (lane is None or lane.delay_s < cached.delay_s):
            await self._finder.slow_down(urls.host(url), lane, cached.delay_s)
        if not cached.rules.allows(request.url):
            self._stats.inc_value("robotstxt/forbidden")
            raise RefusedError(Outcome("fail", "robots"))

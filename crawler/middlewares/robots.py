"""Downloader middleware: robots.txt, by RFC 9309. Each authority's file is fetched once and kept for a day.

4xx means there are no rules; 5xx or no answer means that nothing may be fetched for now, and the file is asked for again soon. It is
fetched on the turn of the page that needs it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.utils.datatypes import LocalCache

from crawler import config
from crawler.middlewares.refused import RefusedError
from crawler.outcomes import Outcome, of_exception

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
KEEP_SECONDS = 86_400  # RFC 9309, 2.4: no longer than 24 hours
ASK_AGAIN_SECONDS = 60  # a server that was down is asked again after that
MOST_AUTHORITIES = 10_000  # kept in memory
MOST_BYTES = 500 * 1024  # RFC 9309, 2.5: at least that much is parsed; the rest is ignored


@dataclass(frozen=True, slots=True)
class Rules:
    """One authority's rules.

    Attributes:
        parser: None: everything is allowed.
        reachable: False: nothing may be fetched for now.
    """

    until: float
    parser: Protego | None = None
    reachable: bool = True


class RobotsMiddleware:
    """Refuses what robots.txt disallows for this crawler.

    Args:
        agent: The product token that groups are matched with: the User-Agent up to its version.
    """

    def __init__(self, crawler: Crawler, agent: str) -> None:
        self._crawler = crawler
        self._agent = agent
        self._rules: LocalCache[str, asyncio.Future[Rules]] = LocalCache(limit=MOST_AUTHORITIES)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware.

        Raises:
            NotConfigured: ROBOTSTXT_OBEY is off.
        """
        if not config.flag(crawler.settings, "ROBOTSTXT_OBEY"):
            raise NotConfigured("ROBOTSTXT_OBEY is off")
        agent = crawler.settings["ROBOTSTXT_USER_AGENT"] or crawler.settings["USER_AGENT"]
        return cls(crawler, str(agent).partition("/")[0].strip())

    async def process_request(self, request: Request) -> None:
        """Lets pass what the rules allow.

        Raises:
            RefusedError: `robots`, or `robots-unreachable` while the rules can't be read.
        """
        if "visit" not in request.meta or request.meta.get("dont_obey_robotstxt"):
            return
        rules = await self._rules_for(request)
        if not rules.reachable:
            raise RefusedError(Outcome("retry", "robots-unreachable"))
        if rules.parser is not None and not rules.parser.can_fetch(request.url, self._agent):
            self._crawler.stats.inc_value("robotstxt/forbidden")
            raise RefusedError(Outcome("fail", "robots"))

    async def _rules_for(self, request: Request) -> Rules:
        parts = urlsplit(request.url)
        authority = f"{parts.scheme}://{parts.netloc}"
        known = self._rules.get(authority)
        if known is not None and not (known.done() and known.result().until < time.monotonic()):
            return await asyncio.shield(known)
        asked: asyncio.Future[Rules] = asyncio.get_running_loop().create_future()
        self._rules[authority] = asked
        rules = Rules(time.monotonic() + ASK_AGAIN_SECONDS, reachable=False)
        try:
            rules = await self._fetch(f"{authority}/robots.txt", request)
        finally:
            asked.set_result(rules)
        return rules

    async def _fetch(self, url: str, request: Request) -> Rules:
        engine = self._crawler.engine
        assert engine is not None  # it runs us
        meta = {name: request.meta[name] for name in ("visit", "lane") if name in request.meta}
        self._crawler.stats.inc_value("robotstxt/request_count")
        try:
            response = await engine.download_async(Request(url, meta={**meta, "dont_obey_robotstxt": True}, dont_filter=True))
        except Exception as error:  # noqa: BLE001 -- whatever a download raises: there was no answer
            logger.info("%s: %s", url, of_exception(error).reason)
            return Rules(time.monotonic() + ASK_AGAIN_SECONDS, reachable=False)
        now = time.monotonic()
        if response.status < HTTPStatus.MULTIPLE_CHOICES:
            return Rules(now + KEEP_SECONDS, Protego.parse(response.body[:MOST_BYTES].decode("utf-8-sig", "replace")))
        if response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return Rules(now + KEEP_SECONDS)
        return Rules(now + ASK_AGAIN_SECONDS, reachable=False)

"""Downloader middleware that refuses what must never be fetched: other schemes than http(s), private addresses.

This checks the addresses that URLs name. Those that host names resolve to are checked in `crawler/download/targets.py`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Self

from crawler import config
from crawler.base import reasons, urls
from crawler.base.errors import UrlError
from crawler.download.private_addresses import is_private
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.page_request import canonical_url
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

MAX_HOSTS = 10_000  # most hosts whose check is remembered
_is_private = lru_cache(MAX_HOSTS)(is_private)


class ScopeMiddleware:
    """Refuses requests of a visit to anything but the public web."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads the setting."""
        return cls(allow_private=config.ALLOW_PRIVATE_ADDRESSES.of(crawler.settings))

    def process_request(self, request: Request) -> None:
        """Lets requests to public hosts pass.

        Raises:
            RefusedError: The URL isn't valid, has another scheme, or names a private address.
        """
        if state_of(request) is None:
            return
        try:
            host = urls.hostname(canonical_url(request))
        except UrlError:
            raise RefusedError(Outcome("fail", reasons.BAD_URL)) from None
        if not self._allow_private and _is_private(host):
            raise RefusedError(Outcome("fail", reasons.PRIVATE_ADDRESS))

"""Downloader middleware: what the crawler never asks for, whoever linked to it: other schemes, private addresses.

Names are judged when they are resolved, before anything is sent (download/targets.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Self

from crawler import config, urls
from crawler.download.private_addresses import is_private
from crawler.errors import UrlError
from crawler.worker.outcomes import Outcome
from crawler.worker.refused import RefusedError
from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


HOSTS_REMEMBERED = 10_000
_is_private = lru_cache(HOSTS_REMEMBERED)(is_private)


class ScopeMiddleware:
    """Refuses requests of a visit that lead out of the public web.

    Args:
        allow_private: ALLOW_PRIVATE_ADDRESSES.
    """

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Reads the setting."""
        return cls(allow_private=config.flag(crawler.settings, "ALLOW_PRIVATE_ADDRESSES"))

    def process_request(self, request: Request) -> None:
        """Lets public http(s) pass.

        Raises:
            RefusedError: Anything else.
        """
        if state_of(request) is None:
            return
        try:
            canonical = request.url if "verbatim_url" in request.meta else urls.canonical(request.url)
        except UrlError:
            raise RefusedError(Outcome("fail", "bad-url")) from None
        host = urls.hostname(canonical)
        if not self._allow_private and _is_private(host):
            raise RefusedError(Outcome("fail", "private-address"))

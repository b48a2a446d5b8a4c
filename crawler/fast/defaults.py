"""Scrapy's four downloader middlewares that give every request the same, in one pass.

A request without headers of its own gets a copy of what the four make of such a one; any other goes through them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.downloadermiddlewares.defaultheaders import DefaultHeadersMiddleware
from scrapy.downloadermiddlewares.downloadtimeout import DownloadTimeoutMiddleware
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

NOBODYS = "http://x.invalid/"  # no credentials are for that domain


class LeanDefaults:
    """HttpAuth, DownloadTimeout, DefaultHeaders and UserAgent, in their order and with their settings."""

    def __init__(self, middlewares: list[Any]) -> None:
        self._middlewares = middlewares
        self._timeout: float | None = None
        self._headers: dict[bytes, list[bytes]] | None = None  # None: requests differ

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the four."""
        kinds: list[Any] = [
            HttpAuthMiddleware,
            DownloadTimeoutMiddleware,
            DefaultHeadersMiddleware,
            UserAgentMiddleware,
        ]
        middleware = cls([kind.from_crawler(crawler) for kind in kinds])
        crawler.signals.connect(middleware.spider_opened, signal=signals.spider_opened)  # the four listen, too, before
        return middleware

    def spider_opened(self, spider: Spider) -> None:  # noqa: ARG002 -- the signal's
        """Looks what the four make of a plain request; nothing that can change while the spider is open."""
        sample = Request(NOBODYS)
        self._through(sample)
        auth: Any = self._middlewares[0]
        credentials = auth._auth  # noqa: SLF001 -- for some hosts perhaps, and not for others
        self._headers = None if credentials else {name: sample.headers.getlist(name) for name in sample.headers}
        self._timeout = sample.meta.get("download_timeout")

    def process_request(self, request: Request) -> None:
        """Gives a request what it lacks."""
        meta = request.meta
        if self._headers is None or request.headers or "http_user" in meta or "http_pass" in meta:
            self._through(request)
            return
        headers = request.headers
        for name, values in self._headers.items():
            dict.__setitem__(headers, name, [*values])
        if self._timeout:
            meta.setdefault("download_timeout", self._timeout)

    def _through(self, request: Request) -> None:
        for middleware in self._middlewares:
            middleware.process_request(request)

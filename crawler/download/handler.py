"""Scrapy's HTTP handler, with downloads that end with their visit: none runs on for a seed that others have now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.httpobj import urlparse_cached

from crawler import config
from crawler.download import bounds
from crawler.download.answererrors import answer_error
from crawler.download.resolver import Lookup, lookup, refuse_private
from crawler.download.tls import StrictPolicy
from crawler.errors import PrivateAddressError
from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class VisitDownloadHandler(HTTP11DownloadHandler):
    """Downloads for visits can be cut off; others are Scrapy's business."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        bounds.bound(self._pool)
        if config.flag(crawler.settings, "DOWNLOAD_VERIFY_CERTIFICATES"):
            self._contextFactory: Any = StrictPolicy(self._contextFactory)

    async def download_request(self, request: Request) -> Response:
        """Returns the response.

        Raises:
            SessionLostError: The visit was abandoned or handed back meanwhile; the connection is closed.
            PageTimeoutError: The page's time was up; likewise.
        """
        state = state_of(request)
        if state is None:
            return await self._download(request)
        return await state.visit.run(self._download(request))

    async def _download(self, request: Request) -> Response:
        """Downloads from public addresses, and through proxies anywhere (resolver.py).

        Raises:
            PrivateAddressError: The host has only others, or one that a proxy mustn't be asked for.
            AnswerError: What came is no answer that a page could be had from.
        """
        name = urlparse_cached(request).hostname or ""
        looked = Lookup(any_address=bool(request.meta.get("proxy")))
        if looked.any_address:
            await refuse_private(name)
        token = lookup.set(looked)
        try:
            return await super().download_request(request)
        except CannotResolveHostError:
            if looked.refused:
                raise PrivateAddressError(f"{name} has a private address") from None
            raise
        except Exception as error:
            if said := answer_error(error):
                raise said from error
            raise
        finally:
            lookup.reset(token)

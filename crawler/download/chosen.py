"""The download handler: libcurl's, or Scrapy's own client where a site or a request asks for that one.

And where libcurl refuses an answer for a header line that browsers skip: there Scrapy's client reads what the host
says, from then on. The first such page is asked for once more, when its turn allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.utils.datatypes import LocalCache

from crawler.download.curl import CurlDownloadHandler
from crawler.download.curl_errors import OddHeadError
from crawler.download.handler import VisitDownloadHandler
from crawler.download.resend import may_go_again, next_start
from crawler.download.targets import begin_of
from crawler.worker.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


HOSTS_REMEMBERED = 10_000  # whose heads libcurl refuses: some 200 bytes each


class ChosenDownloadHandler(BaseDownloadHandler):
    """Hands a request to one of two handlers.

    `request.meta["download_handler"]` (`curl`, `scrapy`) says which; else its site's `handler`.
    """

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._curl = CurlDownloadHandler(crawler)
        self._scrapy: VisitDownloadHandler | None = None
        self._odd: LocalCache[str, None] = LocalCache(HOSTS_REMEMBERED)
        self._worker = crawler.get_extension(Worker)

    async def download_request(self, request: Request) -> Response:
        """Returns the response.

        Raises:
            Exception: What the handlers raise.
        """
        if self._choice(request) == "scrapy" or (self._odd and begin_of(request.url) in self._odd):
            return await self._by_scrapy(request)
        try:
            return await self._curl.download_request(request)
        except OddHeadError:
            self._odd[begin_of(request.url)] = None
            if not may_go_again(request):
                raise
        await next_start(request, self.crawler)
        return await self._by_scrapy(request)

    async def close(self) -> None:
        """Ends all connections."""
        await self._curl.close()
        if self._scrapy is not None:
            await self._scrapy.close()

    def _choice(self, request: Request) -> str:
        chosen: str | None = request.meta.get("download_handler")
        if chosen is None and self._worker is not None:
            state = state_of(request)
            site = None if state is None else self._worker.sites.get(state.visit.seed.site)
            return "" if site is None else site.handler
        return chosen or ""

    async def _by_scrapy(self, request: Request) -> Response:
        if self._scrapy is None:
            self._scrapy = VisitDownloadHandler(self.crawler)
        return await self._scrapy.download_request(request)

"""Scrapy's HTTP handler, with downloads that end with their visit: none runs on for a seed that others have now."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

from crawler.errors import SessionLostError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from crawler.visits import Visit


class VisitDownloadHandler(HTTP11DownloadHandler):
    """Downloads for visits can be cut off; others are Scrapy's business."""

    async def download_request(self, request: Request) -> Response:
        """Returns the response.

        Raises:
            SessionLostError: The visit was abandoned or handed back meanwhile; the connection is closed.
        """
        visit: Visit | None = request.meta.get("visit")
        if visit is None:
            return await super().download_request(request)
        download = asyncio.ensure_future(super().download_request(request))
        visit.running.add(download)
        try:
            return await download
        except asyncio.CancelledError:
            if visit.ended:
                raise SessionLostError("the visit was cut off") from None
            raise
        finally:
            visit.running.discard(download)

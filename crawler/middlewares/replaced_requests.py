"""Notices requests that a downloader middleware has answered with another one, whose meta isn't ours.

No signal of Scrapy's names the first request then, and nobody calls it back. What the downloader gives for a request
is the one place that has both, so its `fetch` is listened to, whichever downloader the setting DOWNLOADER names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from twisted.python.failure import Failure

from crawler.worker.claiming.request_state import part_of

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.internet.defer import Deferred


def watch(downloader: Any) -> None:
    """Has the parts of visits end whose requests leave a downloader for good, with nobody to be called back."""
    fetch = downloader.fetch
    fetch_async = getattr(downloader, "fetch_async", None)  # of crawler/fast/downloader.py

    def fetch_watched(request: Request, *spider: Any) -> Deferred[Response | Request]:
        fetched: Deferred[Response | Request] = fetch(request, *spider)
        return fetched.addBoth(_note, request)

    downloader.fetch = fetch_watched
    if fetch_async is None:
        return

    async def fetch_async_watched(request: Request) -> Any:
        try:
            result = await fetch_async(request)
        except BaseException:
            _note_error(request)
            raise
        return _note(result, request)

    downloader.fetch_async = fetch_async_watched


def _note(result: Any, request: Request) -> Any:
    if isinstance(result, Request):
        part = part_of(request)
        if part is not None and part_of(result) is not part:
            part.drop()
    elif isinstance(result, Failure):
        _note_error(request)
    return result


def _note_error(request: Request) -> None:
    """Ends the part of a request that failed, where a middleware has taken the errback from it."""
    if request.errback is None and (part := part_of(request)) is not None:
        part.drop()

"""Notices requests that a downloader middleware has answered with another one, whose meta isn't ours.

No signal of Scrapy's names the first request then, and nobody calls it back. What the downloader gives for a request
is the one place that has both, so its `fetch` is listened to, whichever downloader the setting DOWNLOADER names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request
from twisted.python.failure import Failure

from crawler.worker.visits.request_state import part_of

if TYPE_CHECKING:
    from scrapy.http import Response
    from twisted.internet.defer import Deferred


def watch(downloader: Any) -> None:
    """Has the parts of visits end whose requests leave a downloader for good, with nobody to be called back."""
    fetch = downloader.fetch

    def fetch_watched(request: Request, *spider: Any) -> Deferred[Response | Request]:
        fetched: Deferred[Response | Request] = fetch(request, *spider)
        return fetched.addBoth(_note, request)

    downloader.fetch = fetch_watched


def _note(result: Any, request: Request) -> Any:
    part = part_of(request)
    if part is None:
        return result
    is_replaced = isinstance(result, Request) and part_of(result) is not part
    is_disarmed = isinstance(result, Failure) and request.errback is None  # a middleware has taken its errback from it
    if is_replaced or is_disarmed:
        part.drop()
    return result

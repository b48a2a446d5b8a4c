"""Spider middleware: counts what a callback yields for its visit, so that delivery knows when all of it has arrived."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request

from crawler import urls
from crawler.errors import UrlError
from crawler.models import Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.visits import Visit


class VisitSpiderMiddleware:
    """Opens a part of the visit for every item and request that a callback yields, and ends the callback's own part."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware."""
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Passes everything on, counted. What a visit that was handed back or lost still yields is dropped."""
        visit: Visit | None = response.meta.get("visit")
        if visit is None:
            async for output in result:
                yield output
            return
        try:
            async for output in result:
                if visit.ended:
                    return
                if isinstance(output, Request):
                    self._follow(output, visit)
                else:
                    visit.items += 1
                    visit.part_begins(fetches=isinstance(output, Page))
                yield output
        finally:
            visit.fetch_ends()
            visit.part_ends()

    def _follow(self, request: Request, visit: Visit) -> None:
        """Ties a request of a user's callback to the visit: it runs on the visit's turn, or borrows one for another host."""
        visit.part_begins(fetches=True)
        request.meta["visit"] = visit
        request.meta.pop("lane", None)
        try:
            same_host = urls.host(urls.canonical(request.url)) == visit.lane.host
        except UrlError:
            same_host = True  # it fails on this turn, before anything is sent
        if same_host:
            request.meta["lane"] = visit.lane
        request.errback = partial(self._failed, request.errback)

    def _failed(self, errback: Callable[[Failure], Any] | None, failure: Failure) -> Any:
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
        visit: Visit = request.meta["visit"]
        try:
            return errback(failure) if errback else None
        finally:
            visit.fetch_ends()
            visit.part_ends()

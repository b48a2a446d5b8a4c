"""Downloader middleware, the last before the wire: no request leaves without its host's turn, its delay and a live session.

Every request of a visit passes here: the page, its robots.txt, its further pages, its redirects on the host, its media.
Requests outside the frontier (`scrapy shell`, a spider of your own) are Scrapy's business and pass untouched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler import urls
from crawler.middlewares.refused import RefusedError
from crawler.outcomes import Outcome
from crawler.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.visits import Lane, Visit


class TurnMiddleware:
    """Waits for the lane of each request."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware over the worker extension."""
        return cls(Worker.of(crawler))

    async def process_request(self, request: Request) -> None:
        """Lets the request through when its turn allows.

        Raises:
            RefusedError: The visit is no longer ours; nothing was sent.
        """
        visit: Visit | None = request.meta.get("visit")
        if visit is None:
            return
        lane: Lane | None = request.meta.get("lane")
        if lane is None:
            lane = await self._worker.borrow(urls.host(urls.canonical(request.url)), visit.seed.site)
            request.meta["lane"] = request.meta["borrowed"] = lane
        await lane.start()
        request.meta["sending"] = True
        if visit.ended or not self._worker.session.alive:
            self._done(request)
            raise RefusedError(Outcome("back", "no-session"))

    def process_response(self, request: Request, response: Response) -> Response:
        """Frees the lane for its next request."""
        self._done(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002 -- Scrapy's interface
        """Likewise."""
        self._done(request)

    def _done(self, request: Request) -> None:
        if not request.meta.pop("sending", False):  # never sent: another middleware answered or refused it
            return
        lane: Lane = request.meta["lane"]
        lane.done()
        if request.meta.pop("borrowed", None) is lane:
            del request.meta["lane"]
            self._worker.give_back(lane)

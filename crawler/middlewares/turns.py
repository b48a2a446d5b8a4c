"""Downloader middleware, the last before the wire: nothing leaves without its host's turn, its delay, a live session.

Every request of a visit passes here: the page, its robots.txt, its further pages, its redirects on the host, its media.
Requests outside the frontier (`scrapy shell`, a spider of your own) are Scrapy's business and pass untouched.
"""

from __future__ import annotations

import asyncio
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

NO_SESSION = Outcome("back", "no-session")


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
            FrontierError: Likewise, while a turn was waited for.
        """
        visit: Visit | None = request.meta.get("visit")
        if visit is None:
            return
        if visit.ended:
            raise RefusedError(NO_SESSION)
        lane: Lane | None = request.meta.get("lane")
        if lane is None or lane.returned:
            lane = await self._worker.borrow(urls.host(urls.canonical(request.url)), visit.seed.site)
            request.meta["lane"] = request.meta["borrowed"] = lane
        try:
            await _start(lane, visit)
        except BaseException:
            self._return_borrowed(request)
            raise
        request.meta["sending"] = True
        if visit.ended or lane.returned or not self._is_ours(visit):
            self._done(request)
            raise RefusedError(NO_SESSION)

    def process_response(self, request: Request, response: Response) -> Response:
        """Frees the lane for its next request."""
        self._done(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002 -- Scrapy's interface
        """Likewise."""
        self._done(request)

    def _is_ours(self, visit: Visit) -> bool:
        """Whether the session is alive, and is the one that the seed was claimed in."""
        session = self._worker.session
        return session.alive and visit.claimed.claim.startswith(f"{session.owner}#")

    def _done(self, request: Request) -> None:
        if request.meta.pop("sending", False):  # else never sent: another middleware answered or refused it
            request.meta["lane"].done()
            self._return_borrowed(request)

    def _return_borrowed(self, request: Request) -> None:
        lane: Lane | None = request.meta.pop("borrowed", None)
        if lane is not None:
            del request.meta["lane"]
            self._worker.give_back(lane)


async def _start(lane: Lane, visit: Visit) -> None:
    """Waits for the lane, unless the visit is cut off meanwhile.

    Raises:
        RefusedError: It was.
    """
    if lane.ready:
        await lane.start()
        return
    starting = asyncio.ensure_future(lane.start())
    visit.running.add(starting)
    try:
        await starting
    except asyncio.CancelledError:
        if visit.ended:
            raise RefusedError(NO_SESSION) from None
        raise
    finally:
        visit.running.discard(starting)

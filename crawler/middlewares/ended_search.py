"""Downloader middleware that spares search pages behind the end of their search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from crawler.worker.outcomes import Outcome
from crawler.worker.refused import RefusedError
from crawler.worker.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.worker.searches import Searches

PAST_THE_END = Outcome("finish", "past-the-end")


class EndedSearchMiddleware:
    """Finishes search pages without a request where an earlier page of the search had no results."""

    def __init__(self, searches: Searches) -> None:
        self._searches = searches

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Finds the worker's searches.

        Raises:
            NotConfigured: The worker reads no search pages.
        """
        worker = Worker.of(crawler)
        if worker.frontier != "nav":
            raise NotConfigured
        return cls(worker.searches)

    async def process_request(self, request: Request) -> None:
        """Lets requests pass unless they are for a search page behind the end.

        Its robots.txt others need, too; and what a callback asks for, it has found on a page that was read.

        Raises:
            RefusedError: There is nothing on the page; its seed is finished.
        """
        state = state_of(request)
        if state is None or not state.is_page:
            return
        if await self._searches.ended_before(state.visit.claimed):
            raise RefusedError(PAST_THE_END)

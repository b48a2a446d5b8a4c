"""Downloader middleware that lets better search pages of a plan come first, and refuses those not worth a request.

What a page is expected to bring is asked when it has its turn, since all that was read until then counts. It falls as
more becomes known, so a page that still has the best place then is the best one: the others need not be looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from redis.exceptions import RedisError

from crawler.base import reasons
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class SearchOrderMiddleware:
    """Gives back search pages that came too early, with a lower priority; once for each lower priority at most."""

    def __init__(self, worker: Worker) -> None:
        self._queue = worker.claiming.queue
        self._wishes = worker.claiming.search_wishes
        self._yield = worker.claiming.search_yield
        self._tally = worker.reports.tally

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Finds the worker's knowledge of searches."""
        return cls(Worker.of(crawler))

    async def process_request(self, request: Request) -> None:
        """Lets search pages pass whose turn it is.

        Raises:
            RefusedError: Others are expected to bring more, and this one is ready again behind them. Or it isn't worth
                a request by its plan's `searches`, and fails.
        """
        state = state_of(request)
        if state is None or not state.purpose.is_page or state.visit.started:
            return
        visit, claimed = state.visit, state.visit.claimed
        if claimed.seed.frontier != "nav" or (wish := await self._wishes.of(claimed.seed)) is None:
            return
        if (expected := await self._yield.expected(claimed)) is None:
            return
        if wish.refuses(claimed.seed, expected):
            visit.error_text = f"it was expected to bring {expected:.2g} new pages"
            visit.is_low_yield = True
            self._tally.low_yield(claimed.seed)
            raise RefusedError(Outcome("fail", reasons.LOW_YIELD))
        if (priority := wish.priority_of(claimed.seed, expected)) < claimed.seed.priority:
            try:
                is_moved = await self._queue.prioritize(claimed, priority)
            except RedisError:
                return
            if is_moved:  # one that kept its place would be claimed again and again
                raise RefusedError(Outcome("release", reasons.BETTER_FIRST))

"""Downloader middleware that refuses pages for which the budget of their kind has no room: traps cost little."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawler.base.models import Seed
    from crawler.base.reasons import Reason


class TrapMiddleware:
    """Asks of each page that a link marked as a trap's may have led to."""

    def __init__(self, worker: Worker) -> None:
        self._traps, self._crawls = worker.claiming.traps, worker.claiming.plan_crawls

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Finds what the worker knows of traps."""
        return cls(Worker.of(crawler))

    async def process_request(self, request: Request) -> None:
        """Lets pages pass for which there is room.

        Raises:
            RefusedError: There is for none of the page's plans.
            UnavailableError: Redis is away; the seed is released.
        """
        state = state_of(request)
        if self._traps is None or state is None or not state.purpose.is_page or state.visit.started:
            return  # it is asked once: not again where the page redirects
        refused: dict[Seed, Reason] = {}
        visit = state.visit
        for seed in visit.seeds:
            if seed.trap and (reason := await self._traps.refusal(seed, self._crawls.get(seed).edition)):
                refused[seed] = reason
        if refused and len(refused) == len(visit.seeds):
            raise RefusedError(Outcome("fail", visit.agree(refused)))
        if refused:
            visit.leave_out(*refused)
            visit.leads_on = True  # plans that asked for the page aren't told of an item that isn't theirs

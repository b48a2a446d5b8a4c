"""Downloader middleware that takes each page of the budgets of its plans, and refuses what they have no more room for.

It comes after robots.txt, whose refusals take nothing. What became of a page, its settlement says: one that wasn't
tried is given back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.base.reasons import budget_reason
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.base.models import Seed
    from crawler.base.reasons import Reason


class BudgetMiddleware:
    """Counts the pages of plans with a `budget`; of one that is followed to where it redirects, all is one."""

    def __init__(self, worker: Worker) -> None:
        self._budgets, self._crawls = worker.claiming.plan_budgets, worker.claiming.plan_crawls

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Finds the worker's budgets."""
        return cls(Worker.of(crawler))

    async def process_request(self, request: Request) -> None:
        """Lets pages pass for which there is room.

        Raises:
            RefusedError: There is for none of the page's plans. It fails, until a plan is submitted with more.
            UnavailableError: Redis is away; the seed is released.
        """
        state = state_of(request)
        if state is None or not state.purpose.is_page or state.visit.seed.frontier != "content":
            return
        visit = state.visit
        over: dict[Seed, Reason] = {}
        for seed in visit.seeds:
            if not seed.general or (visit.use is not None and seed.plan in visit.use.editions):
                continue
            crawl = self._crawls.get(seed)
            if crawl.budget is not None and (
                bound := await self._budgets.take(visit, seed, crawl.budget, crawl.edition)
            ):
                over[seed] = budget_reason(bound)
        if over and len(over) == len(visit.seeds):
            raise RefusedError(Outcome("fail", visit.agree(over)))
        if over:
            visit.leave_out(*over)
            visit.leads_on = True  # plans that asked for the page aren't told of an item that isn't theirs

    def process_response(self, request: Request, response: Response) -> Response:
        """Counts the bytes of an answer."""
        state = state_of(request)
        if state is not None and state.purpose.is_page and state.visit.use is not None:
            state.visit.use.bytes += len(response.body)
        return response

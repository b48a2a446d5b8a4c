"""Downloader middleware that takes each page of the budgets of its plans, and refuses what they have no more room for.

It comes after robots.txt, whose refusals take nothing, and gives back what isn't sent after all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.base.reasons import budget_reason
from crawler.worker.visits.outcomes import Outcome, outcome_of_error
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.base.models import Seed
    from crawler.worker.definitions.plan_crawl import PlanCrawl
    from crawler.worker.visits.request_state import RequestState
    from crawler.worker.visits.visit import Visit


class BudgetMiddleware:
    """Counts the pages of plans with a `budget`; a page that is redirected on its host, or tried lately, is one."""

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
        if state is None or not state.purpose.is_page or state.budgeted:
            return
        over: dict[Seed, str]
        visit, over = state.visit, {}
        for seed, crawl in self._limited(visit):
            assert crawl.budget is not None  # as `_limited` chose it
            if bound := await self._budgets.take(seed, crawl.budget, crawl.edition):
                over[seed] = bound
            else:
                state.budgeted = True
        if over and len(over) == len(visit.seeds):
            raise RefusedError(Outcome("fail", budget_reason(next(iter(over.values())))))
        if over:
            visit.leave_out(*over)
            visit.leads_on = True  # plans that asked for the page aren't told of an item that isn't theirs

    def process_response(self, request: Request, response: Response) -> Response:
        """Counts the bytes of an answer."""
        state = state_of(request)
        if state is not None and state.budgeted:
            for seed, _crawl in self._limited(state.visit):
                self._budgets.count_bytes(seed, len(response.body))
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        """Gives a page back that wasn't asked for, by no fault of its own: it is taken again with its next visit."""
        state = state_of(request)
        if state is not None and state.budgeted and outcome_of_error(exception).operation in ("release", "postpone"):
            await self._give_back(state)

    async def _give_back(self, state: RequestState) -> None:
        state.budgeted = False
        for seed, crawl in self._limited(state.visit):
            assert crawl.budget is not None  # as `_limited` chose it
            await self._budgets.give_back(seed, crawl.budget)

    def _limited(self, visit: Visit) -> list[tuple[Seed, PlanCrawl]]:
        """Returns the plans of a visit that have a budget, each with the page as it wants it."""
        if visit.seed.frontier != "content":
            return []
        crawls = [(seed, self._crawls.get(seed)) for seed in visit.seeds if seed.general]
        return [(seed, crawl) for seed, crawl in crawls if crawl.budget is not None]

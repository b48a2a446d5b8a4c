"""Ends a visit's part for each item that all sinks have, so that a seed is finished only after its items are delivered.

An item pipeline that does not raise has acknowledged the item. A Scrapy extension: it learns of items from Scrapy's
signals, so that users' own pipelines count as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import DropItem

from crawler.base import reasons
from crawler.base.item import item_id
from crawler.worker.visits.outcomes import outcome_of_callback_error, outcome_of_delivery_error
from crawler.worker.visits.request_state import state_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.base.errors import UnavailableError
    from crawler.worker.visits.visit import Visit


class UndeliveredError(DropItem):
    """An item pipeline leaves the item to a later visit of the page; the page isn't at fault.

    The visit has ended, or the worker stops. That is told once for all pages, so of each item a line for debugging will
    do; Scrapy counts it as dropped.
    """

    def __init__(self, error: UnavailableError) -> None:
        super().__init__(str(error), "DEBUG")
        self.error = error


class Delivery:
    """Ends the parts of visits that stand for items, and decides the outcomes of visits whose items fail."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connects to Scrapy's signals."""
        delivery = cls()
        crawler.signals.connect(delivery.scraped, signal=signals.item_scraped)
        crawler.signals.connect(delivery.dropped, signal=signals.item_dropped)
        crawler.signals.connect(delivery.failed, signal=signals.item_error)
        crawler.signals.connect(delivery.raised, signal=signals.spider_error)
        return delivery

    def scraped(self, item: Any, response: Response | None) -> None:
        """Ends the part of an item that went through every pipeline: all sinks have it.

        An item that a user's pipeline has put in its place knows of no visit, so that further plans weren't told of it.
        """
        if visit := _visit_of(response):
            if getattr(item, "visit", None) is not visit:
                visit.leave_out(*visit.seeds[1:])
            visit.leads_on = visit.leads_on or getattr(item, "id", None) != item_id(visit.claimed.fingerprint.hex())
            visit.end_part()

    def dropped(self, response: Response | None, exception: Exception) -> None:
        """Fails the visit of an item that a pipeline dropped: the page doesn't hold what the plan wants.

        One whose item is left to a later visit is released.
        """
        if visit := _visit_of(response):
            if isinstance(exception, UndeliveredError):
                visit.end_as(*outcome_of_delivery_error(exception.error))
            else:
                visit.end_as("fail", reasons.own_reason(str(exception), reasons.DROPPED))
            visit.end_part()

    def failed(self, response: Response | None, failure: Failure) -> None:
        """Decides the outcome for an item in whose pipeline an error was raised: a sink may not have it."""
        if visit := _visit_of(response):
            visit.end_as(*outcome_of_delivery_error(failure.value))
            visit.end_part()

    def raised(self, response: Any, failure: Failure) -> None:
        """Fails the visit of a callback that raised before `VisitSpiderMiddleware` saw any output of it."""
        if visit := _visit_of(response):
            visit.end_as(*outcome_of_callback_error(failure.value))


def _visit_of(response: Any) -> Visit | None:
    state = state_of(getattr(response, "request", None))
    return None if state is None else state.visit

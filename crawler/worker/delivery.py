"""Ends a visit's part for each item that all sinks have, so that a seed is finished only after its items are delivered.

An item pipeline that does not raise has acknowledged the item. A Scrapy extension: it learns of items from Scrapy's
signals, so that users' own pipelines count as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import signals

from crawler.errors import SinkRejectedError, UnavailableError
from crawler.worker.outcomes import ledger_reason, outcome_of_callback_error
from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.worker.visits import Visit


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

    def scraped(self, response: Response | None) -> None:
        """Ends the part of an item that went through every pipeline: all sinks have it."""
        if visit := _visit_of(response):
            visit.end_part()

    def dropped(self, response: Response | None, exception: Exception) -> None:
        """Fails the visit of an item that a pipeline dropped: the page doesn't hold what the plan wants."""
        if visit := _visit_of(response):
            visit.decide_outcome("fail", ledger_reason(str(exception), "dropped"))
            visit.end_part()

    def failed(self, response: Response | None, failure: Failure) -> None:
        """Decides the outcome for an item in whose pipeline an error was raised: a sink may not have it."""
        if visit := _visit_of(response):
            error = failure.value
            if isinstance(error, UnavailableError):
                visit.decide_outcome("release", "sink-unavailable")
            elif isinstance(error, SinkRejectedError):
                visit.decide_outcome("fail", ledger_reason(error.reason, "rejected"))
            else:
                visit.decide_outcome("fail", "pipeline-error")
            visit.end_part()

    def raised(self, response: Any, failure: Failure) -> None:
        """Fails the visit of a callback that raised before `VisitSpiderMiddleware` saw any output of it."""
        if visit := _visit_of(response):
            visit.decide_outcome(*outcome_of_callback_error(failure.value))


def _visit_of(response: Any) -> Visit | None:
    state = state_of(getattr(response, "request", None))
    return None if state is None else state.visit

"""Follows every item of a visit until all sinks have it; then the visit ends, and only then the seed is finished.

An item pipeline that does not raise has acknowledged. A Scrapy extension: it hears of items through Scrapy's signals,
so custom pipelines count as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import signals

from crawler.errors import ExtractError, SinkRejectedError, UnavailableError
from crawler.worker.outcomes import reason_of
from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.worker.visits import Visit


class Delivery:
    """Ends the parts of visits as their items end."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connects to the signals."""
        delivery = cls()
        crawler.signals.connect(delivery.scraped, signal=signals.item_scraped)
        crawler.signals.connect(delivery.dropped, signal=signals.item_dropped)
        crawler.signals.connect(delivery.failed, signal=signals.item_error)
        crawler.signals.connect(delivery.raised, signal=signals.spider_error)
        return delivery

    def scraped(self, response: Response | None) -> None:
        """An item went through every pipeline: all sinks have it."""
        if visit := _visit_of(response):
            visit.part_ends()

    def dropped(self, response: Response | None, exception: Exception) -> None:
        """A pipeline dropped an item: the page doesn't hold what the plan is after."""
        if visit := _visit_of(response):
            visit.decide("fail", reason_of(str(exception), "dropped"))
            visit.part_ends()

    def failed(self, response: Response | None, failure: Failure) -> None:
        """A pipeline raised: the item may not be where it should be."""
        if visit := _visit_of(response):
            error = failure.value
            if isinstance(error, UnavailableError):
                visit.decide("release", "sink-unavailable")
            elif isinstance(error, SinkRejectedError):
                visit.decide("fail", reason_of(error.reason, "rejected"))
            else:
                visit.decide("fail", "pipeline-error")
            visit.part_ends()

    def raised(self, response: Any, failure: Failure) -> None:
        """A spider's callback raised. The part itself is ended where the callback's output ends."""
        if visit := _visit_of(response):
            error = failure.value
            reason = reason_of(error.reason, "no-page") if isinstance(error, ExtractError) else "callback-error"
            visit.decide("fail", reason)


def _visit_of(response: Any) -> Visit | None:
    state = state_of(getattr(response, "request", None))
    return None if state is None else state.visit

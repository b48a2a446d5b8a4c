"""The exception of our downloader middlewares: the request is not sent, and the seed fares so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from crawler.outcomes import Outcome


class RefusedError(IgnoreRequest):  # type: ignore[misc]  # Scrapy's class is untyped for some checkers
    """A request that must not be sent.

    Args:
        outcome: What becomes of the seed.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome

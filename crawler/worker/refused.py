"""The exception by which a downloader middleware refuses a request of a visit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from crawler.worker.outcomes import Outcome


class RefusedError(IgnoreRequest):
    """A request that must not be sent.

    Args:
        outcome: What becomes of the seed whose page was asked for.
        wait_s: A retry makes no sense earlier.
    """

    def __init__(self, outcome: Outcome, wait_s: float = 0.0) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome
        self.wait_s = wait_s

"""The exception by which a downloader middleware refuses a request of a visit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from crawler.worker.visits.outcomes import Outcome


class RefusedError(IgnoreRequest):
    """A request that must not be sent.

    Args:
        outcome: The outcome of the visit, if the request was for its page.
        wait_s: The shortest delay until a retry, in seconds.
    """

    def __init__(self, outcome: Outcome, wait_s: float = 0.0) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome
        self.wait_s = wait_s

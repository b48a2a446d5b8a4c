"""The part of a visit that a request stands for: it ends by a call, once, whatever becomes of the request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.base import reasons

if TYPE_CHECKING:
    from crawler.worker.visits.visit import Visit


@dataclass(slots=True, eq=False)
class RequestPart:
    """The part that ends with a request's callback or errback, or when the request is dropped.

    A request can be dropped without a word to anybody. What a spider middleware drops has begun no part yet
    (`crawler/middlewares/visits.py`). What a receiver or the scheduler refuses is noticed as it is scheduled
    (`expect_queued`); and what a downloader middleware answers with another request, as it leaves the downloader
    (`crawler/middlewares/replaced_requests.py`).

    Attributes:
        is_page: The request is for the seed's own page, which fails if it is dropped.
        keeps_lane: The visit's lane starts no other visit until the part has ended.
        ended: The part has ended.
        queued: The scheduler has taken the request since the engine was last told to schedule it.
    """

    visit: Visit
    is_page: bool = field(default=False, kw_only=True)
    keeps_lane: bool = field(default=True, kw_only=True)
    ended: bool = field(default=False, init=False)
    queued: bool = field(default=False, init=False)

    def end(self) -> None:
        """Ends the part; does nothing if it has ended."""
        if not self.ended:
            self.ended = True
            if self.keeps_lane:
                self.visit.end_fetch()
            self.visit.end_part()

    def expect_queued(self) -> None:
        """Has the part end unless the scheduler takes the request at once, as it does while nobody drops it."""
        self.queued = False
        asyncio.get_running_loop().call_soon(self._drop_unless_queued)

    def drop(self) -> None:
        """Ends the part of a request that is never answered."""
        if self.is_page:
            self.visit.end_as("fail", reasons.REQUEST_DROPPED)
        self.end()

    def _drop_unless_queued(self) -> None:
        if not self.queued:
            self.drop()

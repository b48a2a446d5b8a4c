"""What a request of a visit carries through Scrapy: one object in `request.meta`, and nothing else of ours there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy import Request

    from crawler.worker.lanes import Lane
    from crawler.worker.turn import Turn
    from crawler.worker.visits import Visit

META_KEY = "headroom"


@dataclass(slots=True, eq=False)
class RequestState:
    """The state of one request, from the scheduler, a callback or a pipeline to its answer.

    A redirect within a host makes a new request of the old one's meta: the two share this object, one after the other.

    Attributes:
        visit: What the request is for.
        lane: The turn that it is sent on; None: a turn of its host is acquired when it is sent.
        acquired: `lane` was acquired for this request alone, and is released with its answer.
        address: The turn of its address, from the sending to the answer; None where addresses have no budget.
        sent: It has started on its lane, and its answer has not come.
        robots_bytes: Of the body so far, for the request of a robots.txt; None for any other.
        keeps_lane: The visit's lane waits until the callback of this request has ended.
        callback_ended: The part of the visit that it stands for has ended.
    """

    visit: Visit
    lane: Lane | None = None
    acquired: bool = False
    address: Turn | None = None
    sent: bool = False
    robots_bytes: int | None = None
    keeps_lane: bool = True
    callback_ended: bool = False

    def meta(self, **more: Any) -> dict[str, Any]:
        """Returns the meta of a new request with this state, and `more` keys of Scrapy's."""
        return {META_KEY: self, **more}

    @property
    def turn(self) -> Lane | None:
        """The turn that it has; None: one will be acquired for it."""
        return None if self.lane is None or self.lane.released else self.lane

    def end_callback(self) -> None:
        """Ends the part of the visit that the request stands for, once."""
        if not self.callback_ended:
            self.callback_ended = True
            if self.keeps_lane:
                self.visit.fetch_ends()
            self.visit.part_ends()


def state_of(request: Request | None) -> RequestState | None:
    """Returns the state of a visit's request; None for any other, which is Scrapy's business alone."""
    state: RequestState | None = None if request is None else request.meta.get(META_KEY)
    return state

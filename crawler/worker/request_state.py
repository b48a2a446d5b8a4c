"""The state of a visit's request: one typed object in `request.meta`, and the only entry that Headroom keeps there."""

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
    """The state of one request, from when the scheduler, a callback or a pipeline makes it until it is answered.

    A redirect within a host makes a new request with the old meta: the two share this object, one after the other.

    Attributes:
        visit: The visit that the request is for.
        lane: The lane (a turn with its visits) that it is sent on; None: a turn is acquired when it is sent.
        acquired: `lane` was acquired for this request alone, and is released with its answer.
        address: The turn of its IP address while it is in flight; None where addresses have no budget.
        in_flight: The request itself is on the wire: it has started on its lane and isn't answered yet.
        robots_bytes: For the request of a robots.txt, the bytes of its body so far; None for any other request.
        keeps_lane: The visit's lane starts no other visit until the callback of this request has ended.
        callback_ended: The part of the visit that the request stands for has ended.
    """

    visit: Visit
    lane: Lane | None = None
    acquired: bool = False
    address: Turn | None = None
    in_flight: bool = False
    robots_bytes: int | None = None
    keeps_lane: bool = True
    callback_ended: bool = False

    def meta(self, **more: Any) -> dict[str, Any]:
        """Returns the meta of a new request with this state, and `more` of Scrapy's own keys."""
        return {META_KEY: self, **more}

    @property
    def held_lane(self) -> Lane | None:
        """The lane, while its turn is held; None: a turn will be acquired when the request is sent."""
        return None if self.lane is None or self.lane.released else self.lane

    def end_callback(self) -> None:
        """Ends the part of the visit that the request stands for, once."""
        if not self.callback_ended:
            self.callback_ended = True
            if self.keeps_lane:
                self.visit.end_fetch()
            self.visit.end_part()


def state_of(request: Request | None) -> RequestState | None:
    """Returns the state of a visit's request; None for any other request, which Headroom leaves to Scrapy."""
    state: RequestState | None = None if request is None else request.meta.get(META_KEY)
    return state

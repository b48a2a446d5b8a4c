"""The state of a visit's request: one typed object in `request.meta`, and the only entry that Headroom keeps there."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from scrapy import Request
    from scrapy.http import Response

    from crawler.base.models import LoadedJson, Settled
    from crawler.worker.claiming.visits import Lane, Visit
    from crawler.worker.turns.turn import Turn

META_KEY = "headroom"


@dataclass(slots=True, eq=False)
class RequestState:
    """The state of one request, from when the scheduler, a callback or a pipeline makes it until it is answered.

    A redirect within a host makes a new request with the old meta: the two share this object, one after the other.

    A request can be dropped without a word to anybody. What a spider middleware drops has begun no part yet
    (middlewares/visits.py), and what a receiver or the scheduler refuses is noticed as it is scheduled
    (`expect_queued`). But a downloader middleware may answer a request with another one, whose meta isn't of this one:
    Scrapy sends `request_dropped` for what a scheduler refuses alone, and `request_left_downloader` for what was on the
    wire, and nothing that names the first request. So, as the last resort, the part of the visit that it stands for
    ends when nobody holds it any more. That is at once, unless the request is part of a reference cycle, as one whose
    meta leads back to it: then it is when Python's garbage collector finds it.

    Attributes:
        visit: The visit that the request is for.
        lane: The lane (a turn with its visits) that it is sent on; None: a turn is acquired when it is sent.
        acquired: `lane` was acquired for this request alone, and is released with its answer.
        address: The turn of its IP address while it is in flight; None where addresses have no budget.
        start_again: Waits until the request in flight may be sent once more; None: it has started on no turn.
        in_flight: The request itself is on the wire: it has started on its lane and isn't answered yet.
        crawl_delay_s: What robots.txt asks for between two requests; 0: nothing, or it wasn't asked.
        is_page: It is for the seed's own page.
        route: The route that a script of the answer shows, with its `#`; empty: the answer itself is the page.
        may_render: A browser renders its answer, where the site says so: it is for the seed's page, or continues that.
        rendered: What a browser took the page to be complete by, where one rendered it; None: none did.
        gaps: How much the rendered page lacks that another visit may have.
        loaded: The JSON that the rendered page loaded, where its site has something read from that.
        render: Has a browser render the answer that came, where it depends on what that lacks; None: it doesn't.
        page_cookies: Of what a rendered page asks for, the cookies that the page itself sends, as in their header.
        robots_bytes: For the request of a robots.txt, the bytes of its body so far; None for any other request.
        checks_egress: It only asks whether anybody answers this worker (egress.py).
        keeps_lane: The visit's lane starts no other visit until the callback of this request has ended.
        callback_ended: The part of the visit that the request stands for has ended.
        queued: The scheduler has taken it since the engine was last told to schedule it.
        loop: The visit's event loop, where the request stands for a part of the visit; None: it stands for none.
    """

    visit: Visit
    lane: Lane | None = None
    acquired: bool = False
    address: Turn | None = None
    start_again: Callable[[Request], Awaitable[None]] | None = None
    in_flight: bool = False
    crawl_delay_s: float = 0.0
    is_page: bool = False
    route: str = ""
    may_render: bool = False
    rendered: Settled | None = None
    gaps: int = 0
    loaded: LoadedJson | None = None
    render: Callable[[], Awaitable[Response]] | None = None
    page_cookies: str = ""
    robots_bytes: int | None = None
    checks_egress: bool = False
    keeps_lane: bool = True
    callback_ended: bool = False
    queued: bool = False
    loop: asyncio.AbstractEventLoop | None = None

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

    def expect_queued(self) -> None:
        """Has the part end unless the scheduler takes the request at once, as it does while nobody drops it."""
        self.queued = False
        if self.loop is not None:
            self.loop.call_soon(self._drop_unless_queued)

    def _drop_unless_queued(self) -> None:
        if not self.queued:
            self._drop()

    def _drop(self) -> None:
        """Ends the part of a request that is never answered; a page whose own request was dropped fails."""
        if self.is_page:
            self.visit.decide_outcome("fail", "request-dropped")
        self.end_callback()

    def __del__(self) -> None:
        """Has the part end if nobody holds the request any more; the garbage collector may call it in any thread.

        Nothing else tells of it: see the class.
        """
        if self.loop is not None and not self.callback_ended:
            with contextlib.suppress(RuntimeError):  # the loop is closed, and every visit has ended
                self.loop.call_soon_threadsafe(self._drop)


def state_of(request: Request | None) -> RequestState | None:
    """Returns the state of a visit's request; None for any other request, which Headroom leaves to Scrapy."""
    state: RequestState | None = None if request is None else request.meta.get(META_KEY)
    return state

"""The state of a visit's request: one typed object in `request.meta`, and the only entry that Headroom keeps there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request
    from scrapy.http import Response

    from crawler.base.models import LoadedJson, Settled
    from crawler.scope.candidate import Kind
    from crawler.worker.visits.chain_cookies import ChainCookies
    from crawler.worker.visits.request_part import RequestPart
    from crawler.worker.visits.turn import Turn
    from crawler.worker.visits.visit import Lane, Visit

META_KEY = "headroom"


@dataclass(frozen=True, slots=True, eq=False)
class Purpose:
    """What a request is for: fixed when it is made.

    Attributes:
        visit: The visit that it belongs to.
        lane: The lane (a turn with its visits) that it is sent on; None: a turn is acquired when it is sent.
        is_page: It is for the seed's own page.
        may_render: A browser renders its answer, where the site says so: it is for the seed's page, or continues that.
        page_cookies: Of what a rendered page asks for, the cookies that the page itself sends, as in their header.
        is_robots_txt: It is for a robots.txt.
        checks_egress: It only asks whether anybody answers this worker (egress.py).
        is_media: It is for an image or a video of an item.
        part: The part of the visit that ends with it; None: whoever sends it waits for its answer.
    """

    visit: Visit
    lane: Lane | None = None
    is_page: bool = False
    may_render: bool = False
    page_cookies: str = ""
    is_robots_txt: bool = False
    checks_egress: bool = False
    is_media: bool = False
    part: RequestPart | None = None

    @property
    def kind(self) -> Kind | None:
        """What a plan's scope judges it as; None: what belongs to a page, or comes before it, isn't judged."""
        return "page" if self.is_page or self.may_render else "media" if self.is_media else None


@dataclass(slots=True, eq=False)
class TurnUse:
    """A request's use of its turns, from its start on them until `Turns.end_request`.

    Attributes:
        lane: The lane that it has started on.
        is_acquired: `lane` was acquired for this request alone, and is released with its answer.
        address: The turn of its IP address; None: addresses have no budget, or it has none until it is sent again.
        start_again: Waits until the request may be sent once more.
        may_send: Asked when a connection is there, right before the request goes out: the process, or the machine, may
            have stood still since the request was allowed to go.
    """

    lane: Lane
    is_acquired: bool
    address: Turn | None
    start_again: Callable[[Request], Awaitable[None]]
    may_send: Callable[[], bool]


@dataclass(frozen=True, slots=True, eq=False)
class RenderedPage:
    """What a browser says of a page that it has rendered.

    Attributes:
        settled: What it took the page to be complete by; None: it hasn't rendered it.
        gaps: How much the rendered page lacks that another visit may have.
        loaded: The JSON that it loaded, where its site has something read from that.
    """

    settled: Settled | None = None
    gaps: int = 0
    loaded: LoadedJson | None = None


NOT_RENDERED = RenderedPage()


@dataclass(slots=True, eq=False)
class RequestState:
    """What becomes of a request on its way, from when it is made until it is answered.

    A redirect within a host makes a new request with the old meta: the two share this object, one after the other.

    Attributes:
        purpose: What it is for.
        route: The route that a script of the answer shows, with its `#`; empty: the answer itself is the page.
        crawl_delay_s: What robots.txt asks for between two requests; 0: nothing, or it wasn't asked.
        cookies: What earlier answers of its chain of redirects have set; None: none did.
        turn_use: Its use of its turns while it is on the wire; None: it hasn't started, or is answered.
        render: Has a browser render the answer that came, where it depends on what that lacks; None: it doesn't.
        rendered: What a browser says of the answer.
        bytes_in: Of the last answer as it came, with its head.
        bytes_out: Of what was sent for it, likewise.
    """

    purpose: Purpose
    route: str = ""
    crawl_delay_s: float = 0.0
    cookies: ChainCookies | None = None
    turn_use: TurnUse | None = None
    render: Callable[[], Awaitable[Response]] | None = None
    rendered: RenderedPage = NOT_RENDERED
    bytes_in: int = 0
    bytes_out: int = 0

    def meta(self, **more: Any) -> dict[str, Any]:
        """Returns the meta of a new request with this state, and `more` of Scrapy's own keys."""
        return {META_KEY: self, **more}

    @property
    def visit(self) -> Visit:
        """The visit that the request belongs to."""
        return self.purpose.visit

    @property
    def held_lane(self) -> Lane | None:
        """The lane, while its turn is held; None: a turn will be acquired when the request is sent."""
        lane = self.purpose.lane
        return None if lane is None or lane.released else lane


def state_of(request: Request | None) -> RequestState | None:
    """Returns the state of a visit's request; None for any other request, which Headroom leaves to Scrapy."""
    state: RequestState | None = None if request is None else request.meta.get(META_KEY)
    return state


def part_of(request: Request | None) -> RequestPart | None:
    """Returns the part of a visit that ends with a request; None: none does."""
    state = state_of(request)
    return None if state is None else state.purpose.part

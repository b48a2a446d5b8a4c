"""What a worker does with one claimed seed: a visit follows it from its first request to how its claim ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from crawler.errors import PageTimeoutError, SessionLostError
from crawler.frontier.settlement import Operation, Settlement
from crawler.worker.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from crawler.events import Events
    from crawler.models import Claimed, Seed
    from crawler.worker.lanes import Lane

T = TypeVar("T")


class PageFetched(NamedTuple):
    """Event: all that a visit fetches from the page's own host is fetched; its lane may go on."""

    visit: Visit


class VisitEnded(NamedTuple):
    """Event: a visit is over, and how its claim ends. Once for each visit that isn't abandoned."""

    visit: Visit
    settlement: Settlement


class Visit:
    """One claimed seed on its way to finish, retry or fail. Publishes `PageFetched` and `VisitEnded`, each once.

    It ends when its callbacks have ended and every item of it has reached all sinks. The first retry or fail decides
    how; without one it is a finish. When its deadline passes, requests under way are cut off and no more are made for
    it; items that exist by then are still delivered.

    Attributes:
        deadline: For all that it fetches, together. It stands still while a sink has an item.
        items: Items so far.
        begun: Something was sent for it; before that, a refusal doesn't count as a try.
        note: A word that the ledger counts beside a finish, such as `redirected`.
    """

    __slots__ = (
        "_ended",
        "_events",
        "_fetched",
        "_fetching",
        "_open",
        "_running",
        "_settlement",
        "begun",
        "claimed",
        "deadline",
        "items",
        "lane",
        "note",
    )

    def __init__(self, claimed: Claimed, lane: Lane, events: Events) -> None:
        self.claimed = claimed
        self.lane = lane
        self.items = 0
        self.begun = False
        self.note = ""
        self.deadline = Deadline(self._cancel_fetches)
        self._events = events
        self._running: set[asyncio.Future[Any]] = set()
        self._open = 1  # parts on their way: the page itself, its items, requests of users' callbacks
        self._fetching = 1  # those of them that may still fetch from the page's host
        self._settlement: Settlement | None = None
        self._fetched = False
        self._ended = False

    @property
    def seed(self) -> Seed:
        """The seed that is visited."""
        return self.claimed.seed

    @property
    def ended(self) -> bool:
        """Whether the visit was settled or abandoned; what still runs for it has no effect any more."""
        return self._ended

    @property
    def failed(self) -> bool:
        """Whether it is decided that the seed doesn't finish now."""
        return self._settlement is not None

    # -- Fetching -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Does nothing while the visit may fetch.

        Raises:
            SessionLostError: It was settled, handed back or abandoned.
            PageTimeoutError: Its deadline has passed.
        """
        if self._ended:
            raise SessionLostError("the visit has ended")
        if self.deadline.passed:
            raise PageTimeoutError("the page's time is up")

    async def run(self, part: Coroutine[Any, Any, T]) -> T:
        """Waits for a part of its fetching, which is cancelled when the visit may fetch no more.

        Raises:
            SessionLostError: As `check`.
            PageTimeoutError: As `check`.
            Exception: What the part raised.
        """
        try:
            self.check()
        except BaseException:
            part.close()
            raise
        return await self.wait(asyncio.ensure_future(part))

    async def wait(self, under_way: asyncio.Future[T]) -> T:
        """As `run`, for a part that has begun and needs no task of its own; call `check` before."""
        self._running.add(under_way)
        try:
            return await under_way
        except asyncio.CancelledError:
            self.check()
            raise  # cancelled by somebody else
        finally:
            self._running.discard(under_way)

    # -- Parts and the end --------------------------------------------------------------------------------------------

    def decide(self, operation: Operation, reason: str, amount_ms: int = 0) -> None:
        """Says that the seed doesn't finish: `retry`, `fail` or `back`. Only the first call has an effect."""
        if self._settlement is None:
            self._settlement = Settlement(operation, self.claimed, amount_ms, reason)

    def part_begins(self, *, fetches: bool) -> None:
        """Counts a part on its way; `fetches`: it may still ask the page's host, until `fetch_ends`."""
        self._open += 1
        if fetches:
            self._fetching += 1

    def fetch_ends(self) -> None:
        """Says that a part needs nothing more from the page's host; after the last one the lane goes on."""
        self._fetching -= 1
        if self._fetching <= 0:
            self._let_lane_go()

    def part_ends(self) -> None:
        """Says that a part has reached its end; after the last one the visit ends."""
        self._open -= 1
        if self._open == 0 and not self._ended:
            self._let_lane_go()
            self._end(self._settlement or Settlement("finish", self.claimed, reason=self.note))

    def hand_back(self) -> None:
        """Ends the visit as if it had not been tried, whatever still runs for it."""
        if not self._ended:
            self._fetched = True  # whoever hands visits back releases their lanes
            self._end(Settlement("release", self.claimed, reason="stopped"))

    def abandon(self) -> None:
        """Ends the visit without an event: the session was lost, the seed is another worker's."""
        self._fetched = True
        self._stop()

    def _let_lane_go(self) -> None:
        if not self._fetched:
            self._fetched = True
            self._events.publish(PageFetched(self))

    def _end(self, settlement: Settlement) -> None:
        self._stop()
        self._events.publish(VisitEnded(self, settlement))

    def _stop(self) -> None:
        self._ended = True
        self.deadline.stop()
        self._cancel_fetches()

    def _cancel_fetches(self) -> None:
        for part in list(self._running):
            part.cancel()

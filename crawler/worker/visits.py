"""What a worker does with claimed seeds: lanes pace them, visits follow them to their end. No network, no framework.

A lane is a turn that this worker holds: its seeds run one by one, with the host's delay between two starts, and
what a page fetches from its own host (robots.txt, its page 2, its images) runs on the same lane.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

from crawler.errors import PageTimeoutError, SessionLostError
from crawler.frontier.settlement import Operation, Settlement
from crawler.worker.deadline import Deadline
from crawler.worker.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from crawler.models import Claimed, Seed

T = TypeVar("T")


class Lane(Turn):
    """A turn with the seeds that run on it.

    Attributes:
        waiting: Visits not begun, in the order they were claimed.
        current: The visit whose page is being fetched.
    """

    __slots__ = ("current", "waiting")

    def __init__(self, host: str, turn: int, partition: int, delay_s: float) -> None:
        super().__init__(host, turn, partition, delay_s)
        self.waiting: deque[Visit] = deque()
        self.current: Visit | None = None


class Visit:
    """One claimed seed on its way to finish, retry or fail.

    It ends when its callbacks have ended and every item of it has reached all sinks. The first retry or fail decides
    how; without one it is a finish. When its deadline passes, what it fetches is cut off and nothing more is fetched
    for it; what it has goes its way.

    Args:
        on_fetched: Called once, when the page's own fetches are over and the lane may go on.
        on_end: Called once, with how the claim ends.

    Attributes:
        deadline: Of all that it fetches together; sinks hold it.
        items: Items so far.
        begun: Something was sent for it; before that, a refusal is no try.
        note: A word that the ledger counts beside a finish, such as `redirected`.
    """

    __slots__ = (
        "_ended",
        "_fetched",
        "_fetching",
        "_on_end",
        "_on_fetched",
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

    def __init__(
        self,
        claimed: Claimed,
        lane: Lane,
        on_fetched: Callable[[Visit], None],
        on_end: Callable[[Visit, Settlement], None],
    ) -> None:
        self.claimed = claimed
        self.lane = lane
        self.items = 0
        self.begun = False
        self.note = ""
        self.deadline = Deadline(self._cut_off)
        self._running: set[asyncio.Future[Any]] = set()
        self._on_fetched = on_fetched
        self._on_end = on_end
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
        """Whether the visit was settled or abandoned; what still runs for it is in vain."""
        return self._ended

    @property
    def failed(self) -> bool:
        """Whether it is decided that the seed doesn't finish now."""
        return self._settlement is not None

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
        """As `run`, for a part that has begun and needs no task; the visit may still fetch, says `check`."""
        self._running.add(under_way)
        try:
            return await under_way
        except asyncio.CancelledError:
            self.check()
            raise  # somebody else's doing
        finally:
            self._running.discard(under_way)

    def decide(self, operation: Operation, reason: str, amount_ms: int = 0) -> None:
        """Says that the seed doesn't finish: `retry`, `fail` or `release`. Only the first word counts."""
        if self._settlement is None:
            self._settlement = Settlement(operation, self.claimed, amount_ms, reason)

    def part_begins(self, *, fetches: bool) -> None:
        """Counts a part on its way; `fetches`: it may still ask the page's host, and says so with `fetch_ends`."""
        self._open += 1
        if fetches:
            self._fetching += 1

    def fetch_ends(self) -> None:
        """Says that a part needs nothing more from the page's host; after the last one the lane goes on."""
        self._fetching -= 1
        if self._fetching <= 0:
            self._pass_lane()

    def part_ends(self) -> None:
        """Says that a part has reached its end; after the last one the visit ends."""
        self._open -= 1
        if self._open == 0 and not self._ended:
            self._pass_lane()
            self._end(self._settlement or Settlement("finish", self.claimed, reason=self.note))

    def hand_back(self) -> None:
        """Ends the visit as if it had not been tried, whatever still runs for it."""
        if not self._ended:
            self._fetched = True  # its lane is ending too
            self._end(Settlement("release", self.claimed, reason="stopped"))

    def abandon(self) -> None:
        """Forgets the visit without settling: the session was lost, the seed is somebody else's."""
        self._fetched = True
        self._stop()

    def _cut_off(self) -> None:
        for part in list(self._running):
            part.cancel()

    def _stop(self) -> None:
        self._ended = True
        self.deadline.stop()
        self._cut_off()

    def _pass_lane(self) -> None:
        if not self._fetched:
            self._fetched = True
            self._on_fetched(self)

    def _end(self, settlement: Settlement) -> None:
        self._stop()
        self._on_end(self, settlement)

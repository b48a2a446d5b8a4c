"""The lanes of a worker: turns it holds, each with the seeds that run on it one by one.

What a page fetches besides itself from its own host (robots.txt, its second page, its images) runs on the page's lane.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from crawler.worker.turn import Turn
from crawler.worker.visits import PageFetched

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.events import Events
    from crawler.worker.visits import Visit

SOON_SECONDS = 1.0  # a lane that may start a page within this time counts as work at hand


class Lane(Turn):
    """A turn with the visits that run on it.

    Attributes:
        waiting: Visits not begun, in the order they were claimed.
        current: The visit whose page is being fetched.
    """

    __slots__ = ("current", "waiting")

    def __init__(self, host: str, token: int, partition: int, delay_s: float) -> None:
        super().__init__(host, token, partition, delay_s)
        self.waiting: deque[Visit] = deque()
        self.current: Visit | None = None


class VisitReady(NamedTuple):
    """Event: `Lanes.next_visit` may have something that it hadn't before."""

    lane: Lane


class LaneEmpty(NamedTuple):
    """Event: a lane has nothing more to do; its turn can be released."""

    lane: Lane


class Lanes:
    """Holds the lanes and says whose page is next. Publishes `VisitReady` and `LaneEmpty`.

    Args:
        events: Where it publishes, and where it hears of pages that are fetched.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self._held: set[Lane] = set()
        self._startable: deque[Lane] = deque()
        events.subscribe(PageFetched, self._page_fetched)

    @property
    def waiting(self) -> int:
        """Visits not begun."""
        return sum(len(lane.waiting) for lane in self._held)

    def stuck(self) -> int:
        """Returns how many visits are held up by slow hosts."""
        return sum(len(lane.waiting) + (lane.current is not None) for lane in self._held if lane.slow)

    def near(self) -> int:
        """Returns how many lanes are at work, or may be soon."""
        return sum(lane.pause_s() < SOON_SECONDS for lane in self._held)

    def hold(self, lanes: Iterable[Lane]) -> None:
        """Takes new lanes; they start with `start`."""
        self._held.update(lanes)

    def start(self, lane: Lane) -> None:
        """Lets a lane give out its next visit."""
        if lane in self._held:
            self._startable.append(lane)
            self._events.publish(VisitReady(lane))

    def next_visit(self) -> Visit | None:
        """Returns a visit whose page may be fetched now; None when there is none."""
        while self._startable:
            lane = self._startable.popleft()
            if lane.waiting and lane.current is None:
                lane.current = lane.waiting.popleft()
                return lane.current
        return None

    def back_off(self, host: str, seconds: float) -> None:
        """Starts nothing more on a host; what is not begun goes back to the frontier."""
        for lane in [lane for lane in self._held if lane.host == host]:
            lane.back_off(seconds)
            self._hand_back(lane)

    def release(self, lane: Lane) -> None:
        """Has a lane's turn released, once."""
        if lane in self._held:
            self._held.discard(lane)
            self._events.publish(LaneEmpty(lane))

    def hand_back(self) -> None:
        """Hands back every visit not begun, and the turns that are then free."""
        for lane in list(self._held):
            self._hand_back(lane)

    def forget(self) -> None:
        """Drops everything: the session was lost, and all turns with it."""
        self._held.clear()
        self._startable.clear()

    def _hand_back(self, lane: Lane) -> None:
        while lane.waiting:
            lane.waiting.popleft().hand_back()
        if lane.current is None:
            self.release(lane)

    def _page_fetched(self, event: PageFetched) -> None:
        """Goes on with a page's lane: its next visit after the host's delay; without one the turn is released."""
        lane = event.visit.lane
        lane.current = None
        if lane.backoff_s or lane.failing:  # seeds of a host in backoff wait in the frontier, where others find them
            self._hand_back(lane)
        elif not lane.waiting:
            self.release(lane)
        elif pause_s := lane.pause_s():
            asyncio.get_running_loop().call_later(pause_s, self.start, lane)
        else:
            self.start(lane)

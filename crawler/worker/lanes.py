"""The turns that a worker holds, and which of them may start its next seed now."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.worker.visits import Lane, Visit

SOON_SECONDS = 1.0  # a lane that may start within that counts as work at hand


class Lanes:
    """Holds the lanes; a lane with nothing left is released.

    Args:
        on_release: Called with a lane whose turn goes back.
        on_startable: Called when `next_visit` has something that it hadn't before.
    """

    def __init__(self, on_release: Callable[[Lane], None], on_startable: Callable[[], None]) -> None:
        self._on_release = on_release
        self._on_startable = on_startable
        self._held: set[Lane] = set()
        self._startable: deque[Lane] = deque()

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
            self._on_startable()

    def next_visit(self) -> Visit | None:
        """Returns a visit whose page may be fetched now; None when there is none."""
        while self._startable:
            lane = self._startable.popleft()
            if lane.waiting and lane.current is None:
                lane.current = lane.waiting.popleft()
                return lane.current
        return None

    def fetched(self, lane: Lane) -> None:
        """Goes on with a lane whose page is fetched: its next visit after the host's delay, or the turn goes back."""
        lane.current = None
        if lane.leave_s or lane.ails:  # the host wants to be left alone: its seeds wait in the frontier, not here
            self._hand_back(lane)
        elif not lane.waiting:
            self.release(lane)
        elif pause_s := lane.pause_s():
            asyncio.get_running_loop().call_later(pause_s, self.start, lane)
        else:
            self.start(lane)

    def leave(self, host: str, seconds: float) -> None:
        """Leaves a host alone from now on; another worker was told so, or found the host failing."""
        for lane in [lane for lane in self._held if lane.host == host]:
            lane.leave_s = seconds
            self._hand_back(lane)

    def release(self, lane: Lane) -> None:
        """Gives a lane's turn back, once."""
        if lane in self._held:
            self._held.discard(lane)
            self._on_release(lane)

    def hand_back(self) -> None:
        """Hands back every visit not begun, and the turns that are then free."""
        for lane in list(self._held):
            self._hand_back(lane)

    def forget(self) -> None:
        """Drops everything: the session was lost."""
        self._held.clear()
        self._startable.clear()

    def _hand_back(self, lane: Lane) -> None:
        while lane.waiting:
            lane.waiting.popleft().hand_back()
        if lane.current is None:
            self.release(lane)

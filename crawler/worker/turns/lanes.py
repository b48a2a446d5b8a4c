"""The lanes of a worker: the turns of hosts that it holds, each with the visits that run on it one by one.

All that a visit fetches from its own host (robots.txt, the page, its second page, its images) runs on the visit's lane.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from crawler.worker.visits.visit import PageFetched, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.base.events import Events
    from crawler.worker.visits.visit import Lane

SHORT_PAUSE_SECONDS = 1.0  # a lane whose pause is shorter than this counts as active


class VisitReady(NamedTuple):
    """Event: a lane may start its next visit, which `Lanes.next_visit` returns."""

    lane: Lane


class LaneEmpty(NamedTuple):
    """Event: a lane has no more visits; its turn can be released."""

    lane: Lane


class Lanes:
    """Holds the lanes and chooses the next visit. Publishes `VisitReady` and `LaneEmpty`; acts on `PageFetched`."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._held: set[Lane] = set()
        self._startable: deque[Lane] = deque()
        events.subscribe(PageFetched, lambda event: self.go_on(event.visit))

    @property
    def any_held(self) -> bool:
        """Whether this worker holds a turn with seeds."""
        return bool(self._held)

    @property
    def startable(self) -> bool:
        """Whether a lane may have a visit to give out."""
        return bool(self._startable)

    @property
    def not_started(self) -> int:
        """The number of visits not started."""
        return sum(len(lane.not_started) for lane in self._held)

    def slow_visits(self) -> int:
        """Returns how many visits are held up on slow lanes."""
        return sum(len(lane.not_started) + (lane.current is not None) for lane in self._held if lane.slow)

    def active(self) -> int:
        """Returns how many lanes are fetching a page or may start one soon."""
        return sum(lane.pause_s() < SHORT_PAUSE_SECONDS for lane in self._held)

    def hold(self, lanes: Iterable[Lane]) -> None:
        """Adds new lanes; each begins with `start`."""
        self._held.update(lanes)

    def start(self, lane: Lane) -> None:
        """Lets a lane give out its next visit; does nothing for a lane that was released."""
        if lane in self._held:
            self._startable.append(lane)
            self._events.publish(VisitReady(lane))

    def next_visit(self) -> Visit | None:
        """Starts and returns a visit whose page may be fetched now; None when there is none."""
        while self._startable:
            lane = self._startable.popleft()
            if lane.not_started and lane.current is None:
                lane.current = lane.not_started.popleft()
                return lane.current
        return None

    def back_off(self, host: str, seconds: float) -> None:
        """Starts no more visits on a host; those not started are released."""
        for lane in self._lanes_of(host):
            lane.back_off(seconds)
            self._release_not_started(lane)

    def slow_down(self, host: str, crawl_delay_s: float) -> None:
        """Starts no more visits on the lanes of a host that has one turn by now; those not started are released.

        A lane that the frontier has already told when it may be used goes on.
        """
        for lane in self._lanes_of(host):
            lane.slow_down(crawl_delay_s)
            if lane.must_ask:
                self._release_not_started(lane)

    def change_politeness(self, host: str | None = None) -> None:
        """Starts no more visits on lanes of a host, or on any: what is asked for, or the site, has changed since.

        Those not started are released, to be claimed as politely as their hosts are asked now. What visits under way
        still fetch keeps that, too.
        """
        for lane in self._lanes_of(host):
            lane.change_politeness()
            self._release_not_started(lane)

    def end_not_started(self, host: str, end: Callable[[Visit], None]) -> None:
        """Ends the visits not started on a host with a function, and releases the lanes that are then empty."""
        for lane in self._lanes_of(host):
            self._end_not_started(lane, end)

    def release(self, lane: Lane) -> None:
        """Drops a lane and has its turn released, once."""
        if lane in self._held:
            self._held.discard(lane)
            self._events.publish(LaneEmpty(lane))

    def release_not_started(self, partition: int | None = None) -> None:
        """Releases every visit not started, in one partition or in all, and the lanes that are then empty."""
        for lane in [lane for lane in self._held if partition in (None, lane.partition)]:
            self._release_not_started(lane)

    def forget(self, partition: int) -> None:
        """Drops the lanes of a partition without an event: the lease there was lost, and all its turns with it."""
        self._held = {lane for lane in self._held if lane.partition != partition}
        self._startable = deque(lane for lane in self._startable if lane.partition != partition)

    def go_on(self, ended: Visit) -> None:
        """Starts the next visit of a lane after the host's delay, or releases the lane if it has none.

        Args:
            ended: The lane's visit that needs it no more. Nothing happens if the lane has gone on without it.
        """
        lane = ended.lane
        if lane.current is not ended:
            return
        lane.current = None
        if lane.backoff_s or lane.failing:  # seeds of a failing host wait in the frontier, for whichever worker is free
            self._release_not_started(lane)
        elif not lane.not_started:
            self.release(lane)
        elif pause_s := lane.pause_s():
            asyncio.get_running_loop().call_later(pause_s, self.start, lane)
        else:
            self.start(lane)

    def _lanes_of(self, host: str | None) -> list[Lane]:
        """Returns the lanes of a host; None: of all hosts."""
        return [lane for lane in self._held if host in (None, lane.host)]

    def _release_not_started(self, lane: Lane) -> None:
        self._end_not_started(lane, Visit.release)

    def _end_not_started(self, lane: Lane, end: Callable[[Visit], None]) -> None:
        while lane.not_started:
            end(lane.not_started.popleft())
        if lane.current is None:
            self.release(lane)

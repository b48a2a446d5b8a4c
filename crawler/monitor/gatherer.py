"""Reads the crawl's figures for all browsers together: as often as they change, and only while somebody looks."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.base.errors import HeadroomError
from crawler.cluster.activity import Activity
from crawler.cluster.overview import Overview, read_overview
from crawler.cluster.troubles import Trouble, troubles

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crawler.monitor.connection import Connection

READ_SECONDS = 2.0  # how often figures are read: a person sees no more, and workers report no oftener
MAX_PAUSE_SECONDS = 60.0  # the longest time between two costly readings: figures are then as old as those of most tools
COST_FACTOR = 100  # the pause after a reading is so many times its CPU time, which then takes 1 % of a processor
FIRST_WAIT_SECONDS = 2.0  # how long a page waits for figures where there are none; then it says so
WAIT_SECONDS = 0.7  # how long it waits where there are those of before, which it shows then
AWAY_WAIT_SECONDS = 0.05  # how long it waits where the reading before failed: one that succeeds follows by itself
ACTIVITY_SECONDS = 10.0  # how often it is read what was done over time, whose shortest step is a minute


@dataclass(frozen=True, slots=True)
class LatestFigures:
    """What was read last.

    Attributes:
        number: Rises with each reading, be it in vain.
        overview: None before the first reading that succeeded.
        activity: What the crawl did of late.
        troubles: What is wrong now.
        away: Why the last reading failed, in words; empty: it didn't, and the figures are those of now.
        away_since_s: When the first of the readings that failed in a row did, by this machine's clock.
    """

    number: int = 0
    overview: Overview | None = None
    activity: Activity = field(default_factory=Activity)
    troubles: tuple[Trouble, ...] = ()
    away: str = ""
    away_since_s: float = 0.0


class Gatherer:
    """The one reader of the figures."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._activity = Activity()
        self._activity_read_at = 0.0
        self._figures = LatestFigures()
        self._read_at = float("-inf")  # when figures were read last, by the monotonic clock
        self._pause_s = READ_SECONDS
        self._reading: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()
        self._watchers = 0
        self._is_closed = False

    async def latest(self) -> LatestFigures:
        """Returns the figures of now; those of before say so, where Redis doesn't give others in time."""
        if time.monotonic() - self._read_at >= self._pause_s:
            timeout_s = WAIT_SECONDS if self._figures.overview else FIRST_WAIT_SECONDS
            timeout_s = AWAY_WAIT_SECONDS if self._figures.away else timeout_s
            done, _ = await asyncio.wait([self._begin_reading()], timeout=timeout_s)
            if not done and not self._figures.away:
                return replace(self._figures, away=f"no figures within {timeout_s:g} s", away_since_s=time.time())
        return self._figures

    async def watch(self) -> AsyncIterator[LatestFigures]:
        """Yields figures whenever others were read, the present ones first, until `close`."""
        self._watchers += 1
        try:
            figures = await self.latest()
            while not self._is_closed:
                yield figures
                figures = await self._after(figures.number)
        finally:
            self._watchers -= 1

    async def run(self) -> None:
        """Reads again and again while somebody watches, until it is cancelled."""
        while True:
            await asyncio.sleep(self._pause_s)
            if self._watchers:
                await self._begin_reading()

    async def close(self) -> None:
        """Ends all watching."""
        self._is_closed = True
        async with self._changed:
            self._changed.notify_all()

    async def _after(self, number: int) -> LatestFigures:
        async with self._changed:
            await self._changed.wait_for(lambda: self._is_closed or self._figures.number != number)
        return self._figures

    def _begin_reading(self) -> asyncio.Task[None]:
        """Returns the reading that is under way, a new one where none is."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        return self._reading

    async def _read(self) -> None:
        begun_s = time.process_time()
        number = self._figures.number + 1
        try:
            async with self._connection.operator() as operator:
                overview = await read_overview(operator)
                if time.monotonic() - self._activity_read_at >= ACTIVITY_SECONDS:
                    await self._activity.refresh(operator, overview.at_ms // 1000)
                    self._activity_read_at = time.monotonic()
            current_troubles = tuple(troubles(overview, self._activity.steps("hour")))
            self._figures = LatestFigures(number, overview, self._activity, current_troubles)
        except HeadroomError as error:
            since_s = self._figures.away_since_s or time.time()
            self._figures = replace(self._figures, number=number, away=str(error), away_since_s=since_s)
        self._read_at = time.monotonic()
        # It counts all that the monitor did meanwhile: a sign-in takes some 0.05 s.
        cost_s = time.process_time() - begun_s
        self._pause_s = min(max(READ_SECONDS, COST_FACTOR * cost_s), MAX_PAUSE_SECONDS)
        async with self._changed:
            self._changed.notify_all()

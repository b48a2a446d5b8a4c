"""Collects how visits ended and tells the frontier in batches: one call a page would cost 14 times more."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict, deque
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler import tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.frontier.queue import Queue
    from crawler.frontier.settlement import Settlement, TurnRelease

logger = logging.getLogger(__name__)
RETRY_SECONDS = 1.0  # between two tries while Redis is away


class Settler:
    """Holds settlements and turns until Redis has taken them.

    While Redis is away they wait here; claims pause then, so there are never more than this worker carried.

    Args:
        size: Settlements in one call.
        wait_s: How long one waits for company.
        on_settled: Called after each call with (accepted, refused).
    """

    def __init__(self, queue: Queue, *, size: int, wait_s: float, on_settled: Callable[[int, int], None]) -> None:
        self._queue = queue
        self._size = size
        self._wait_s = wait_s
        self._on_settled = on_settled
        self._ends: dict[tuple[int, str], deque[Settlement]] = defaultdict(deque)
        self._turns: dict[tuple[int, str], deque[TurnRelease]] = defaultdict(deque)
        self._count = 0
        self._work = asyncio.Event()
        self._full = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task = asyncio.create_task(self._run(), name="settler")

    def end(self, owner: str, settlement: Settlement) -> None:
        """Takes a settlement on its way."""
        self._ends[settlement.claimed.partition, owner].append(settlement)
        self._added()

    def release_turn(self, owner: str, partition: int, turn: TurnRelease) -> None:
        """Takes a turn on its way back."""
        self._turns[partition, owner].append(turn)
        self._added()

    def forget(self, owner: str) -> None:
        """Drops what a lost session still had to say; it would be refused."""
        for key in [key for key in {*self._ends, *self._turns} if key[1] == owner]:
            self._told(len(self._ends.pop(key, ())) + len(self._turns.pop(key, ())))

    async def drain(self, timeout_s: float) -> bool:
        """Waits until all is told; returns False when `timeout_s` was too short."""
        self._full.set()
        try:
            await asyncio.wait_for(self._idle.wait(), timeout_s)
        except TimeoutError:
            return False
        return True

    async def close(self) -> None:
        """Stops; what was not told is reclaimed when the session lapses."""
        await tasks.cancel(self._task)

    def _added(self) -> None:
        self._count += 1
        self._idle.clear()
        self._work.set()
        if self._count >= self._size:
            self._full.set()

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            if self._wait_s:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), self._wait_s)
            self._work.clear()
            self._full.clear()
            for key in {*self._ends, *self._turns}:
                await self._flush(*key)

    async def _flush(self, partition: int, owner: str) -> None:
        key = (partition, owner)
        while self._ends.get(key) or self._turns.get(key):
            ends, turns = self._ends[key], self._turns[key]
            batch = [ends.popleft() for _ in range(min(self._size, len(ends)))]
            backs = [turns.popleft() for _ in range(min(self._size, len(turns)))]
            try:
                accepted, refused = await self._queue.settle(partition, owner, batch, backs)
            except RedisError as error:
                if self._ends.get(key) is not ends:  # forgotten meanwhile
                    self._told(len(batch) + len(backs))
                    return
                ends.extendleft(reversed(batch))
                turns.extendleft(reversed(backs))
                logger.warning("%d settlements wait for Redis: %s", len(ends), error)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self._told(len(batch) + len(backs))
                self._on_settled(accepted, refused)
        self._ends.pop(key, None)
        self._turns.pop(key, None)

    def _told(self, number: int) -> None:
        self._count -= number
        if not self._count:
            self._idle.set()

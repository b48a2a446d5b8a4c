"""A budget for each address: hosts that share one are, taken together, asked no faster than it allows.

The address has a turn (`@ADDRESS`) for each request that it may have at once. A request takes one last, with its host's
turn in hand, and gives it back with its answer. Who holds an address waits for nothing but that answer, so waiting for
one with a host's turn in hand locks nobody out. A turn for a whole lane would be simpler, but would keep the address
through the host's own delays: hosts of one address would wait for each other's pauses.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import RedisError

from crawler import config
from crawler.errors import LeftAloneError
from crawler.frontier.keys import partition_of
from crawler.worker.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from crawler.worker.visits import Visit
    from crawler.worker.worker import Worker

    LookUp = Callable[[str], Awaitable[Sequence[str]]]

logger = logging.getLogger(__name__)
MOST_WAITING = 8  # requests of this worker that wait for one address: each holds one of CONCURRENT_REQUESTS
ANSWER_SECONDS = 0.1  # what a request takes of one of the address's turns, more or less
LONGEST_AWAY_SECONDS = 60.0  # others may be done long before
RECONNECT_SECONDS = 1.0
LOOK_SECONDS = 0.05  # between two looks whether the address is free; one request of a worker looks for it at a time


class _Line:
    """The requests of this worker that wait for one address; the first of them asks the frontier.

    Attributes:
        full_until: When those who were sent away have had their turn, one after the other.
    """

    __slots__ = ("first", "full_until", "waiting")

    def __init__(self) -> None:
        self.first = asyncio.Lock()
        self.waiting = 0
        self.full_until = 0.0

    def away_s(self, pace_s: float) -> float:
        """Returns after how long it is worth coming back, for one more who is sent away."""
        now = asyncio.get_running_loop().time()
        self.full_until = max(self.full_until, now + self.waiting * pace_s) + pace_s
        return min(self.full_until - now, LONGEST_AWAY_SECONDS)


class IpBudget:
    """Hands out the turns of addresses.

    Args:
        look_up: Returns the addresses that a host may be reached at; empty where there are none.
        concurrency: ADDRESS_CONCURRENCY: requests to one address at once, over all workers.
        delay_s: ADDRESS_DELAY_SECONDS: between two starts there.
    """

    def __init__(self, worker: Worker, look_up: LookUp, *, concurrency: int, delay_s: float) -> None:
        self._worker = worker
        self._look_up = look_up
        self._concurrency = concurrency
        self._delay_ms = int(delay_s * 1000)
        self._pace_s = max(delay_s, ANSWER_SECONDS / concurrency)
        self._lines: dict[str, _Line] = {}

    @classmethod
    def from_settings(cls, worker: Worker, look_up: LookUp, settings: Mapping[str, Any]) -> Self | None:
        """Returns the budget; None when ADDRESS_CONCURRENCY is 0.

        Raises:
            ConfigError: One of the settings is wrong.
        """
        concurrency = config.whole(settings, "ADDRESS_CONCURRENCY", 0, 999)
        delay_s = config.number(settings, "ADDRESS_DELAY_SECONDS", 0, 3_600)
        return cls(worker, look_up, concurrency=concurrency, delay_s=delay_s) if concurrency else None

    async def take(self, host: str, visit: Visit) -> Turn | None:
        """Waits for a turn of a host's address; `worker.release_turn` ends it. None: the host has no address.

        Args:
            host: Without a port.
            visit: What the request is for. One that wasn't begun doesn't queue behind many others.

        Raises:
            LeftAloneError: It would have to.
            HeadroomError: The visit may fetch no more, or the session was lost.
        """
        known = await self._look_up(host)
        if not known:
            return None
        address = min(known)  # the same one for every worker
        line = self._lines.setdefault(address, _Line())
        if line.waiting >= MOST_WAITING and not visit.begun:
            raise LeftAloneError(address, line.away_s(self._pace_s))
        line.waiting += 1
        try:
            async with line.first:
                return await self._ask(f"@{address}", visit)
        finally:
            line.waiting -= 1
            if not line.waiting:
                self._lines.pop(address, None)

    async def _ask(self, name: str, visit: Visit) -> Turn:
        queue = self._worker.queue
        while True:
            visit.check()
            owner = self._worker.borrower()
            try:
                token, wait_ms = await queue.acquire_address(name, owner, self._concurrency, self._delay_ms)
            except RedisError as error:
                logger.warning("a request to %s waits for Redis: %s", name, error)
                await asyncio.sleep(RECONNECT_SECONDS)
                continue
            if token > 0:
                turn = Turn(name, token, partition_of(name, queue.partitions), self._delay_ms / 1000)
                turn.sent()
                return turn
            await asyncio.sleep(max(min(wait_ms / 1000, LOOK_SECONDS), LOOK_SECONDS / 10))

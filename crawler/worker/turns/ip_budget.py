"""A budget for each IP address: hosts that share an address get, taken together, no more requests than it allows.

An address has as many turns (named `@ADDRESS`) as requests may be under way there at once. A request that holds its
host's turn acquires a turn of the address last, and releases it with its answer. There is no deadlock: a request that
holds a turn of an address waits for its answer alone. One turn of the address for a whole lane would be simpler, but
the address would then be unused during each host's own delay.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from crawler import config
from crawler.base.errors import HostBackoffError
from crawler.servers.redis_retry import until_redis_answers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from crawler.worker.turns.turns import Turns
    from crawler.worker.visits.turn import Turn
    from crawler.worker.visits.visit import Visit

    LookUp = Callable[[str], Awaitable[Sequence[str]]]

MAX_QUEUED = 8  # most requests of this worker that wait for one address: each occupies one of CONCURRENT_REQUESTS
ANSWER_SECONDS = 0.1  # a guess of how long a request takes; the backoff of requests that may not wait is based on it
MAX_BACKOFF_SECONDS = 60.0  # longest such backoff: the requests before may be answered much sooner than guessed
MAX_POLL_SECONDS = 0.05  # longest delay between two tries for a turn; one request of each worker tries at a time


@dataclass(slots=True)
class _WaitingLine:
    """The requests of this worker that wait for one address; the first of them asks the frontier.

    Attributes:
        first: Held by the request that asks the frontier.
        full_until: When all refused requests would have had their turn, by the event loop's clock.
        queued: Number of requests that wait, the first one included.
    """

    first: asyncio.Lock = field(default_factory=asyncio.Lock)
    full_until: float = 0.0
    queued: int = 0

    def backoff_s(self, pace_s: float) -> float:
        """Returns the backoff in seconds of one more request that is refused.

        Args:
            pace_s: Seconds between the starts of two requests at this address, by the guess.
        """
        now = asyncio.get_running_loop().time()
        self.full_until = max(self.full_until, now + self.queued * pace_s) + pace_s
        return min(self.full_until - now, MAX_BACKOFF_SECONDS)


class IpBudget:
    """Hands out the turns of addresses.

    Args:
        look_up: Returns the addresses that a host may be reached at; empty where there are none.
        delay_s: ADDRESS_DELAY_SECONDS: between two starts there.
    """

    def __init__(self, turns: Turns, look_up: LookUp, *, concurrency: int, delay_s: float) -> None:
        self._turns = turns
        self._look_up = look_up
        self._concurrency = concurrency
        self._delay_s = delay_s
        self._pace_s = max(delay_s, ANSWER_SECONDS / concurrency)
        self._lines: dict[str, _WaitingLine] = {}  # by address: the requests that wait

    @classmethod
    def from_settings(cls, turns: Turns, look_up: LookUp, settings: Mapping[str, Any]) -> Self | None:
        """Returns the budget; None when ADDRESS_CONCURRENCY is 0.

        Raises:
            ConfigError: One of the settings is wrong.
        """
        concurrency = config.ADDRESS_CONCURRENCY.of(settings)
        delay_s = config.ADDRESS_DELAY_SECONDS.of(settings)
        return cls(turns, look_up, concurrency=concurrency, delay_s=delay_s) if concurrency else None

    async def acquire(self, host: str, visit: Visit) -> Turn | None:
        """Waits for a turn of a host's address, to be released with `Turns.release`; None: the host has no address.

        Args:
            host: Without a port.
            visit: What the request is for.

        Raises:
            HostBackoffError: The visit hasn't started, and MAX_QUEUED requests wait for the address already.
            HeadroomError: The visit may fetch no more, or the session was lost.
        """
        addresses = await self._look_up(host)
        if not addresses:
            return None
        address = min(addresses)  # so that every worker chooses the same one
        line = self._lines.setdefault(address, _WaitingLine())
        if line.queued >= MAX_QUEUED and not visit.started:
            raise HostBackoffError(address, line.backoff_s(self._pace_s))
        line.queued += 1
        try:
            async with line.first:
                return await self._acquire(f"@{address}", visit)
        finally:
            line.queued -= 1
            if not line.queued:
                self._lines.pop(address, None)

    async def _acquire(self, name: str, visit: Visit) -> Turn:
        async def try_acquire() -> tuple[Turn | None, float]:
            visit.check()
            return await self._turns.try_acquire_address(name, self._concurrency, self._delay_s)

        while True:
            turn, wait_s = await until_redis_answers(f"a turn of {name}", try_acquire)
            if turn is not None:
                turn.mark_start()
                self._turns.note_use(turn, visit)
                return turn
            await asyncio.sleep(max(min(wait_s, MAX_POLL_SECONDS), MAX_POLL_SECONDS / 10))

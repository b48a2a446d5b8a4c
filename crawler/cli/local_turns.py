"""Turns of hosts for one process, in memory: what a command asks with where it works without a frontier."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.frontier.turn_answers import NO_TURN, TurnAnswer, TurnStart

if TYPE_CHECKING:
    from crawler.frontier.settlement import TurnRelease

BUSY_MILLISECONDS = 20  # when it is worth asking again for a turn that is in use


@dataclass(slots=True)
class _HostTurn:
    """The turn of a host.

    Attributes:
        delay_s: Seconds between two starts.
        token: Of whoever holds it; NO_TURN: nobody does.
        free_at: When the next request may start, by the event loop's clock.
        backoff_until: Until when the host is to be left alone, likewise.
    """

    delay_s: float
    token: int = NO_TURN
    free_at: float = 0.0
    backoff_until: float = 0.0


class LocalTurns:
    """Gives one turn of each host, as the frontier does: a delay between two starts, a Crawl-delay, and backoffs hold.

    It is a `crawler.worker.turns.turns.TurnKeeper`.

    Args:
        delay_s: Seconds between two starts of requests to a host, if its robots.txt asks for no more.
    """

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._turns: dict[str, _HostTurn] = {}
        self._tokens = 0

    async def acquire_turn(self, host: str, site: str, owner: str) -> TurnAnswer:  # noqa: ARG002 -- the protocol's
        """As `crawler.frontier.queue.Queue.acquire_turn`."""
        return self._acquire(host, self._delay_s)

    async def acquire_address(self, name: str, owner: str, concurrency: int, delay_ms: int) -> TurnAnswer:  # noqa: ARG002 -- the protocol's
        """As `crawler.frontier.queue.Queue.acquire_address`, for one request at a time."""
        return self._acquire(name, delay_ms / 1000)

    async def turn_start(self, host: str, crawl_delay_ms: int, owner: str, token: int) -> TurnStart:  # noqa: ARG002 -- the protocol's
        """As `crawler.frontier.queue.Queue.turn_start`: a longer Crawl-delay holds from now on."""
        turn = self._turns[host]
        turn.delay_s = max(turn.delay_s, crawl_delay_ms / 1000)
        return TurnStart(surplus=0, wait_ms=0, delay_ms=int(turn.delay_s * 1000))

    def release(self, owner: str, partition: int, turn: TurnRelease) -> None:  # noqa: ARG002 -- the protocol's
        """Takes a turn back; the next one starts when the host's delay and backoff have passed."""
        held, now = self._turns[turn.host], _now()
        held.backoff_until = max(held.backoff_until, now + turn.backoff_ms / 1000)
        if turn.turn == NO_TURN:
            return
        held.token = NO_TURN
        if turn.since_start_ms >= 0:
            held.free_at = now - turn.since_start_ms / 1000 + held.delay_s

    def _acquire(self, name: str, delay_s: float) -> TurnAnswer:
        turn = self._turns.setdefault(name, _HostTurn(delay_s))
        if turn.token != NO_TURN:
            return TurnAnswer("busy", wait_ms=BUSY_MILLISECONDS)
        if (backoff_s := turn.backoff_until - _now()) > 0:
            return TurnAnswer("backoff", wait_ms=int(backoff_s * 1000) + 1)
        if (wait_s := turn.free_at - _now()) > 0:
            return TurnAnswer("busy", wait_ms=int(wait_s * 1000) + 1)
        self._tokens += 1
        turn.token = self._tokens
        return TurnAnswer("acquired", turn.token, delay_ms=int(turn.delay_s * 1000))


def _now() -> float:
    return asyncio.get_running_loop().time()

"""Acquires and releases turns beside those that come with claimed seeds.

All that a visit needs from its own host runs on its lane. Media on other hosts, a robots.txt that has moved to another
host, and follow-up requests to another host need a turn of that host, which is acquired here.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, NamedTuple

from crawler.errors import HostBackoffError, SessionLostError
from crawler.frontier.keys import partition_of
from crawler.frontier.queue import HOST_BACKOFF, NO_TURN
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.lanes import Lane
from crawler.worker.turn import MAX_BACKOFF_WAIT_SECONDS, Turn

if TYPE_CHECKING:
    from crawler.events import Events
    from crawler.frontier.queue import Queue
    from crawler.frontier.session import Session
    from crawler.worker.settler import Settler
    from crawler.worker.visits import Visit


MAX_POLL_SECONDS = 1.0  # longest delay between two tries for a turn: it may be released sooner than Redis said
JITTER_SECONDS = (0.005, 0.05)  # added to each delay, so that visits that wait for one turn don't all try at once


class HostBackoff(NamedTuple):
    """Event: a host asked for a pause, or keeps failing; this worker or another one found out."""

    host: str
    seconds: float


class Turns:
    """Acquires and releases turns for the session's owner. Publishes `HostBackoff`.

    Args:
        stopping: Set when the worker stops.

    Attributes:
        queued: The number of visits that wait for a turn of another host.
    """

    def __init__(
        self, queue: Queue, session: Session, settler: Settler, *, events: Events, stopping: asyncio.Event
    ) -> None:
        self._queue = queue
        self._session = session
        self._settler = settler
        self._events = events
        self._stopping = stopping
        self.queued = 0

    async def acquire(self, host: str, visit: Visit) -> Lane:
        """Waits for a turn of a host.

        Never call it for a visit that holds a turn of another host: two visits could wait for each other's turns.

        Args:
            visit: What the turn is for.

        Raises:
            SessionLostError: The session was lost, the worker stops, or the visit has ended.
            PageTimeoutError: The visit's time is up.
            HostBackoffError: The host's backoff is longer than MAX_BACKOFF_WAIT_SECONDS.
        """

        async def try_acquire() -> tuple[Lane | None, float]:
            visit.check()
            return await self.try_acquire(host, visit.seed.site)

        self.queued += 1
        try:
            while True:
                lane, wait_s = await until_redis_answers(f"a turn of {host}", try_acquire)
                if lane is not None:
                    return lane
                await asyncio.sleep(min(wait_s, MAX_POLL_SECONDS) + random.uniform(*JITTER_SECONDS))
        finally:
            self.queued -= 1

    async def try_acquire(self, host: str, site: str) -> tuple[Lane | None, float]:
        """Takes a turn of a host if one is free; else returns None and the seconds until it is worth trying again.

        Args:
            site: Name of a site whose politeness applies to the host, besides that of sites with seeds there.

        Raises:
            SessionLostError: The session was lost, or the worker stops.
            HostBackoffError: The host's backoff is longer than MAX_BACKOFF_WAIT_SECONDS.
            redis.exceptions.RedisError: Redis is away; a turn that it may have given is released by the next call.
        """
        token, number_ms = await self._queue.acquire_turn(host, site, self._owner())
        if token > NO_TURN:
            return Lane(host, token, partition_of(host, self._queue.partitions), number_ms / 1000), 0.0
        if token == HOST_BACKOFF and number_ms > MAX_BACKOFF_WAIT_SECONDS * 1000:
            raise HostBackoffError(host, number_ms / 1000)
        return None, number_ms / 1000

    async def try_acquire_address(self, name: str, concurrency: int, delay_s: float) -> tuple[Turn | None, float]:
        """As `try_acquire`, for a turn of an IP address.

        Args:
            name: `@` and the address.
            concurrency: How many turns the address has.
            delay_s: Seconds between two starts on any of these turns.

        Raises:
            SessionLostError: As `try_acquire`.
            redis.exceptions.RedisError: As `try_acquire`.
        """
        token, number_ms = await self._queue.acquire_address(name, self._owner(), concurrency, int(delay_s * 1000))
        if token > NO_TURN:
            return Turn(name, token, partition_of(name, self._queue.partitions), delay_s), 0.0
        return None, number_ms / 1000

    def release(self, turn: Turn) -> None:
        """Releases a turn; the frontier is told with the next batch of settlements."""
        self._settler.release(self._session.owner, turn.partition, turn.release())

    def report(self, turn: Turn) -> None:
        """Tells this worker and the others that a turn's host has a backoff; the turn is kept."""
        self._events.publish(HostBackoff(turn.host, turn.backoff_s))
        self._settler.release(self._session.owner, turn.partition, turn.report())

    def _owner(self) -> str:
        if self._stopping.is_set() or not self._session.alive:
            raise SessionLostError("no session to acquire a turn for")
        return self._session.owner

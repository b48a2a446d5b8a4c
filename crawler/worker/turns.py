"""The turns that a worker takes and gives back beside those that come with claimed seeds.

A page's lane carries all that the page needs from its own host. Media on other hosts, a robots.txt that has moved, a
further page elsewhere need a turn of a host that no seed of this worker stands for: it is acquired here.
"""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import RedisError

from crawler.errors import FrontierError, HostBackoffError
from crawler.frontier.keys import partition_of
from crawler.frontier.queue import LEFT_ALONE, NO_TURN
from crawler.servers.redis_retry import RETRY_SECONDS
from crawler.worker.lanes import Lane
from crawler.worker.turn import PATIENCE_SECONDS, Turn

if TYPE_CHECKING:
    from crawler.events import Events
    from crawler.frontier.queue import Queue
    from crawler.frontier.session import Session
    from crawler.worker.settler import Settler
    from crawler.worker.visits import Visit

logger = logging.getLogger(__name__)
POLL_SECONDS = 1.0  # longest wait between two questions whether a turn is free: it may be released sooner than foretold
JITTER_SECONDS = (0.005, 0.05)  # added to each wait, so that those who wait for one turn don't all ask at once


class HostBackoff(NamedTuple):
    """Event: a host asked for a pause, or keeps failing; this worker or another has found out."""

    host: str
    seconds: float


class Turns:
    """Acquires and releases turns for the session's owner.

    Args:
        stopping: Set when the worker stops.

    Attributes:
        waiting: Visits that wait for a turn of another host.
    """

    def __init__(
        self, queue: Queue, session: Session, settler: Settler, *, events: Events, stopping: asyncio.Event
    ) -> None:
        self._queue = queue
        self._session = session
        self._settler = settler
        self._events = events
        self._stopping = stopping
        self.waiting = 0

    async def acquire(self, host: str, visit: Visit) -> Lane:
        """Waits for a turn of a host.

        Never call it while holding a turn of another host: two visits could wait for each other's.

        Args:
            visit: What the turn is for.

        Raises:
            FrontierError: The session was lost, the worker stops, or the visit has ended.
            PageTimeoutError: The visit's time is up.
            HostBackoffError: The host's backoff is longer than PATIENCE_SECONDS.
        """
        self.waiting += 1
        try:
            while True:
                visit.check()
                try:
                    lane, wait_s = await self.try_acquire(host, visit.seed.site)
                except RedisError as error:
                    logger.warning("a turn of %s: waiting for Redis: %s", host, error)
                    lane, wait_s = None, RETRY_SECONDS
                if lane is not None:
                    return lane
                await asyncio.sleep(min(wait_s, POLL_SECONDS) + random.uniform(*JITTER_SECONDS))
        finally:
            self.waiting -= 1

    async def try_acquire(self, host: str, site: str) -> tuple[Lane | None, float]:
        """Takes a turn of a host if one is free; returns it, or None and the seconds until it is worth asking again.

        Args:
            site: Name of the site whose politeness counts for the host, besides those that know it already.

        Raises:
            FrontierError: The session was lost, or the worker stops.
            HostBackoffError: The host's backoff is longer than PATIENCE_SECONDS.
            redis.exceptions.RedisError: Redis is away; a turn that it may have given goes back with the next call.
        """
        token, number_ms = await self._queue.acquire_turn(host, site, self._owner())
        if token > NO_TURN:
            return Lane(host, token, partition_of(host, self._queue.partitions), number_ms / 1000), 0.0
        if token == LEFT_ALONE and number_ms > PATIENCE_SECONDS * 1000:
            raise HostBackoffError(host, number_ms / 1000)
        return None, number_ms / 1000

    async def try_acquire_address(self, name: str, concurrency: int, delay_s: float) -> tuple[Turn | None, float]:
        """As `try_acquire`, for a turn of an address.

        Args:
            name: `@` and the address.
            concurrency: How many turns it has.
            delay_s: Seconds between two starts on any of them.

        Raises:
            FrontierError: As `try_acquire`.
            redis.exceptions.RedisError: As `try_acquire`.
        """
        token, number_ms = await self._queue.acquire_address(name, self._owner(), concurrency, int(delay_s * 1000))
        if token > NO_TURN:
            return Turn(name, token, partition_of(name, self._queue.partitions), delay_s), 0.0
        return None, number_ms / 1000

    def release(self, turn: Turn) -> None:
        """Gives a turn back; the frontier hears of it with the next batch of settlements."""
        self._settler.release(self._session.owner, turn.partition, turn.release())

    def report(self, turn: Turn) -> None:
        """Says that a turn's host fails or wants a pause, while the turn is kept: to this worker and to the others."""
        self._events.publish(HostBackoff(turn.host, turn.backoff_s))
        self._settler.release(self._session.owner, turn.partition, turn.report())

    def _owner(self) -> str:
        if self._stopping.is_set() or not self._session.alive:
            raise FrontierError("no session to acquire a turn for")
        return self._session.owner

"""Acquires and releases turns beside those that come with claimed seeds.

All that a visit needs from its own host runs on its lane. Media on other hosts, a robots.txt that has moved to another
host, and follow-up requests to another host need a turn of that host, which is acquired here. So does what a rendered
page loads from other hosts, of which each turn is kept for many requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING, NamedTuple, Protocol

from redis.exceptions import RedisError

from crawler.base import reasons
from crawler.base.errors import HostBackoffError, SessionLostError
from crawler.frontier.turn_answers import OTHERS_FIRST
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.turn import MAX_BACKOFF_WAIT_SECONDS, Turn
from crawler.worker.visits.visit import Lane

if TYPE_CHECKING:
    from crawler.base.events import Events
    from crawler.frontier.session import Lease, Session
    from crawler.frontier.settlement import TurnRelease
    from crawler.frontier.turn_answers import TurnAnswer, TurnStart
    from crawler.worker.visits.request_state import RequestState, TurnUse
    from crawler.worker.visits.visit import Visit


MAX_POLL_SECONDS = 1.0  # longest delay between two tries for a turn: it may be released sooner than Redis said
SHORT_POLL_SECONDS = 0.1  # the longest such delay while a turn of another host is held
SURPLUS_TURN = Outcome("release", reasons.SURPLUS_TURN)
JITTER_SECONDS = (0.005, 0.05)  # added to each delay, so that visits that wait for one turn don't all try at once


class HostBackoff(NamedTuple):
    """Event: a host asked for a pause, or keeps failing; this worker or another one found out."""

    host: str
    seconds: float


class CrawlDelay(NamedTuple):
    """Event: a host asks for a Crawl-delay, and several of its turns are held; this worker or another one found out."""

    host: str
    seconds: float


class TurnSource(Protocol):
    """Who gives turns: `crawler.frontier.queue.Queue`, whose methods say more."""

    async def acquire_turn(self, host: str, site: str, owner: str) -> TurnAnswer:
        """Acquires a turn of a host."""

    async def acquire_address(self, name: str, owner: str, concurrency: int, delay_ms: int) -> TurnAnswer:
        """Acquires a turn of an address."""

    async def turn_start(self, host: str, crawl_delay_ms: int, owner: str, token: int) -> TurnStart:
        """Says when a turn may start its next request."""


class TurnSink(Protocol):
    """Who is told of released turns: the settler."""

    def release(self, owner: str, partition: int, turn: TurnRelease) -> None:
        """Takes a turn back."""


class TurnKeeper(TurnSource, TurnSink, Protocol):
    """Who does both, where there is no frontier."""


class Turns:
    """Acquires and releases turns for the session's owner. Publishes `HostBackoff` and `CrawlDelay`.

    Attributes:
        queued: The number of visits that wait for a turn of another host.
    """

    def __init__(
        self, queue: TurnSource, session: Session, settler: TurnSink, *, events: Events, stopping: asyncio.Event
    ) -> None:
        self._queue = queue
        self._session = session
        self._settler = settler
        self._events = events
        self._stopping = stopping
        self._used_by: dict[Turn, Visit] = {}  # turns that don't come with claimed seeds, and what they are for
        self.queued = 0

    async def acquire(self, host: str, visit: Visit) -> Lane:
        """Waits for a turn of a host.

        Never call it for a visit that holds a turn of another host: two visits could wait for each other's turns.

        Args:
            visit: What the turn is for.

        Raises:
            SessionLostError: The worker stops, or the visit has ended.
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
                    self.note_use(lane, visit)
                    return lane
                await asyncio.sleep(min(wait_s, MAX_POLL_SECONDS) + random.uniform(*JITTER_SECONDS))
        finally:
            self.queued -= 1

    async def try_acquire(self, host: str, site: str) -> tuple[Lane | None, float]:
        """Takes a turn of a host if one is free; else returns None and the seconds until it is worth trying again.

        Args:
            site: Name of a site whose politeness applies to the host, besides that of sites with seeds there.

        Raises:
            SessionLostError: The worker stops.
            HostBackoffError: The host's backoff is longer than MAX_BACKOFF_WAIT_SECONDS.
            redis.exceptions.RedisError: Redis is away; a turn that it may have given is released by the next call.
        """
        lease = self._lease(host)
        if not lease.alive:
            return None, MAX_POLL_SECONDS
        answer = await self._queue.acquire_turn(host, site, lease.owner)
        if answer.state == "acquired":
            return Lane(host, answer.token, lease.partition, answer.delay_ms / 1000), 0.0
        if answer.state == "backoff" and answer.wait_ms > MAX_BACKOFF_WAIT_SECONDS * 1000:
            raise HostBackoffError(host, answer.wait_ms / 1000)
        return None, _wait_s(answer)

    async def acquire_within(self, host: str, site: str, seconds: float) -> tuple[Lane | None, float]:
        """Waits for a turn of a host for so long at most, on behalf of a visit that holds a turn of another host.

        A second visit may hold the two turns the other way round. Both then wait in vain until one gives up, so the
        wait should be short; and of random length, lest both give up at once.

        Returns:
            The lane and 0; or None and the seconds until it is worth trying again.

        Raises:
            SessionLostError: The worker stops.
            HostBackoffError: The host's backoff is longer than MAX_BACKOFF_WAIT_SECONDS.
        """
        loop = asyncio.get_running_loop()
        until, wait_s = loop.time() + seconds, 0.0
        while True:
            with contextlib.suppress(RedisError):
                lane, wait_s = await self.try_acquire(host, site)
                if lane is not None:
                    return lane, 0.0
            if loop.time() >= until:
                return None, wait_s
            await asyncio.sleep(min(max(wait_s, SHORT_POLL_SECONDS / 10), SHORT_POLL_SECONDS))

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
        lease = self._lease(name)
        if not lease.alive:
            return None, MAX_POLL_SECONDS
        answer = await self._queue.acquire_address(name, lease.owner, concurrency, int(delay_s * 1000))
        if answer.state == "acquired":
            return Turn(name, answer.token, lease.partition, delay_s), 0.0
        return None, _wait_s(answer)

    def note_use(self, turn: Turn, visit: Visit) -> None:
        """Notes that a visit uses a turn that didn't come with its seed, until it is released."""
        self._used_by[turn] = visit

    def back_off(self, host: str, seconds: float) -> None:
        """Has such turns of a host start nothing for so long: what uses one may have more to ask of the host."""
        for turn in self._held_of(host):
            turn.back_off(seconds)

    def slow_down(self, host: str, crawl_delay_s: float) -> None:
        """Has such turns of a host ask when they may be used next: its robots.txt asks for a Crawl-delay."""
        for turn in self._held_of(host):
            turn.slow_down(crawl_delay_s)

    def change_politeness(self, host: str | None = None) -> None:
        """Has such turns ask when they may be used next: what is asked for, or a site, has changed.

        Args:
            host: None: that of any.
        """
        for turn in self._held_of(host):
            turn.change_politeness()

    def users(self, partition: int) -> set[Visit]:
        """Returns the visits that use such turns of a partition."""
        return {visit for turn, visit in self._used_by.items() if turn.partition == partition}

    async def heed_politeness(self, turn: Turn, visit: Visit) -> None:
        """Returns when the frontier has said when a turn may be used, by its host's politeness as it is now.

        Args:
            visit: What the next request on the turn is for.

        Raises:
            RefusedError: The visit hasn't started, and the host has fewer turns by now: the seed is released.
            SessionLostError: The session was lost, the worker stops, or the visit has ended.
            PageTimeoutError: The visit's time is up.
        """

        async def ask() -> TurnStart:
            visit.check()
            crawl_delay_ms = int(turn.crawl_delay_s * 1000)
            return await self._queue.turn_start(turn.host, crawl_delay_ms, self._owner_of(turn), turn.token)

        while True:
            changes = turn.changes  # before the answer: another change from now on has the frontier asked again
            surplus, wait_ms, delay_ms = await until_redis_answers(f"the politeness of {turn.host}", ask)
            if surplus and turn.crawl_delay_s:
                self._events.publish(CrawlDelay(turn.host, turn.crawl_delay_s))
            if (surplus or wait_ms == OTHERS_FIRST) and not visit.started:
                raise RefusedError(SURPLUS_TURN)
            if wait_ms != OTHERS_FIRST:
                turn.heed_politeness(changes, delay_ms / 1000, wait_ms / 1000)
                return
            await asyncio.sleep(MAX_POLL_SECONDS + random.uniform(*JITTER_SECONDS))

    def release(self, turn: Turn) -> None:
        """Releases a turn; the frontier is told with the next batch of settlements."""
        self._used_by.pop(turn, None)
        self._settler.release(self._session.leases[turn.partition].owner, turn.partition, turn.release())

    def end_request(self, state: RequestState) -> None:
        """Ends a request's use of its turns, and releases those that were acquired for it alone; at most once."""
        use, state.turn_use = state.turn_use, None
        if use is not None:
            use.lane.finish()
            self.release_address(use)
            if use.is_acquired:
                self.release(use.lane)

    def release_address(self, use: TurnUse) -> None:
        """Releases the turn of a request's IP address, if it has one; the address's delay applies to all its turns."""
        address, use.address = use.address, None
        if address is not None:
            address.back_off(address.pause_s())
            self.release(address)

    def report(self, turn: Turn) -> None:
        """Tells the frontier at once that a turn's host may be failing; the turn is kept.

        The frontier tells all workers of a backoff that follows; of one that has begun this one is told here.
        """
        if turn.backoff_s:
            self._events.publish(HostBackoff(turn.host, turn.backoff_s))
        self._settler.release(self._session.leases[turn.partition].owner, turn.partition, turn.report())

    def _held_of(self, host: str | None) -> list[Turn]:
        return [turn for turn in self._used_by if host in (None, turn.host)]

    def _lease(self, host: str) -> Lease:
        if self._stopping.is_set():
            raise SessionLostError("the worker stops and acquires no more turns")
        return self._session.lease_of(host)

    def _owner_of(self, turn: Turn) -> str:
        lease = self._lease(turn.host)
        if not lease.alive:
            raise SessionLostError("no session in which the turn is held")
        return lease.owner


def _wait_s(answer: TurnAnswer) -> float:
    """Returns the seconds until it is worth asking again for a turn that wasn't acquired."""
    if answer.state == "lapsed":  # the frontier's clock is ahead of this one: the session will know soon
        return MAX_POLL_SECONDS
    return answer.wait_ms / 1000

"""A worker's session: one renewable deadline in every partition, which is its lease on all that it holds there.

A command that asks hosts by their turns has one, too.

A thread of its own renews the leases, so that a slow parse on the event loop doesn't make them lapse. A loop that has
shown no sign of life for STUCK_SECONDS is given up: its leases are renewed no more, so that others get its seeds. The
other way round, a worker whose thread is stuck is to be started again by whoever watches over it (`is_looked_after`).

The partitions are each for itself: where one's Redis is away, its lease alone runs out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from crawler.base import crawl_time, log_events, tasks
from crawler.base.crawl_time import boottime
from crawler.base.errors import FrontierError
from crawler.base.seldom import Seldom
from crawler.frontier import scripts
from crawler.frontier.keys import SCHEMA_VERSION, as_text, partition_of
from crawler.frontier.owners import new_owner, next_owner
from crawler.frontier.schema import refuse_other
from crawler.servers.redis_cluster import node_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from redis import Redis

    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger
    from crawler.frontier.keys import Keys

logger: EventLogger = logging.getLogger(__name__)
STUCK_SECONDS = 60  # how long the event loop, or the session's thread, may stand still: far longer than both ever take
# When, from the opening on, the first renewal is due: by then there are figures of the load.
FIRST_RENEWAL_SECONDS = 1.0
RENEWALS_PER_SESSION = 5  # how often a session is renewed while one lasts, so that four may fail before it lapses
LAPSED_SHOWN_SECONDS = 3_600  # how long a worker that is gone is named: for whoever looks some time after a crash
# Longest time between two looks at the deadlines: the event loop's clock stands still while the machine sleeps.
WATCH_SECONDS = 0.25


class SessionOpened(NamedTuple):
    """Event, published by `Session.open` in the thread that calls it: nothing is claimed yet, and nothing renewed.

    Attributes:
        redis: The client that will be that thread's, for subscribers that have something to write.
        name: The session's.
        now_s: By the partitions' clocks, since the epoch.
    """

    redis: Redis
    name: str
    now_s: int


class SessionRenewed(SessionOpened):
    """Event, published in the session's thread: the session was renewed, in some partition at least."""

    __slots__ = ()


class SessionEnding(NamedTuple):
    """Event, published while the session is being closed, when its thread has ended.

    Attributes:
        redis: The client that was that thread's.
        name: The session's.
        now_s: By the partitions' clocks, since the epoch.
    """

    redis: Redis
    name: str
    now_s: int


class SessionExpired(NamedTuple):
    """Event, published on the event loop: nobody could renew a lease until its deadline.

    From now on others may claim what it stands for. Where nobody has when it is renewed after all, it is still held.
    """

    partition: int


class SessionLost(NamedTuple):
    """Event, published on the event loop: others have claimed what a lease stood for. Its owner id isn't used again."""

    partition: int
    owner: str


@dataclass(slots=True, eq=False)
class Lease:
    """The session in one partition.

    Attributes:
        owner: Who holds what is held there; another one after each loss.
        deadline: By `boottime`; 0: it is not open.
        reachable: The last call to the partition was answered, as far as is known.
        expired: `SessionExpired` was published since the last renewal.
        lost: `SessionLost` was published, and nobody has begun anew since.
        tried: When a renewal was last tried, by `boottime`; 0: never.
    """

    partition: int
    _keys: list[str]
    owner: str
    deadline: float = 0.0
    reachable: bool = True
    expired: bool = False
    lost: bool = False
    tried: float = 0.0

    @property
    def alive(self) -> bool:
        """Whether fetches may start: the deadline is ahead, by this machine's own clock."""
        return boottime() < self.deadline

    def node(self, redis: Redis) -> Hashable:
        """Returns what tells the Redis that has the partition from others."""
        return node_of(redis, self._keys[0])

    def renew(self, redis: Redis, seconds: float) -> int:
        """Opens the lease or renews it. Returns the partition's time in ms; 0: it has lapsed and was reclaimed."""
        asked = boottime()  # this is before the call, so that the deadline here is no later than the one in Redis
        owner = self.owner
        now_ms = self._call(redis, "renew" if self.deadline else "open", seconds)
        if now_ms and owner == self.owner:
            self.deadline, self.expired = asked + seconds, False
        if now_ms and self.partition == 0:  # by whose clock plans are submitted, too
            crawl_time.hear(now_ms, asked)
        return now_ms

    def end(self, redis: Redis, seconds: float) -> bool:
        """Ends the lease; returns False when something is still held."""
        return self._call(redis, "end", seconds) > 0

    def _call(self, redis: Redis, action: str, seconds: float) -> int:
        arguments = [*self._keys, action, self.owner, str(int(seconds * 1000))]
        try:
            return int(redis.evalsha(scripts.digest("session"), len(self._keys), *arguments))
        except NoScriptError:
            return int(redis.eval(scripts.source("session"), len(self._keys), *arguments))


class Session:
    """Keeps the leases of one process alive.

    Publishes `SessionOpened`, `SessionRenewed`, `SessionEnding`, `SessionExpired` and `SessionLost`.

    Args:
        redis: A synchronous client for the session's thread alone. Its timeout must be short beside `seconds`: while
            one Redis of a cluster doesn't answer, the renewals at the others wait for that.
        seconds: `SESSION_SECONDS`.
        is_command: A command's, not a worker's.

    Attributes:
        name: The owner id that it begins with, by which others know the process.
        leases: By partition.
    """

    def __init__(
        self,
        redis: Redis,
        keys: Keys,
        *,
        partitions: int,
        seconds: float,
        events: Events,
        is_command: bool = False,
    ) -> None:
        self.name = new_owner(is_command=is_command)
        self.leases = [
            Lease(number, keys.partition(number).script_keys("content"), self.name) for number in range(partitions)
        ]
        self._redis = redis
        self._schema = keys.schema
        self._format_may_differ = False  # a lease was dead for a time, and the format hasn't been asked for since
        self._seconds = seconds
        self._events = events
        self._loop: asyncio.AbstractEventLoop | None = None  # it is known once the session is opened
        self._stop = threading.Event()
        self._warn = Seldom(logger.warning)
        self._thread: threading.Thread | None = None
        self._loop_seen = boottime()
        self._due = math.inf  # when the thread renews again, by `boottime`

    @property
    def alive(self) -> bool:
        """Whether fetches may start, in some partition at least."""
        return any(lease.alive for lease in self.leases)

    @property
    def reachable(self) -> bool:
        """Whether the last call to every partition was answered, as far as is known."""
        return all(lease.reachable for lease in self.leases)

    @property
    def is_looked_after(self) -> bool:
        """Whether the thread goes on trying to renew the leases, in vain or not."""
        return boottime() < self._due + STUCK_SECONDS

    def lease_of(self, host: str) -> Lease:
        """Returns the lease for what is held of a host, or of an `@ADDRESS`."""
        return self.leases[partition_of(host, len(self.leases))]

    # -- The event loop's part ----------------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Publishes `SessionExpired` for each lease at its deadline, whatever its thread and Redis do."""
        while True:
            self.note_loop_alive()
            sleep_s = WATCH_SECONDS
            for lease in self.leases:
                left_s = lease.deadline - boottime()
                if left_s > 0:
                    sleep_s = min(sleep_s, left_s)
                elif lease.deadline and not lease.expired:
                    lease.expired = True
                    self._events.publish(SessionExpired(lease.partition))
            await asyncio.sleep(sleep_s)

    def note_loop_alive(self) -> None:
        """Notes that the event loop is alive."""
        self._loop_seen = boottime()

    def begin_anew(self, partition: int) -> None:
        """Gives a lost lease another owner, for whom the thread opens it."""
        lease = self.leases[partition]
        lease.owner, lease.lost = next_owner(self.name), False

    # -- Opening and closing ------------------------------------------------------------------------------------------

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Opens the session and starts renewing. Blocking: call it off the event loop.

        Args:
            loop: Where events are published.

        Raises:
            redis.exceptions.RedisError: No partition can be reached; no thread was started.
            FrontierError: The frontier was migrated since it was looked at; likewise.
        """
        self._loop = loop
        if not (now_ms := self._renew()):
            raise RedisConnectionError("no session could be opened")
        if self._thread is None:
            self._tell(SessionOpened(self._redis, self.name, now_ms // 1000))
            self._thread = tasks.start_thread(self._run, name="session", died=self._publish_on_loop)

    def close(self) -> bool:
        """Ends the session, if it was opened, and disconnects. Blocking.

        Returns:
            False when seeds or turns are still held, or Redis is away: others get them when the session lapses.
        """
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=self._seconds)
        for lease in self.leases:
            lease.deadline = 0.0
        opened = [lease for lease in self.leases if lease.tried]
        ended = all(lease.reachable for lease in opened)
        try:
            for lease in opened:
                if lease.reachable:
                    ended &= lease.end(self._redis, self._seconds)
            if opened:
                self._events.publish(SessionEnding(self._redis, self.name, int(crawl_time.now().timestamp())))
        except RedisError:
            return False
        finally:
            self._redis.close()
        return ended

    # -- The thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        interval_s = self._seconds / RENEWALS_PER_SESSION
        self._due = boottime() + min(interval_s, FIRST_RENEWAL_SECONDS)
        while not self._stop.wait(max(0.0, self._due - boottime())):
            # The next renewal isn't put off, though Redis doesn't answer.
            self._due = max(self._due + interval_s, boottime())
            if boottime() - self._loop_seen > STUCK_SECONDS:
                continue
            try:
                if now_ms := self._renew():
                    self._tell(SessionRenewed(self._redis, self.name, now_ms // 1000))
            except FrontierError:
                raise
            except Exception:  # a worker whose session is renewed no more would lose all that it holds
                logger.exception(log_events.SESSION_THREAD_ERROR)

    def _tell(self, event: SessionOpened | SessionRenewed) -> None:
        """Publishes an event to those who write to Redis; that it is away to one of them ends no session."""
        try:
            self._events.publish(event)
        except RedisError as error:
            self._warn(log_events.RENEWAL_SUBSCRIBER_FAILED, error)

    def _renew(self) -> int:
        """Renews the leases; those that couldn't be reached last, and of each Redis that is away only one.

        Returns:
            The time by the partitions' clocks, in ms; 0: no lease was renewed.

        Raises:
            FrontierError: The frontier was migrated meanwhile; nothing is held any more.
        """
        latest_ms, any_late = 0, False
        away: dict[Hashable, RedisError] = {}
        for lease in sorted(self.leases, key=lambda lease: (not lease.reachable, lease.tried)):
            if lease.lost or self._stop.is_set():
                continue
            node = lease.node(self._redis)
            if node in away:
                lease.reachable = False
                continue
            lease.tried = boottime()
            is_late = not lease.alive
            try:
                now_ms = lease.renew(self._redis, self._seconds)
            except (RedisConnectionError, RedisTimeoutError) as error:
                away[node] = error
                lease.reachable = False
            except RedisError as error:
                self._warn(log_events.SESSION_NOT_RENEWED, lease.partition, error)
                lease.reachable = False
            else:
                lease.reachable = True
                latest_ms = max(latest_ms, now_ms)
                any_late = any_late or is_late
                if not now_ms:
                    lease.lost, lease.deadline = True, 0.0
                    self._publish_on_loop(SessionLost(lease.partition, lease.owner))
        for node_error in away.values():
            unreachable = sum(not lease.reachable for lease in self.leases)
            self._warn(log_events.SESSIONS_NOT_RENEWED, unreachable, len(self.leases), node_error)
        self._format_may_differ = self._format_may_differ or any_late
        if self._format_may_differ and latest_ms:
            self._refuse_other_format()
        return latest_ms

    def _refuse_other_format(self) -> None:
        """Gives all up when the frontier was migrated while no lease was alive: others go by other rules there now.

        Asked after each opening and late renewal, until there is an answer: whoever migrates looks for living sessions
        after the format says so.

        Raises:
            FrontierError: It was.
        """
        try:
            version = cast("bytes | None", self._redis.hget(self._schema, "version"))
            refuse_other(str(SCHEMA_VERSION) if version is None else as_text(version))
            self._format_may_differ = False
        except RedisError as error:  # it is asked for again with the next renewal
            self._warn(log_events.FORMAT_UNREAD, error)
        except FrontierError:
            for lease in self.leases:
                # If this fails, the lease lapses; whoever migrates waits for that.
                with contextlib.suppress(RedisError):
                    lease.end(self._redis, self._seconds)
                lease.lost, lease.deadline = True, 0.0
                self._publish_on_loop(SessionLost(lease.partition, lease.owner))
            raise

    def _publish_on_loop(self, event: object) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._events.publish, event)

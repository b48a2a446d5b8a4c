"""A worker's session: one renewable deadline in every partition, which is its lease on all that it holds.

A thread of its own renews it, so that a slow parse on the event loop doesn't make it lapse. A loop that has shown no
sign of life for LOOP_STUCK_SECONDS is given up: its session is renewed no more, so that others get its seeds.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import NoScriptError, RedisError

from crawler.frontier import scripts

if TYPE_CHECKING:
    import asyncio

    from redis import Redis

    from crawler.events import Events
    from crawler.frontier.keys import Keys

logger = logging.getLogger(__name__)
LOOP_STUCK_SECONDS = 60
RENEWALS_PER_SESSION = 5  # so that four may fail before the session lapses


class SessionRenewed(NamedTuple):
    """Event, published in the session's thread: the session was renewed.

    Attributes:
        redis: The client of that thread, for subscribers that have something to write at each renewal.
        now_s: By Redis's clock, since the epoch.
    """

    redis: Redis
    owner: str
    now_s: int


class SessionEnding(NamedTuple):
    """Event, published while the session is being closed, when its thread has ended.

    Attributes:
        redis: The client that was that thread's.
    """

    redis: Redis
    owner: str


class SessionLost(NamedTuple):
    """Event, published on the event loop: others have claimed what the session held. Its owner id isn't used again."""

    owner: str


def new_owner() -> str:
    """Returns a worker id that is never used twice: `host:pid:start:random`."""
    node = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in socket.gethostname())
    return f"{node}:{os.getpid()}:{int(time.time())}:{secrets.token_hex(4)}"


def boottime() -> float:
    """Returns seconds by a clock that goes on while the machine sleeps, so that a worker that was frozen notices."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Session:
    """Keeps one owner's session alive. Publishes `SessionRenewed`, `SessionEnding` and `SessionLost`.

    Args:
        redis: A synchronous client for the session's thread alone, with a socket timeout well under `seconds`.
        seconds: `SESSION_SECONDS`.
    """

    def __init__(
        self,
        redis: Redis,
        keys: Keys,
        *,
        partitions: int,
        seconds: float,
        events: Events,
    ) -> None:
        self._redis = redis
        self._script_keys = [keys.partition(number).script_keys("content") for number in range(partitions)]
        self._seconds = seconds
        self._events = events
        self._loop: asyncio.AbstractEventLoop | None = None  # known once it is opened
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop_seen = boottime()
        self.owner = new_owner()
        self.deadline = 0.0

    @property
    def alive(self) -> bool:
        """Whether fetches may start: the deadline is ahead, by this machine's own clock."""
        return boottime() < self.deadline

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Opens the session and starts renewing. Blocking: call it off the event loop.

        Args:
            loop: Where `SessionLost` is published.

        Raises:
            redis.exceptions.RedisError: Redis is away; nothing was started.
        """
        self._loop = loop
        self._renew("open")
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="session", daemon=True)
            self._thread.start()

    def reopen(self) -> None:
        """Opens a session under a new owner id, after the old one was lost. Blocking.

        The session's thread renews nothing meanwhile, because a lost session's deadline is 0.

        Raises:
            redis.exceptions.RedisError: Redis is away; calling again is safe.
        """
        self.owner = new_owner()
        self._renew("open")

    def note_loop_alive(self) -> None:
        """Notes that the event loop is alive; to be called on it about every second."""
        self._loop_seen = boottime()

    def close(self) -> bool:
        """Ends the session. Blocking.

        Returns:
            False when seeds or turns are still held, or Redis is away: others get them when the session lapses.
        """
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=self._seconds)
        self.deadline = 0.0
        try:
            self._events.publish(SessionEnding(self._redis, self.owner))
            return self._everywhere("end", self.owner) > 0
        except RedisError:
            return False
        finally:
            self._redis.close()

    def _run(self) -> None:
        while not self._stop.wait(self._seconds / RENEWALS_PER_SESSION):
            if boottime() - self._loop_seen > LOOP_STUCK_SECONDS:
                continue
            what = "session not renewed"
            try:
                now_ms = self._renew("renew") if self.deadline else 0
                if self.deadline and not now_ms:
                    self._lose()
                what = "session renewed, but a subscriber to its renewals failed"
                if now_ms:
                    self._events.publish(SessionRenewed(self._redis, self.owner, now_ms // 1000))
            except RedisError as error:
                logger.warning("%s: %s", what, error)
            except Exception:  # a worker whose session is renewed no more would lose all that it holds
                logger.exception("session thread")

    def _lose(self) -> None:
        self.deadline = 0.0
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._events.publish, SessionLost(self.owner))

    def _renew(self, what: str) -> int:
        """Returns Redis's time in ms; 0 when the session has lapsed and was reclaimed."""
        asked = boottime()  # before the call, so that the deadline here is no later than the one in Redis
        owner = self.owner
        now_ms = self._everywhere(what, owner)
        if now_ms and owner == self.owner and not self._stop.is_set():
            self.deadline = asked + self._seconds
        return now_ms

    def _everywhere(self, what: str, owner: str) -> int:
        return min([self._call(keys, what, owner) for keys in self._script_keys])  # a list: all partitions are called

    def _call(self, keys: list[str], what: str, owner: str) -> int:
        arguments = [*keys, what, owner, str(int(self._seconds * 1000))]
        try:
            return int(self._redis.evalsha(scripts.digest("session"), len(keys), *arguments))
        except NoScriptError:
            return int(self._redis.eval(scripts.source("session"), len(keys), *arguments))

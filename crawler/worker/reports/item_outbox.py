"""The newest items that this worker has delivered, on their way to where people look at them."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.frontier.session import SessionEnding, SessionRenewed
from crawler.telemetry import newest_items

if TYPE_CHECKING:
    from redis import Redis

    from crawler.base.events import Events
    from crawler.frontier.keys import Keys

TELL_SECONDS = 10  # how often items are told; people wait that long for a page's item
# How many of a site's items, the newest, are told each time, so that a fast crawl pays next to nothing: packing one
# takes 60 us.
MAX_TOLD = 20
MAX_UNSENT_BYTES = 4_000_000  # the most that all messages which wait take; further ones aren't told


class ItemOutbox:
    """Keeps the newest items of each site, and tells them after a renewal of the session, in the session's thread.

    Args:
        bytes_max: Of all workers' items in Redis; 0: none are kept.
    """

    def __init__(self, keys: Keys, events: Events, bytes_max: int) -> None:
        self._keys = keys
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._unsent: dict[str, deque[bytes]] = {}
        self._unsent_bytes = 0
        self._told_s = 0  # when they were told last, by the partitions' clocks
        events.subscribe(SessionRenewed, lambda event: self._tell(event.redis, event.now_s))
        events.subscribe(SessionEnding, lambda event: self._tell(event.redis, None))

    def delivered(self, site: str, message: bytes) -> None:
        """Takes note of an item that all sinks have.

        Args:
            message: The item, as JSON.
        """
        if not self._bytes_max:
            return
        with self._lock:
            unsent = self._unsent.setdefault(site, deque())
            if len(unsent) == MAX_TOLD:
                self._unsent_bytes -= len(unsent.popleft())
            if self._unsent_bytes + len(message) <= MAX_UNSENT_BYTES:
                unsent.append(message)
                self._unsent_bytes += len(message)

    def _tell(self, redis: Redis, now_s: int | None) -> None:
        """Adds what waits to Redis; what Redis doesn't get of it is lost. Blocking.

        Args:
            now_s: None: it is the last time.
        """
        if now_s is not None:
            if now_s < self._told_s + TELL_SECONDS:
                return
            self._told_s = now_s
        with self._lock:
            unsent, self._unsent, self._unsent_bytes = self._unsent, {}, 0
        for site, messages in unsent.items():
            try:
                newest_items.add(redis, self._keys, site, messages, bytes_max=self._bytes_max)
            except RedisError:  # away, or full: the sinks have the items
                return

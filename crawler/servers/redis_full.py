"""A Redis at its `maxmemory` refuses claims and offers, and still lets workers end what they hold."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from crawler.base import log_events

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
SILENT_SECONDS = 60.0  # least time between two warnings: near its limit Redis refuses and accepts by turns
FULL_REMEDY = "raise its maxmemory (CONFIG SET maxmemory, and in its configuration file) or delete plans that are over"


class RedisFull:
    """Remembers which of a worker's calls Redis refuses for want of memory, and logs that once, not at each try."""

    def __init__(self) -> None:
        self._refused: set[Hashable] = set()
        self._warned = False
        self._silent_until_s = 0.0

    @property
    def now(self) -> bool:
        """Whether any kind of call was refused when it was last tried."""
        return bool(self._refused)

    def note(self, what: Hashable, *, refused: bool) -> None:
        """Notes whether a kind of call, such as the claims of one partition, was refused for want of memory."""
        if not refused:
            self._refused.discard(what)
            if self._warned and not self._refused:
                self._warned = False
                logger.info(log_events.REDIS_HAS_ROOM)
            return
        self._refused.add(what)
        if not self._warned and time.monotonic() >= self._silent_until_s:
            self._warned, self._silent_until_s = True, time.monotonic() + SILENT_SECONDS
            logger.warning(log_events.REDIS_FULL, FULL_REMEDY)

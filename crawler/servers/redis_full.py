"""A Redis that is full (`maxmemory`): it refuses claims and offers, and lets workers end what they hold."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

logger = logging.getLogger(__name__)
SILENT_SECONDS = 60.0  # near the limit it is full and not by turns: one line a minute says enough
REMEDY = "raise its maxmemory (CONFIG SET maxmemory, and in its configuration file) or delete plans that are over"


class RedisFull:
    """Knows what a full Redis refuses this worker just now, and says so once, not at each try."""

    def __init__(self) -> None:
        self._refused: set[Hashable] = set()
        self._said = False
        self._silent_until = 0.0

    @property
    def now(self) -> bool:
        """Whether something was refused the last time that it was tried."""
        return bool(self._refused)

    def note(self, what: Hashable, *, refused: bool) -> None:
        """Notes whether something was refused for want of memory."""
        if not refused:
            self._refused.discard(what)
            if self._said and not self._refused:
                self._said = False
                logger.info("Redis has room again: claims and offers go on")
            return
        self._refused.add(what)
        if not self._said and time.monotonic() >= self._silent_until:
            self._said, self._silent_until = True, time.monotonic() + SILENT_SECONDS
            logger.warning("Redis is full: claims and offers wait until there is room; %s", REMEDY)

"""Log lines about what happens again and again: now and then, with how often it did."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.base.log_events import LogEvent

# Least time between two lines about the same: an outage of an hour is 60 lines, not one for each try.
SILENT_SECONDS = 60.0


class Seldom:
    """Logs the first of many equal messages, and later ones now and then, which say how many were left out.

    Messages of one template are equal. It may be called by several threads: a count may then be one too low.

    Args:
        say: Such as `logger.warning`.
        now: A clock in seconds, of any beginning.
    """

    def __init__(self, say: Callable[..., None], now: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._now = now
        # By template: until when nothing is logged of it; the counts are by template, too.
        self._silent_until_s: dict[str, float] = {}
        self._left_out: Counter[str] = Counter()

    def __call__(self, event: LogEvent, *values: object, **options: Any) -> None:
        """Logs an event, or counts it. The other arguments are those of `logging.Logger.warning`."""
        now_s = self._now()
        if now_s < self._silent_until_s.get(event, now_s):
            self._left_out[event] += 1
            return
        self._silent_until_s[event] = now_s + SILENT_SECONDS
        left_out = self._left_out.pop(event, 0)
        self._say(event.after_others(left_out) if left_out else event, *values, **options)

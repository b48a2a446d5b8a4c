"""Whether this worker can render pages, by which its claims go: asked every second, since browsers come and go."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawler.render.chromium import why_no_browser

if TYPE_CHECKING:
    import asyncio

    from crawler.worker.duties import Duties

LOOK_SECONDS = 1.0  # how often a browser is looked for
FAILED_SECONDS = 60.0  # how long a browser that doesn't start counts as missing; then one page tries it again


class BrowserAtHand:
    """Says what keeps this worker from rendering.

    Args:
        wake: Set when a browser has come: more may be claimed with one.

    Attributes:
        why_no_browser: What keeps it from that; empty: nothing that is known.
        is_wanted: Whether a page was handed back for want of one, since when there has been none.
    """

    def __init__(self, path: str, wake: asyncio.Event, duties: Duties) -> None:
        self._path = path
        self._wake = wake
        self._failed_until_s = 0.0  # until when the browser counts as missing, by the monotonic clock
        self.why_no_browser = why_no_browser(path)
        self.is_wanted = False
        duties.add(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Looks whether there is a browser. Takes some 0.1 ms."""
        why_none = why_no_browser(self._path)
        has_come = bool(self.why_no_browser) and not why_none and time.monotonic() >= self._failed_until_s
        if why_none or has_come:
            self.why_no_browser = why_none
        if has_come:
            self.is_wanted = False
            self._wake.set()

    def note_failed(self, why: str) -> None:
        """Notes that the browser doesn't start, and why."""
        self.why_no_browser, self.is_wanted = why, True
        self._failed_until_s = time.monotonic() + FAILED_SECONDS

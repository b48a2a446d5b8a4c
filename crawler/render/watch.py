"""Watches what a browser takes of the machine, and ends the process of a page that takes too much."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

import psutil

from crawler.base import log_events, tasks

if TYPE_CHECKING:
    from crawler.base.log_events import EventLogger
    from crawler.render.browser import Browser

logger: EventLogger = logging.getLogger(__name__)

# How often memory is looked at, in some 10 ms of a thread; a page's DOM grows by 300 MB a second at most.
WATCH_SECONDS = 1.0


class Watch:
    """Looks at a browser's processes every second.

    Attributes:
        memory_bytes: What they took at the last look.
    """

    def __init__(self, browser: Browser, page_memory_bytes: int) -> None:
        self.memory_bytes = 0
        self._browser = browser
        self._page_memory_bytes = page_memory_bytes
        # Without it the browser would have no bound: then it ends, and the next page gets a new one.
        self._task = tasks.start(self._watch(), name="watch of the browser", died=lambda _: browser.kill())

    async def stop(self) -> None:
        """Ends the watch."""
        await tasks.cancel(self._task)

    async def _watch(self) -> None:
        while not self._browser.died.done():
            self.memory_bytes = await asyncio.to_thread(self._look)
            await asyncio.sleep(WATCH_SECONDS)

    def _look(self) -> int:
        """Returns the memory that the browser takes; a page's process with too much of it is ended."""
        all_taken = self._browser.processes.taken()
        for process, is_renderer, taken in all_taken:
            if is_renderer and taken > self._page_memory_bytes:
                logger.warning(log_events.BROWSER_PAGE_ENDED, taken // 1_000_000)
                with contextlib.suppress(psutil.Error):
                    process.kill()
        return sum(taken for _, _, taken in all_taken)

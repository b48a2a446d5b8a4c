"""How many pages are rendered at once, and which of them alone: those in whose company a browser has died.

What a dead browser had open is suspected, and handed back untried. A suspected page is rendered with no other page
beside it. If the browser dies again then, the page did it, and that was its try.
"""

from __future__ import annotations

import asyncio

from scrapy.utils.datatypes import LocalCache

MAX_SUSPECTS = 1_000  # most suspects that are remembered, in some 200 bytes each; a browser has a few pages open


class RenderSlots:
    """Slots for pages in a browser.

    Args:
        pages: How many there are.
    """

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self._used = 0
        self._one_is_alone = False
        self._wait_to_be_alone = 0
        self._changed = asyncio.Event()
        # Fingerprints of the pages that may crash a browser.
        self._suspects: LocalCache[bytes, None] = LocalCache(MAX_SUSPECTS)

    async def acquire(self, fingerprint: bytes) -> bool:
        """Waits for a slot; returns whether the page is suspected, and has the browser to itself."""
        is_alone = fingerprint in self._suspects
        await (self._until_empty() if is_alone else self._until_free())
        self._used += 1
        self._one_is_alone = is_alone
        return is_alone

    def release(self) -> None:
        """Gives a slot back."""
        self._used -= 1
        self._one_is_alone = False
        self._notify()

    def suspect(self, fingerprint: bytes) -> None:
        """Notes a page that a browser had open when it died."""
        self._suspects[fingerprint] = None

    def clear(self, fingerprint: bytes) -> None:
        """Notes that a page was rendered, or brought itself alone to an end."""
        self._suspects.pop(fingerprint, None)

    async def _until_free(self) -> None:
        while self._used >= self._pages or self._one_is_alone or self._wait_to_be_alone:
            await self._changed.wait()

    async def _until_empty(self) -> None:
        self._wait_to_be_alone += 1
        try:
            while self._used:
                await self._changed.wait()
        finally:
            self._wait_to_be_alone -= 1
            self._notify()

    def _notify(self) -> None:
        """Has all look again whether they may begin."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

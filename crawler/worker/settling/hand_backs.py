"""Pages that are handed back untried because this process got no memory for them: of each page a few times only.

The headroom knows the memory of the node or container, but not every limit of a process, such as one on its addresses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.utils.datatypes import LocalCache

if TYPE_CHECKING:
    from crawler.frontier.settlement import Settlement


# When a page that was handed back is due again: its worker claims nothing for a shorter time, so others go first.
PAUSE_MS = 10_000
MAX_HAND_BACKS = 3  # most times that a worker hands one page back; after them the page may be too large for any node
MAX_PAGES = 10_000  # most pages whose hand-backs are counted, in some 200 bytes each


class HandBacks:
    """How often this worker has handed each page back."""

    def __init__(self) -> None:
        self._number: LocalCache[bytes, int] = LocalCache(MAX_PAGES)

    def bounded(self, settlement: Settlement) -> Settlement:
        """Returns the settlement of a page that is handed back: later than now, and in the end counted as a try."""
        fingerprint = settlement.claimed.fingerprint
        number = self._number[fingerprint] = self._number.get(fingerprint, 0) + 1
        operation = settlement.operation if number <= MAX_HAND_BACKS else "retry"
        return replace(settlement, operation=operation, amount_ms=max(settlement.amount_ms, PAUSE_MS))

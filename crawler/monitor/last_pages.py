"""Pages as they were shown last, for the time in which Redis is away: old figures with their age beat none."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import NamedTuple

MAX_PAGES = 200  # most pages that are kept, of all browsers together; the one that was shown longest ago goes first
MAX_BYTES = 16 * 1024 * 1024  # the most that all of them take
PLACE = '<div id="away"></div>'  # stands in every page where it is told that its figures are old


class LastPage(NamedTuple):
    """A page as it was shown.

    Attributes:
        shown_at_s: By this machine's clock.
    """

    html: str
    shown_at_s: float


class LastPages:
    """What each browser was shown last at each address. A page has the token of its own browser's forms."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, ...], LastPage] = OrderedDict()
        self._bytes = 0

    def keep(self, key: tuple[str, ...], html: str) -> None:
        """Keeps a page in the place of what was shown there before."""
        self._drop(key)
        self._pages[key] = LastPage(html, time.time())
        self._bytes += len(html)
        while self._bytes > MAX_BYTES or len(self._pages) > MAX_PAGES:
            self._drop(next(iter(self._pages)))

    def get(self, key: tuple[str, ...]) -> LastPage | None:
        """Returns what was shown there last; None: nothing, or too long ago."""
        return self._pages.get(key)

    def _drop(self, key: tuple[str, ...]) -> None:
        if page := self._pages.pop(key, None):
            self._bytes -= len(page.html)

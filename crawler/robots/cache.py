"""Rules that a worker has at hand: the ones used last, bounded in number and in size."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.robots.rules import Rules

MAX_AUTHORITIES = 10_000
MAX_TOTAL_BYTES = 16 * 1024 * 1024  # of their files; compiled rules take some ten times as much


@dataclass(frozen=True, slots=True)
class CachedRules:
    """One authority's rules.

    Attributes:
        until: When they must be looked up again, by the event loop's clock.
        rules: None: unreachable, nothing may be fetched for now.
        failures: Times in a row that the file was unreachable.
        delay_s: Crawl-delay, clamped; 0: none.
        weight: Bytes of the file.
    """

    until: float
    rules: Rules | None
    failures: int = 0
    delay_s: float = 0.0
    weight: int = 0


class RobotsCache:
    """A cache that forgets what was used least lately."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, CachedRules] = OrderedDict()
        self._weight = 0

    def get(self, authority: str) -> CachedRules | None:
        """Returns what is known, fresh or not."""
        known = self._known.get(authority)
        if known is not None:
            self._known.move_to_end(authority)
        return known

    def put(self, authority: str, known: CachedRules) -> None:
        """Keeps it, in the place of others if need be."""
        if (old := self._known.pop(authority, None)) is not None:
            self._weight -= old.weight
        self._known[authority] = known
        self._weight += known.weight
        while len(self._known) > MAX_AUTHORITIES or self._weight > MAX_TOTAL_BYTES:
            _, gone = self._known.popitem(last=False)
            self._weight -= gone.weight

"""A worker's cache of parsed robots.txt rules: least recently used ones are dropped; bounded in number and size."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.robots.rules import Rules

MAX_AUTHORITIES = 10_000
# The most that all files take together; their parsed rules take some ten times as much memory.
MAX_TOTAL_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CachedRules:
    """The rules of one authority.

    Attributes:
        until: When they must be looked up again, by the event loop's clock.
        rules: None: the file was unreachable, so nothing may be fetched for now.
        asked_at: When this worker had asked for it, or had waited for another worker to ask, by the event loop's clock;
            minus infinity: it was known.
        delay_s: Crawl-delay, at most ROBOTS_MAX_CRAWL_DELAY_SECONDS; 0: none.
        size_bytes: Size of the file.
    """

    until: float
    rules: Rules | None
    asked_at: float = -math.inf
    delay_s: float = 0.0
    size_bytes: int = 0


class RobotsCache:
    """The rules of authorities, by authority."""

    def __init__(self) -> None:
        self._rules: OrderedDict[str, CachedRules] = OrderedDict()  # the least recently used rules stand first
        self._total_bytes = 0

    def get(self, authority: str) -> CachedRules | None:
        """Returns an authority's rules, fresh or not; None when they aren't cached."""
        rules = self._rules.get(authority)
        if rules is not None:
            self._rules.move_to_end(authority)
        return rules

    def put(self, authority: str, rules: CachedRules) -> None:
        """Caches an authority's rules; drops the least recently used others while there is too much."""
        if (old := self._rules.pop(authority, None)) is not None:
            self._total_bytes -= old.size_bytes
        self._rules[authority] = rules
        self._total_bytes += rules.size_bytes
        while len(self._rules) > MAX_AUTHORITIES or self._total_bytes > MAX_TOTAL_BYTES:
            _, dropped = self._rules.popitem(last=False)
            self._total_bytes -= dropped.size_bytes

"""Scrapy's statistics without what each access costs there."""

from __future__ import annotations

from typing import Any

from scrapy.statscollectors import MemoryStatsCollector


class LeanStats(MemoryStatsCollector):
    """Statistics in memory, for the setting STATS_CLASS.

    Scrapy wraps every method, to warn where a spider is passed as in old days; here such an argument passes unheard.
    """

    __getattribute__ = object.__getattribute__

    def inc_value(self, key: str, count: int = 1, start: int = 0, spider: Any = None) -> None:  # noqa: ARG002 -- Scrapy's interface
        """Adds `count` to a value; one that isn't there counts from `start`."""
        stats = self._stats
        stats[key] = stats.get(key, start) + count

"""How fast pages may be started, so that a node stays within its CPU limit.

Claims alone can't keep it there: what was claimed for the next minute would still be crawled as fast as the processor
can. So no more pages are started than the CPU has room for that others leave to the crawl:

    pages per second = (CL - (c - C)) / (C / pages that ended per second)

with headroom.py's letters. On a node that has room the pace is far above what the crawl needs, and holds nothing up.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.worker.life.load import Load

# Weight of a new sample in what a page costs: both of its parts are smoothed alike, over some 10 s, so that pages which
# take seconds show with the CPU that they took.
SMOOTHING = 0.1
MIN_PAGES_PER_SECOND = 0.2  # the least rate, at which a crawl goes on though others take all that the node may use
SAVED_SECONDS = 1.0  # the most that a pause saves for later: as many seconds' pages may start at once


class Pace:
    """Says when the next page may start on a node with a CPU limit.

    Attributes:
        limit_percent: CL, from 1 to below 100.
    """

    def __init__(self, limit_percent: float) -> None:
        self.limit_percent = limit_percent
        self._pages = 0  # pages that have ended since the last sample
        # When the last sample was taken, by the monotonic clock, as all moments here.
        self._sampled_at = time.monotonic()
        self._own_percent = self._pages_per_second = 0.0  # both are smoothed
        self._start_at = 0.0  # when the next page may start

    def ended(self) -> None:
        """Counts a page that has ended."""
        self._pages += 1

    def sample(self, newest: Load) -> None:
        """Takes in what the node's load was since the last sample; what came before the first page is no page's."""
        now = time.monotonic()
        pages_per_second = self._pages / max(now - self._sampled_at, 0.001)
        self._pages, self._sampled_at = 0, now
        if pages_per_second or self._pages_per_second:
            self._own_percent += SMOOTHING * (newest.own_cpu - self._own_percent)
            self._pages_per_second += SMOOTHING * (pages_per_second - self._pages_per_second)

    def wait_s(self) -> float:
        """Returns the seconds until a page may start; 0: now."""
        return max(0.0, self._start_at - time.monotonic())

    def starts(self, load: Load, workers: int) -> None:
        """Counts a page as started, which puts off the next one.

        Args:
            load: Of the node, smoothed.
            workers: Number of workers on this node, from 1.
        """
        if not self._own_percent or not self._pages_per_second:
            return
        left_percent = (self.limit_percent - load.cpu + load.own_cpu) / max(workers, 1)
        pace = max(MIN_PAGES_PER_SECOND, left_percent * self._pages_per_second / self._own_percent)
        self._start_at = max(self._start_at, time.monotonic() - SAVED_SECONDS) + 1 / pace

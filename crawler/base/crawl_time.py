"""What time it is for the whole crawl: by Redis's clock, since a node's own may be wrong.

What a node writes down for others, or compares with what they wrote (the `time` of an item, the age of what a page
dates), goes by this. A process that has no session, such as one that runs a user's own spider, has its own clock alone.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

# The time since the epoch less `boottime`, in seconds, as Redis said last; None: it hasn't been asked.
_epoch_at_boot_s: float | None = None


def boottime() -> float:
    """Returns seconds by a clock that goes on while the machine sleeps, and that nobody sets."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def now() -> datetime:
    """Returns the time by Redis's clock as it was last heard; by this node's own until then."""
    if _epoch_at_boot_s is None:
        return datetime.now(UTC)
    return datetime.fromtimestamp(boottime() + _epoch_at_boot_s, UTC)


def hear(now_ms: int, asked: float) -> None:
    """Notes what time Redis says that it is.

    Args:
        now_ms: Since the epoch.
        asked: When it was asked, by `boottime`. It is taken to have looked at its clock halfway between then and now.
    """
    global _epoch_at_boot_s  # noqa: PLW0603 -- a process has one time, as it has one `time.time`
    _epoch_at_boot_s = now_ms / 1000 - (asked + boottime()) / 2

"""How the monitor writes quantities."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.monitor.words import Messages

WHOLE_FROM = 100  # smaller rates have decimals
# Seconds of a unit, and its message; from how many of it on the next one is used: 90 s say more than 2 minutes.
SPANS = ((1, "span.seconds", 120), (60, "span.minutes", 120), (3600, "span.hours", 48), (86400, "span.days", None))


def number(value: float) -> str:
    """Returns a number with its thousands parted; one with decimals has up to three digits that count."""
    if isinstance(value, int) or value >= WHOLE_FROM:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def span(seconds: float, words: Messages) -> str:
    """Returns a length of time in the largest unit that still tells enough."""
    seconds = max(0.0, seconds)
    for unit_s, message, units_max in SPANS:
        if units_max is None or seconds < unit_s * units_max:
            return words(message, number=f"{seconds / unit_s:.0f}")
    raise AssertionError("the last unit has no end")


def at(when_ms: float) -> str:
    """Returns a moment in UTC; empty where it can't be one, since Redis isn't trusted to hold a time."""
    try:
        return f"{datetime.fromtimestamp(when_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError, OSError):
        return ""

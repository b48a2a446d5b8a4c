"""When a ready seed is due, by its score in Redis: see lua/lib/order.lua."""

from __future__ import annotations

SPAN_MILLISECONDS = 9_000_000_000_000  # how far the scores of two ranks are apart


def due_of(score: int) -> int:
    """Returns since when a seed is due, or when it will be, in ms since the epoch."""
    return score % SPAN_MILLISECONDS if score < 0 else score

"""Reads a large set, hash or sorted set in steps, none of which keeps Redis from others for long."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

T = TypeVar("T")
SCAN_COUNT = 1_000  # most entries in one step: about a millisecond of Redis's time


async def scan_steps(
    scan: Callable[..., Awaitable[tuple[int, T]]], key: str, count: int = SCAN_COUNT
) -> AsyncIterator[T]:
    """Yields what each step of a scan brings; an entry may come twice, and one that changes meanwhile not at all.

    Args:
        scan: The client's `sscan`, `hscan` or `zscan`.
        count: About how many entries a step brings.
    """
    cursor = 0
    while True:
        cursor, entries = await scan(key, cursor, count=count)
        yield entries
        if not cursor:
            return

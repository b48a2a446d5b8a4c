"""Remembers which clauses and texts plans have met, in a table in Redis that all workers share."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis.asyncio import Redis

CELLS = 1 << 20  # of 63 bits, Redis's most: 8 MB for the whole crawl, whatever it has read
CHECK_BITS, LABEL_BITS = 23, 40
MAX_LABEL = (1 << LABEL_BITS) - 1
CHECKED_FROM = 64 - CHECK_BITS  # the bit of a hash from which on it is compared


def number_of(text: str) -> int:
    """Returns 64 bits that are the same in all workers."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def label_of(text: str) -> int:
    """Returns a number from 1 to MAX_LABEL, by which a host is told from 10,000 others."""
    return number_of(text) % MAX_LABEL + 1


class SeenTexts:
    """What was met last has its cell in the table, with who said it; what falls on the same cell takes its place.

    So it never fills up. What was forgotten is new again, and of 8 million things that are new one seems to be known.
    """

    def __init__(self, redis: Redis, key: str) -> None:
        self._redis: Any = redis  # its types don't know that answers are numbers
        self._key = key

    async def say(self, said: Sequence[tuple[int, int]]) -> list[int]:
        """Notes who says what, by one call.

        Args:
            said: 64 bits of a hash, and the label of who says it.

        Returns:
            For each the label of who had said it last; 0: nobody.
        """
        operations: list[object] = []
        for number, label in said:
            operations += ("SET", "u63", f"#{number % CELLS}", (number >> CHECKED_FROM << LABEL_BITS) | label)
        cells = await self._redis.execute_command("BITFIELD", self._key, *operations) if operations else []
        return [
            cell & MAX_LABEL if cell >> LABEL_BITS == number >> CHECKED_FROM else 0
            for (number, _label), cell in zip(said, cells, strict=True)
        ]

"""Remembers which hashes were met, as many as may be and in bounded memory."""

from __future__ import annotations

BITS = 1 << 24  # of each of two halves: 2 MB
MAX_OF_HALF = 500_000  # of a full half, one hash in 280 that it never met seems to be in it


class Seen:
    """The hashes met last, at least `MAX_OF_HALF` of them: a Bloom filter in two halves, whose older one is dropped.

    It takes 4 MB once it is used. One that was forgotten is new again.
    """

    def __init__(self) -> None:
        self._younger, self._older = bytearray(), bytearray()
        self._number = 0  # of those in the younger half

    def __contains__(self, number: int) -> bool:
        """Returns whether a hash was met, or seems so."""
        first, second = _places(number)
        return any(half and _has(half, first) and _has(half, second) for half in (self._younger, self._older))

    def add(self, number: int) -> bool:
        """Returns whether a hash is new, and remembers it."""
        is_new = number not in self
        if not self._younger or self._number >= MAX_OF_HALF:
            self._older, self._younger, self._number = self._younger, bytearray(BITS // 8), 0
        for place in _places(number):
            self._younger[place >> 3] |= 1 << (place & 7)
        self._number += 1
        return is_new


def _places(number: int) -> tuple[int, int]:
    return number % BITS, (number >> 32) % BITS


def _has(half: bytearray, place: int) -> bool:
    return bool(half[place >> 3] >> (place & 7) & 1)

"""What one owner was given in one partition of a frontier, as far as the answers say that arrived."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SERIALS = itertools.count(1)  # of this process's claims and borrowings; with the owner id they are unique


class Holdings:
    """Keeps what was given until it is told how that ended, and which answers never came.

    Attributes:
        seeds: Fingerprints.
        turns: `TOKEN HOST` of each, as Redis has it: the turns that one claim got of several hosts share a token.
        missed: Calls without an answer, as claim id ('' for a borrowed turn) and serial: what they gave, nobody knows.
    """

    __slots__ = ("_calls", "missed", "seeds", "turns")

    def __init__(self) -> None:
        self.seeds: set[bytes] = set()
        self.turns: set[str] = set()
        self.missed: list[tuple[str, int]] = []
        self._calls: set[int] = set()

    @contextlib.contextmanager
    def call(self, claim: str = "") -> Iterator[int]:
        """Gives a call its serial number; one that ends in any error, a cancellation too, may have arrived."""
        serial = next(SERIALS)
        self._calls.add(serial)
        try:
            yield serial
        except BaseException:
            self.missed.append((claim, serial))
            raise
        finally:
            self._calls.discard(serial)

    def answered_before(self) -> int:
        """Returns a serial number: the answers to all calls before it have arrived, or never will."""
        return min(self._calls, default=next(SERIALS))

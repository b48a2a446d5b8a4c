"""What costs the monitor much, so that only so many may be under way at once: of all together, and of each user."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class UserSlots:
    """Counts what is under way.

    Args:
        number: How many there may be.
        of_user: How many of them may be one user's, or one address's, so that nobody keeps all others out.
    """

    def __init__(self, number: int, of_user: int) -> None:
        self._number, self._of_user = number, of_user
        self._held: Counter[str] = Counter()  # by user: how many slots are held

    def are_free(self, user: str) -> bool:
        """Returns whether a user may begin another one."""
        return self._held.total() < self._number and self._held[user] < self._of_user

    @contextlib.contextmanager
    def held(self, user: str) -> Iterator[None]:
        """Holds one for a user during the block."""
        self._held[user] += 1
        try:
            yield
        finally:
            self._held[user] -= 1

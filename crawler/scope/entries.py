"""Lists of a plan's scope: an entry that begins with `not ` refuses what it names.

What no such entry names is in scope if the list has no other entries, or one of those names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NOT = "not "


class Entries:
    """The entries of a list by what they mean, once each.

    Attributes:
        wanted: Of which one must name what is in scope; empty: all is that the others don't refuse.
        unwanted: Of which none may.
    """

    __slots__ = ("unwanted", "wanted")

    def __init__(self, written: Iterable[str]) -> None:
        entries = dict.fromkeys(written)
        self.wanted = tuple(entry for entry in entries if not entry.startswith(NOT))
        self.unwanted = tuple(entry.removeprefix(NOT) for entry in entries if entry.startswith(NOT))

    def refuse(self, is_named: Callable[[tuple[str, ...]], bool]) -> bool:
        """Returns whether what is judged is out of scope.

        Args:
            is_named: Returns whether one of some entries names it.
        """
        return is_named(self.unwanted) or bool(self.wanted and not is_named(self.wanted))

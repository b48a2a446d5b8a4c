"""Breadth-first: all links are worth the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.scope.scorers.scorer import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.scope.scorers.scorer import Link, ReadPage, Topic


class BreadthFirst:
    """Gives every link the plan's priority, so that the frontier orders them by depth, and then by age.

    Args:
        priority: The plan's, 0 to 9.
    """

    wants_words = False

    def __init__(self, priority: int) -> None:
        self._score = Score(priority)

    @classmethod
    def of(cls, topic: Topic) -> Self:
        """Returns the scorer of a plan."""
        return cls(topic.priority)

    def scores(self, links: Sequence[Link], page: ReadPage) -> list[Score]:  # noqa: ARG002 -- a scorer's interface
        """Returns the plan's priority for each link."""
        return [self._score] * len(links)

    @classmethod
    def explanation(cls, why: str) -> str:  # noqa: ARG003 -- a scorer's interface
        """Returns nothing: it says why of no link."""
        return ""

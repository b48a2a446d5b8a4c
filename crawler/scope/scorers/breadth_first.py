"""Breadth-first: all links are worth the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from crawler.scope.scorers.scorer import LinkScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.scope.scorers.scorer import Link, PageOfLinks, PlanTopic


class BreadthFirst:
    """Gives every link its page's priority, so that the frontier orders them by depth, and then by age."""

    wants_words = False

    @classmethod
    def of(cls, topic: PlanTopic) -> Self:  # noqa: ARG003 -- a scorer's interface
        """Returns the scorer of a plan."""
        return cls()

    def scores(self, links: Sequence[Link], page: PageOfLinks) -> list[LinkScore]:
        """Returns the page's priority for each link."""
        return [LinkScore(page.priority)] * len(links)

    @classmethod
    def explanation(cls, why: str) -> str:  # noqa: ARG003 -- a scorer's interface
        """Returns nothing: it says why of no link."""
        return ""

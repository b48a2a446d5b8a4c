"""What a filter of addresses is. Anyone adds one by the setting URL_FILTERS."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.scope.candidate import Candidate
    from crawler.scope.scope_file import ScopeRules

# What has to be known of a candidate: its URL; the IP addresses of its host; its answer's head; its page's text.
Step = Literal["url", "addresses", "head", "page"]


class UrlFilter(ABC):
    """One reason why an address isn't in a plan's scope.

    Attributes:
        name: Small letters, digits and hyphens: the ledger counts what it refuses under `scope-NAME`. What it judges by
            stands in the plan's scope under that name, with `_` for `-`; of a filter of one's own, below `own`.
        step: When it knows what it judges by. It is asked from the first step on, and lets pass what it can't judge.

    Args:
        wanted: What the plan says under its name.
    """

    name: ClassVar[str]
    step: ClassVar[Step] = "url"

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted

    @classmethod
    def of(cls, rules: ScopeRules, settings: Mapping[str, Any]) -> Self | None:  # noqa: ARG003 -- for subclasses
        """Returns the filter that a plan's rules ask for; None: they ask for none.

        Args:
            rules: Those for pages, or those for media.
            settings: Of the crawl.

        Raises:
            HeadroomError: What it needs isn't there.
        """
        wanted = getattr(rules, cls.name.replace("-", "_"), rules.own.get(cls.name))
        return None if wanted is None or wanted == () else cls(wanted)

    @abstractmethod
    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether an address is out of scope. If it raises, the address is refused, and that is logged."""

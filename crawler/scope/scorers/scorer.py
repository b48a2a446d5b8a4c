"""What a scorer is: it gives links their priorities, and may learn from the pages that they led to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

MAX_WHY_CHARACTERS = 100  # it stands in each seed, of which Redis holds millions


class PlanTopic(NamedTuple):
    """What a plan says of its links' order.

    Attributes:
        priority: The plan's, 0 to 9.
        combinations: The plan's combinations of words; empty: it has none.
        words_in: Returns those words of the combinations that a text has.
    """

    priority: int
    combinations: Sequence[tuple[str, ...]]
    words_in: Callable[[str], AbstractSet[str]]


class PageOfLinks(NamedTuple):
    """A page that was read, as its plan wants it.

    Attributes:
        url: Canonical URL.
        priority: Its own.
        depth: Links that led to it.
        why: What the scorer said of the link that led to it, from Redis, so it may be anything; empty if none did.
        text: Its title, text and comments; empty for a scorer that doesn't want words, and for a page without an item.
    """

    url: str
    priority: int
    depth: int
    why: str = ""
    text: str = ""


class Link(NamedTuple):
    """A link of a page: its canonical URL, the words on it, and those around it; empty where they aren't known."""

    url: str
    anchor: str = ""
    around: str = ""


class LinkScore(NamedTuple):
    """What a link is worth.

    Attributes:
        priority: 0 to 9; of the pages of a host, the highest is crawled first.
        why: Kept in the seed, for who asks and to learn from once the page is read; at most `MAX_WHY_CHARACTERS`.
    """

    priority: int
    why: str = ""


class Scorer(Protocol):
    """Scores the links of one edition of a plan. Each worker has its own, and calls it in the event loop.

    Attributes:
        wants_words: Whether links come with their words, and pages with their text, which costs.
    """

    wants_words: bool

    @classmethod
    def of(cls, topic: PlanTopic) -> Self:
        """Returns the scorer of a plan.

        Raises:
            ValueError: The plan lacks what it needs; says what.
        """

    def scores(self, links: Sequence[Link], page: PageOfLinks) -> list[LinkScore]:
        """Learns from a page, once for each visit, and returns what each of its links is worth."""

    @classmethod
    def explanation(cls, why: str) -> str:
        """Returns one sentence that explains what a score's `why` says; empty where it says nothing."""

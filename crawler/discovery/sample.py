"""A content page that is compared with another one, and its texts in the order of the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from crawler.discovery import selectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turbohtml import Element

    from crawler.discovery.page import ParsedPage

SHORT_CHARACTERS = 100  # a longer text is neither a title nor a date nor a name
MAX_SHORT = 3_000  # short texts of a page that are looked at
_NOT_SHOWN = frozenset({"html", "head", "body", "title", "script", "style", "noscript", "template", "option", "select"})


@dataclass(frozen=True)
class Sample:
    """A content page.

    Attributes:
        page: The page.
        title: What the page of results calls it.
        beside: The other short texts of its result, such as its author.
    """

    page: ParsedPage
    title: str
    beside: tuple[str, ...] = ()

    @cached_property
    def short_texts(self) -> list[tuple[Any, str]]:
        """Elements with a short text, in their order; one around another one comes before it."""
        found: list[tuple[Any, str]] = []
        for element in self.page.order:
            # The tree's own text is quicker, and no shorter than what is shown of it.
            if element.tag in _NOT_SHOWN or len(element.text) > 4 * SHORT_CHARACTERS:
                continue
            written = self.page.text_of(element)
            if written and len(written) <= SHORT_CHARACTERS:
                found.append((element, written))
                if len(found) == MAX_SHORT:
                    break
        return found


def first_of(samples: Sequence[Sample], elements: Sequence[Element]) -> str:
    """Returns a selector, with `css:`, whose first match on each page is the element; empty if there is none."""
    found = selectors.first_of([(one.page.tree, element) for one, element in zip(samples, elements, strict=True)])
    return f"css:{found.css}" if found else ""

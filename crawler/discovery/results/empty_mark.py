"""Finds the mark of a page without results: a name or a phrase that only such a page has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.discovery.pages import selectors
from crawler.discovery.pages.page import width
from crawler.discovery.pages.search_word import NONSENSE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turbohtml import Element

    from crawler.discovery.pages.page import ParsedPage

MAX_PHRASE_CHARACTERS = 80  # a longer text is a paragraph, of which the first sentence is taken
MIN_PHRASE_WIDTH = 8  # a shorter text may well stand on other pages, too
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s)|[\u3002\uff01\uff1f]")
_SAYS_NONE = re.compile(
    r"(?:^|[-_])(?:no|not|none|nothing|empty|zero|without|noresults?|nomatch)(?:[-_]|$)|no-?results", re.IGNORECASE
)


def empty_mark(empty: ParsedPage, others: Sequence[ParsedPage]) -> str:
    """Returns a selector that finds something on a page without results, and nothing on the others; empty for none."""
    named: list[tuple[bool, int, str]] = []
    for at, element in enumerate(empty.tree.select("body, body [class], body [id]")):
        own = [
            name for name in selectors.classes(element) if not any(page.tree.select_one(f".{name}") for page in others)
        ]
        within = ("the page" if element.tag == "body" else empty.text_of(element)) if own else ""
        for step in own if within else ():
            css = f"body.{step}" if element.tag == "body" else f".{step}"
            named.append((not _SAYS_NONE.search(step), len(within) + at, f"css:{css}"))
    if named:
        return min(named)[2]
    for element in empty.order:
        written = _first_sentence(empty.text_of(element)) if element.select_one("*") is None else ""
        if (
            _is_phrase(written, element)
            and written in empty.shown  # not so within a <noscript>
            and not any(written in other.shown for other in others)
        ):
            return f"text:{written}"
    return ""


def _first_sentence(written: str) -> str:
    """Returns a text up to the end of its first sentence, if all of it is too long for a phrase."""
    end = _SENTENCE_ENDS.search(written) if len(written) > MAX_PHRASE_CHARACTERS else None
    return written[: end.end()].strip() if end else written


def _is_phrase(written: str, element: Element) -> bool:
    return (
        len(written) <= MAX_PHRASE_CHARACTERS
        and width(written) >= MIN_PHRASE_WIDTH
        and NONSENSE not in written.casefold()
        and element.tag not in ("title", "script", "style", "option")
    )

"""The line of a page that says when it was changed last, and by whom, as wikis have it below a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.base import text
from crawler.extract.article_author import signed_names
from crawler.extract.html_text import HtmlText
from crawler.extract.templates import lineage

if TYPE_CHECKING:
    from turbohtml import Element

    from crawler.extract.article_places import Places

MAX_CHARACTERS = 200  # of such a line
MAX_LOOKED_AT = 2_000  # elements that may be one

_HOLDERS = "p, div, footer, li, span, small, td, address, em, i"
_says_change = re.compile(
    r"(?<!\w)(?:(?:last|was)\s+)?(?:chang|modifi|edit|updat|revis|ge\u00e4nder|bearbeit|aktualisier)\w*", re.IGNORECASE
).search


@dataclass(frozen=True, slots=True)
class Change:
    """What a page says of its last change.

    Attributes:
        date: As written; empty if it says nothing.
        name: Who made it; likewise.
    """

    date: str = ""
    name: str = ""


def last_change(places: Places) -> Change:
    """Returns what the only line outside of the text says that tells of a change, its time and by whom it was."""
    found: dict[Element, Change] = {}
    for element in places.parts.tree.select(_HOLDERS)[:MAX_LOOKED_AT]:
        if len(element.text) > 2 * MAX_CHARACTERS or not (change := _change_in(element)).name:
            continue
        if places.parts.is_aside(element) or places.is_in_text(element):
            continue
        for around in lineage(element):  # which say the same, and more
            found.pop(around, None)
        found[element] = change
    return next(iter(found.values())) if len(found) == 1 else Change()


def _change_in(element: Element) -> Change:
    written = text.line(HtmlText().of(element))
    said = _says_change(written) if len(written) <= MAX_CHARACTERS else None
    name = next(signed_names(element), "") if said is not None else ""
    if said is None or not name or name not in written[said.end() :]:
        return Change()
    before, _name, behind = written[said.end() :].partition(name)
    date = next((one for one in (before, behind) if any(map(str.isdigit, one))), "")
    return Change(_without_by(date), name) if date else Change()


def _without_by(date: str) -> str:
    """Returns a date without the words around it."""
    return _around_date("", date).strip(" .,;:()")


_around_date = re.compile(r"^\W*(?:(?:on|at|am|le|el|den)\s+)?|\s*\b(?:by|von|par|por)\s*$", re.IGNORECASE).sub

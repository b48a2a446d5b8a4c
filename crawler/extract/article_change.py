"""The line of a page that says when it was changed last, and by whom, as wikis have it below a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.extract.article_author import signed_names
from crawler.extract.lines import line_of
from crawler.extract.page_templates import lineage

if TYPE_CHECKING:
    from turbohtml import Element

    from crawler.extract.article_places import Places

MAX_CHARACTERS = 200  # of such a line
MAX_LOOKED_AT = 2_000  # elements that may be one
MAX_READ = 100_000_000  # characters of all of them together, whose texts are in each other; a long page has 30 million

_HOLDERS = "p, div, footer, li, span, small, td, address, em, i"
_STEMS = r"(?:chang|modifi|edit|updat|revis|ge\u00e4nder|bearbeit|aktualisier)"
_has_stem = re.compile(_STEMS, re.IGNORECASE).search  # in a text as it stands on the page, which takes no time to read
_says_change = re.compile(rf"(?<!\w)(?:(?:last|was)\s+)?{_STEMS}\w*", re.IGNORECASE).search


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
    read = 0
    for element in places.parts.tree.select(_HOLDERS)[:MAX_LOOKED_AT]:
        written = element.text
        read += len(written)
        if read > MAX_READ:
            return Change()  # whether there is another such line, nobody knows
        if len(written) > 2 * MAX_CHARACTERS or _has_stem(written) is None:
            continue
        if not (change := _change_in(element)).name:
            continue
        if places.parts.is_aside(element) or places.is_in_text(element):
            continue
        for around in lineage(element):  # which say the same, and more
            found.pop(around, None)
        found[element] = change
    return next(iter(found.values())) if len(found) == 1 else Change()


def _change_in(element: Element) -> Change:
    written = line_of(element)
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

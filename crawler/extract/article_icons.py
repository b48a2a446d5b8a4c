"""What icons stand for by the title of an article: the figure of a person before a name, a calendar before a date.

Where a theme has no other names for who wrote a text, and when, the classes of its icons say so.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from turbohtml import Element, Text

from crawler.base import text
from crawler.extract.lines import line_of
from crawler.extract.page_parts import class_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_ICONS = 100  # of a line, that are looked at
MAX_BESIDE = 20  # nodes behind an icon

_ICONS = "i, span, em, svg, b"
# How an icon is drawn, as the sets of icons name it behind what it shows, so that `fa-user-tie`, `ri-calendar-line` and
# `calendar-week` count, too: with a tie, with a day, a week or lines in it. Other words make it another figure, such as
# `user-plus`, by which one follows somebody.
_STYLES = """[0-9]+ alt bold circle day days date duotone empty event fill filled full large light line lines medium
    month o outline outlined regular round sharp small solid square thin tie today two-tone week"""
_OF: dict[Literal["person", "time"], str] = {
    "person": "author person user",
    "time": "calendar clock date event schedule time watch",
}
_names_of = {
    kind: re.compile(
        rf"(?:[a-z0-9]+[-_])*(?:{'|'.join(words.split())})(?:[-_](?:{'|'.join(_STYLES.split())}))*"
    ).fullmatch
    for kind, words in _OF.items()
}
# Where a visitor goes about an account of their own; a list of members, too, but not the page of one of them.
_ACCOUNT_PATHS = frozenset(
    "account accounts dashboard login logout my-account register sign-in sign-up signin signup subscribe".split()
)
_LISTS_OF_PEOPLE = frozenset("member members membership profile profiles user users".split())
_SIGNS = " |\u00b7\u2022,;:/\u2013\u2014-"
_is_label = re.compile(
    r"\W*(?:(?:posted|published|written)\W+)?(?:by|on|von|am|par|le|por|el)?\W*", re.IGNORECASE
).fullmatch


def behind_icons(lines: Iterable[Element], kind: Literal["person", "time"]) -> Iterator[str]:
    """Yields what stands directly behind the icons of a kind, each as one line.

    Args:
        lines: Elements in which the icons are looked for.
        kind: What the icons show.
    """
    for line in lines:
        for icon in line.select(_ICONS)[:MAX_ICONS]:
            if _shows(icon, kind) and (written := _value_behind(icon, line)) and not _leads_to_account(icon):
                yield written


def _shows(element: Element, kind: Literal["person", "time"]) -> bool:
    """Returns whether an element is an icon of a kind: it has no text, or is one of a font that draws words."""
    names, written = class_names(element).split(), element.text.strip()
    if written:
        names = [written.lower()] if any(one.startswith("material-") for one in names) else []
    return any(_names_of[kind](one) is not None for one in names)


def _value_behind(icon: Element, line: Element) -> str:
    """Returns what an icon stands for; empty if it isn't clear where that ends.

    An element is all of it, and so is a text up to the next icon, or to the end of what both stand in.
    """
    behind = [*islice(_behind(icon), MAX_BESIDE)]
    if not behind and icon.parent is not None and icon.parent is not line and not icon.parent.text.strip():
        behind = [*islice(_behind(icon.parent), MAX_BESIDE)]  # the icon has a box of its own
    for at, node in enumerate(behind):
        if isinstance(node, Element):
            written = line_of(node)  # empty if it holds more than a line does
            links = (node, *node.select("a[href]")) if written else ()
            return "" if any(map(_leads_to_account, links)) else written
        written = text.line(node.data)
        if _is_label(written) is None:
            after = behind[at + 1] if at + 1 < len(behind) else None
            is_whole = after is None or (isinstance(after, Element) and not after.text.strip())
            return written.strip(_SIGNS) if is_whole else ""
    return ""


def _leads_to_account(element: Element) -> bool:
    """Returns whether an element is a link, or within one, to a page about the visitor's own account."""
    link = element.closest("a[href]")
    try:
        address = urlsplit("" if link is None else link.attr("href") or "")
    except ValueError:
        return False
    names = [one.partition(".")[0] for one in address.path.casefold().split("/") if one]
    is_list = bool(names) and names[-1] in _LISTS_OF_PEOPLE and not address.query  # `profile.php?id=3` is somebody's
    return is_list or not _ACCOUNT_PATHS.isdisjoint(names)


def _behind(icon: Any) -> Iterator[Any]:
    """Yields the elements and texts behind an icon."""
    for one in icon.next_siblings:
        if isinstance(one, Element) or (isinstance(one, Text) and one.data.strip()):
            yield one

"""What pages ask of robots themselves: `<meta name="robots">`, the header X-Robots-Tag, and links with `rel=nofollow`.

It is heeded where the setting ROBOTS_META_OBEY says so. Whether a page may be fetched is said by robots.txt alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.extract.readers import address

if TYPE_CHECKING:
    import turbohtml

    from crawler.extract.document import Document

NOINDEX, NOFOLLOW = "noindex", "nofollow"
# A header's directives may be for one robot alone, whose name stands before them; some directives have a colon as well.
_named = re.compile(r"\s*(?!unavailable_after|max-)([\w-]+)\s*:(.*)", re.DOTALL).match
_words = re.compile(r"[\w-]+").findall


def refuse_noindex(document: Document, robot: str) -> None:
    """Refuses a page that asks not to be indexed.

    Args:
        robot: Name of the robot that reads it, as robots.txt files call it.

    Raises:
        ExtractError: `noindex`.
    """
    if is_noindex(document, robot):
        raise ExtractError(reasons.NOINDEX)


def is_noindex(document: Document, robot: str) -> bool:
    """Returns whether a page asks a robot not to index it."""
    return NOINDEX in _asked(document, robot)


def vouched_for(links: list[str], document: Document, robot: str) -> list[str]:
    """Returns those links of a page that it doesn't ask a robot not to follow.

    Args:
        links: As they stand on the page.
        robot: As for `refuse_noindex`.
    """
    if NOFOLLOW in _asked(document, robot):
        return []
    tree = _tree(document)
    refused = set(map(address, tree.select("a[rel~=nofollow i], area[rel~=nofollow i]"))) if tree else ()
    return [link for link in links if link not in refused]


def _asked(document: Document, robot: str) -> set[str]:
    """Returns what a page asks of a robot."""
    asked: set[str] = set()
    for header in document.page.robots_tags:
        named = _named(header)
        if named is None or named[1].lower() == robot.lower():
            asked.update(_words((named[2] if named else header).lower()))
    if tree := _tree(document):
        for meta in tree.select("meta[name][content]"):
            if (meta.attr("name") or "").strip().lower() in ("robots", robot.lower()):
                asked.update(_words((meta.attr("content") or "").lower()))
    return {NOINDEX, NOFOLLOW} if "none" in asked else asked


def _tree(document: Document) -> turbohtml.Document | None:
    """Returns a page's tree; None: it is no HTML."""
    try:
        return document.html.tree
    except ExtractError:
        return None

"""What stands on a link and beside it, by which a focused crawl judges where the link leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import turbohtml

from crawler.base import text
from crawler.extract.html_text import BLOCK_TAGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from turbohtml import Node

ANCHOR_CHARACTERS = 200  # of all links of a page to one address together; a longer text is no name of what it leads to
SIDE_CHARACTERS = 100  # before and behind a link: a sentence is hardly longer
# What all surroundings of a page's links may read together: the texts of a thousand links' neighbours are some 100,000.
# Beyond it, links have their own text alone, so that links beside a huge element don't take quadratic time.
MAX_CHARACTERS_READ = 1_000_000
_WITHIN_A_LINE = frozenset("a b code em font i kbd nobr small span strong tt u var".split())
_IN_A_ROW = frozenset({"dt", "td", "th"})  # what stands in the next cell tells of the link in this one


class LinkContext(NamedTuple):
    """The words of a link, as clean lines; empty where there are none.

    Attributes:
        anchor: What a reader clicks on: the texts of all links of the page to the address, or their pictures' texts.
        around: What stands right before and behind the first of them.
    """

    anchor: str
    around: str


def link_contexts(elements: Mapping[str, Iterable[turbohtml.Element]]) -> dict[str, LinkContext]:
    """Returns what stands on the links of a page and beside them, by address.

    Args:
        elements: The links to each address, in the order of the page.
    """
    contexts, left = {}, MAX_CHARACTERS_READ
    for url, links in elements.items():
        anchors: dict[str, None] = {}
        around = ""
        for link in links:
            anchors[text.line(_anchor(link))] = None
            if not around and left > 0:
                sides, characters = _sides(link)
                around, left = text.line(sides), left - characters
        contexts[url] = LinkContext(" ".join(filter(None, anchors))[:ANCHOR_CHARACTERS], around)
    return contexts


def _anchor(link: turbohtml.Element) -> str:
    if words := link.text.strip():
        return words[:ANCHOR_CHARACTERS]
    picture = link.select_one("img[alt]")
    named = (picture.attr("alt") if picture else None) or link.attr("title") or link.attr("alt") or ""
    return named[:ANCHOR_CHARACTERS]


def _sides(link: turbohtml.Element) -> tuple[str, int]:
    """Returns what stands before and behind a link, and how many characters were read for it."""
    node = link
    while isinstance(node.parent, turbohtml.Element) and node.parent.tag in _WITHIN_A_LINE:
        node = node.parent
    before, behind = "".join(reversed(_texts(node.previous_siblings))), "".join(_texts(node.next_siblings))
    if not behind.strip() and isinstance(node.parent, turbohtml.Element) and node.parent.tag in _IN_A_ROW:
        behind = next((cell.text for cell in node.parent.next_siblings if isinstance(cell, turbohtml.Element)), "")
    return f"{before[-SIDE_CHARACTERS:]} {behind[:SIDE_CHARACTERS]}", len(before) + len(behind)


def _texts(siblings: Iterable[Node]) -> list[str]:
    """Returns the texts of the nearest siblings, up to where the line ends or enough is read."""
    texts: list[str] = []
    characters = 0
    for sibling in siblings:
        if isinstance(sibling, turbohtml.Element) and sibling.tag in BLOCK_TAGS:
            break
        if isinstance(sibling, turbohtml.Element | turbohtml.Text):
            texts.append(sibling.text if isinstance(sibling, turbohtml.Element) else sibling.data)
            characters += len(texts[-1])
        if characters >= SIDE_CHARACTERS:
            break
    return texts

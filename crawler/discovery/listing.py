"""A list of links that stands on a page, be it of results or one that is read where a site has no search."""

from __future__ import annotations

import re
from collections.abc import Callable  # noqa: TC003 -- NamedTuple reads the annotations
from functools import partial
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from turbohtml import Element, Text

from crawler.discovery import blocks, paging, selectors
from crawler.discovery.comment_rows import COMMENT_WORDS, says_comment
from crawler.discovery.known_kinds import IN_A_LIST
from crawler.discovery.page import ancestors, width
from crawler.discovery.search_template import SearchTemplate, based, literal
from crawler.extract.comments import count_in

if TYPE_CHECKING:
    from crawler.discovery.blocks import Block
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.page import Anchor, ParsedPage

TITLE_WIDTH_MIN = 16  # of the links on a page, half of them: titles of pages rather than a menu
BESIDE_MAX = 20  # short texts beside a result that may be an author's name
NODES_MAX = 300  # of a row, in which a number of comments is looked for
COUNT_WIDTH = 40  # characters of a text that says such a number
_WORDS = "|".join(sorted(COMMENT_WORDS, key=len, reverse=True))
# A number right before or behind a word for comments: `(5 comments)`, `Antworten: 4`, and without blanks in Chinese.
_is_counted = re.compile(
    rf"\d\s*(?:\b(?:{_WORDS})\b|[\u4e2a\u500b\u6761\u689d\u7bc7]?\s*(?:\u56de[\u590d\u8986]|[\u8bc4\u8a55][\u8bba\u8ad6]))"
    rf"|(?:\b(?:{_WORDS})\b|\u56de[\u590d\u8986]|[\u8bc4\u8a55][\u8bba\u8ad6])\s*[:\uff1a(\uff08]?\s*\d",
    re.IGNORECASE,
).search
_is_number = re.compile(r"[(\[\uff08]?\s*\d+\s*[)\]\uff09]?").fullmatch


class Result(NamedTuple):
    """A result: what it is called, and what tells the other short texts in its row, and its number of comments."""

    url: str
    title: str
    beside: Callable[[], tuple[str, ...]] = tuple
    comments: Callable[[], int] = int


def results_of(block: Block, page: ParsedPage) -> list[Result]:
    """Returns the links of a block as results: the first one to each address."""
    by_url = {anchor.url: anchor for anchor in reversed(block.anchors)}
    return [
        Result(url, by_url[url].text, partial(_beside, by_url[url], page, block), partial(_count, by_url[url], block))
        for url in block.urls
    ]


def listing_of(page: ParsedPage) -> Block | None:
    """Returns the links of a page that lists others; None if it has none but those of menus."""
    listing = blocks.results(page, ())
    return listing if listing and median(width(one.text) for one in listing.anchors) >= TITLE_WIDTH_MIN else None


def keys_of(inquiry: Inquiry, listing: Block, page: ParsedPage) -> dict[str, Any]:
    """Returns the keys `base`, `search` and `results` of a list in whose titles words are looked for; or nothing.

    Args:
        listing: Its links.
        page: That has it.
    """
    rows = selectors.all_of([(page.tree, [_row(anchor, listing) for anchor in listing.anchors])])
    if rows is None or rows.misses:
        return {}
    template = SearchTemplate(literal(page.url))
    found = paging.pages(page, template, "", len(listing.urls))
    links = f"css:{listing.selector.css}"
    results = {"rows": f"css:{rows.css}", "links": links, "match": links}
    if found is None:
        inquiry.notes.miss("search.paging", "no link to a further page of the list was found")
    else:
        template, results["next"] = found.template, found.next
    inquiry.notes.say("search", f"the list of the page that you named; {IN_A_LIST}")
    shown = {key: value for key, value in results.items() if value}
    return based({"search": template.definition(), "results": shown}, page.url)


def _beside(anchor: Anchor, page: ParsedPage, block: Block) -> tuple[str, ...]:
    """Returns the short texts beside a result, in its row."""
    top = _row(anchor, block)
    texts = [page.text_of(one) for one in top.select("*")[: BESIDE_MAX * 5] if one.select_one("*") is None]
    return tuple(dict.fromkeys(text for text in texts if text and text != anchor.text))[:BESIDE_MAX]


def _count(anchor: Anchor, block: Block) -> int:
    """Returns how many comments a result has, as its row says; 0 where it doesn't say so."""
    for node in islice(_row(anchor, block).descendants, NODES_MAX):
        if node is anchor.element or not isinstance(node, Element | Text):
            continue
        written = (node.text if isinstance(node, Element) else node.data).strip()
        if written == anchor.text or not 0 < len(written) <= COUNT_WIDTH:
            continue
        if _is_counted(written) or (isinstance(node, Element) and _is_of_comments(node) and _is_number(written)):
            return count_in(written) or 0
    return 0


def _is_of_comments(element: Element) -> bool:
    """Returns whether an element is named for comments, or leads to them, in whatever language it says how many."""
    return says_comment(element) or any(place in (element.attr("href") or "") for place in ("#comment", "#respond"))


def _row(anchor: Anchor, block: Block) -> Any:
    """Returns the largest element around a result that has no other result."""
    others = {one.element for one in block.anchors if one.url != anchor.url}
    top = anchor.element
    for one in ancestors(anchor.element):
        if any(link in others for link in one.select("a[href]")):
            break
        top = one
    return top

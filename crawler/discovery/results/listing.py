"""A list of links that stands on a page, be it of results or one that is read where a site has no search."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.discovery.kinds.known_kinds import IN_A_LIST
from crawler.discovery.pages import selectors
from crawler.discovery.pages.page import ancestors, width
from crawler.discovery.results import paging, result_block
from crawler.discovery.search.search_template import SearchTemplate, based, literal

if TYPE_CHECKING:
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.pages.page import Anchor, ParsedPage
    from crawler.discovery.results.result_block import Block

TITLE_WIDTH_MIN = 16  # half of a list's links are as wide at least: they are titles of pages rather than a menu
LINKS_MIN = 3  # two links are no list yet


class Result(NamedTuple):
    """A result, and what it is called."""

    url: str
    title: str


def results_of(block: Block) -> list[Result]:
    """Returns the links of a block as results: the first one to each address."""
    called = {anchor.url: anchor.text for anchor in reversed(block.anchors)}
    return [Result(url, called[url]) for url in block.urls]


def listing_of(page: ParsedPage) -> Block | None:
    """Returns the links of a page that lists others; None if it has none but those of menus."""
    listing = result_block.results(page, ())
    if listing is None or len(listing.urls) < LINKS_MIN:
        return None
    return listing if median(width(anchor.text) for anchor in listing.anchors) >= TITLE_WIDTH_MIN else None


def keys_of(inquiry: Inquiry, listing: Block, page: ParsedPage) -> dict[str, Any]:
    """Returns the keys `base`, `search` and `results` of a list in whose titles words are looked for; or nothing."""
    rows = selectors.all_of([(page.tree, [_row(anchor, listing) for anchor in listing.anchors])])
    if rows is None or rows.misses:
        return {}
    template = SearchTemplate(literal(page.url))
    pages = paging.pages(page, template, "", len(listing.urls))
    links = f"css:{listing.selector.css}"
    results = {"rows": f"css:{rows.css}", "links": links, "match": links}
    if pages is None:
        inquiry.notes.miss("search.paging", "no link to a further page of the list was found")
    else:
        template, results["next"] = pages.template, pages.next
    inquiry.notes.say("search", f"the list of the page that you named; {IN_A_LIST}")
    shown = {key: value for key, value in results.items() if value}
    return based({"search": template.definition(), "results": shown}, page.url)


def _row(anchor: Anchor, block: Block) -> Any:
    """Returns the largest element around a result that has no other result."""
    others = {outer.element for outer in block.anchors if outer.url != anchor.url}
    top = anchor.element
    for outer in ancestors(anchor.element):
        if any(link in others for link in outer.select("a[href]")):
            break
        top = outer
    return top

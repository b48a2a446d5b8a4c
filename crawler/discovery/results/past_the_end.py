"""Looks at a page far behind the last one of a search: by what does a crawl see that it has come to the end?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler import sites
from crawler.base.errors import HeadroomError
from crawler.discovery.inquiry import FIRST_ERROR, page_of
from crawler.sites.selector import Selector

if TYPE_CHECKING:
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.pages.page import ParsedPage
    from crawler.discovery.results.result_block import Block

FAR_PAGE = 400  # the page that is asked for to see one behind the last; few sites have so many for a word
ENDING_STATUSES = (400, 404, 410)  # sites say by these that there is no such page
UNSEEN = "seen on the page of a word that nothing has; one behind the last page, which may look unlike it, wasn't seen"


async def look(inquiry: Inquiry, definition: dict[str, Any], block: Block) -> None:
    """Looks whether a page behind the last one can be told, where pages are counted; changes `results` if not."""
    search, results = definition["search"], definition["results"]
    kind = search.get("paging", {}).get("kind")
    is_seen = kind in ("page", "offset") and await _see(inquiry, definition, block)
    if kind and "empty" in results and not is_seen:
        inquiry.notes.say("results.empty", UNSEEN)


async def _see(inquiry: Inquiry, definition: dict[str, Any], block: Block) -> bool:
    """Returns whether a page behind the last one was seen; changes `results` to what tells it."""
    results = definition["results"]
    site = sites.Site.from_definition(definition)
    target = site.search_target([inquiry.word], page=FAR_PAGE, per_page=20, sort="newest")
    try:
        why = "a page of results far behind the last one"
        fetched = await inquiry.visitor.ask(target.url, why, body=target.body, content_type=site.request_content_type)
    except HeadroomError as error:
        inquiry.notes.say("results", f"what is behind the last page isn't known: {error}")
        return False
    if fetched.status in ENDING_STATUSES:
        results["empty_status"] = sorted({*results.get("empty_status", ()), fetched.status})
        return True
    page = page_of(fetched)
    if page is None or fetched.status >= FIRST_ERROR:
        return False
    if page.tree.select(block.selector.css):
        inquiry.notes.say(
            "results",
            "a page behind the last one has results again, so `known_pages` and a plan's `pages` end the search",
        )
        return False
    if "empty" in results and not _has(page, Selector.parse(results["empty"])):
        mark = results.pop("empty")
        inquiry.notes.miss(
            "results.empty",
            f"{mark} tells a search that finds nothing, but a page behind the last one hasn't got it; without it, "
            "any page without links ends a search",
        )
    return True


def _has(page: ParsedPage, mark: Selector) -> bool:
    """Returns whether a page has the mark of one without results."""
    return bool(mark.search(page.text_of(page.tree) if mark.language == "text" else page.tree))

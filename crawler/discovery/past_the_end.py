"""Looks at a page far behind the last one of a search: by what does a crawl see that it has come to the end?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler import sites
from crawler.discovery.inquiry import page_of
from crawler.errors import HeadroomError
from crawler.sites.selector import Selector

if TYPE_CHECKING:
    from crawler.discovery.blocks import Block
    from crawler.discovery.inquiry import Inquiry

FAR_PAGE = 400  # the page that is asked for to see one behind the last; few sites have so many for a word
ENDING_STATUSES = (400, 404, 410)  # by which sites say that there is no such page


async def look(inquiry: Inquiry, definition: dict[str, Any], block: Block) -> None:
    """Looks whether a page behind the last one can be told, where pages are counted; changes `results` if not."""
    search, results = definition["search"], definition["results"]
    if search.get("paging", {}).get("kind") not in ("page", "offset"):
        return
    site = sites.Site.from_definition(definition)
    target = site.search_targets([inquiry.word], pages=FAR_PAGE, per_page=20, sort="newest")[-1]
    try:
        fetched = await inquiry.visitor.ask(target.url, "a page of results far behind the last one")
    except HeadroomError as error:
        inquiry.notes.say("results", f"what is behind the last page isn't known: {error}")
        return
    page = page_of(fetched)
    if fetched.status in ENDING_STATUSES:
        results["empty_status"] = sorted({*results.get("empty_status", ()), fetched.status})
    elif page is not None and page.tree.select(block.selector.css):
        inquiry.notes.say(
            "results",
            "a page behind the last one has results again, so `known_pages` and a plan's `pages` end the search",
        )
    elif "empty" in results and page is not None and not Selector.parse(results["empty"]).search(page.tree):
        mark = results.pop("empty")
        inquiry.notes.miss(
            "results.empty",
            f"{mark} tells a search that finds nothing, but a page behind the last one hasn't got it; without it, "
            "any page without links ends a search",
        )

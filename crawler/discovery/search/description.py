"""The search of a site by its OpenSearch description, as the keys of a site file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from crawler.base.errors import HeadroomError
from crawler.discovery.inquiry import FIRST_ERROR, Inquiry, page_of
from crawler.discovery.proposal import Notes
from crawler.discovery.results import past_the_end
from crawler.discovery.search import declarations, searches

if TYPE_CHECKING:
    from crawler.discovery.inquiry import Visitor

RESULTS_OF_FEED = {
    "type": "feed",
    "rows": "json:entries",
    "links": "json:link",
    "fields": {"title": "json:title", "author": "json:author", "published": "json:published || updated"},
}


async def describe(url: str, visitor: Visitor, *, word: str, reads_results: bool) -> dict[str, Any]:
    """Returns the keys `search` and `results` of a site with an OpenSearch description.

    A feed of results goes before a page of results. That is searched for a word, to tell results from the rest of it.

    Args:
        url: Of the description, or of a page that names one.
        visitor: Asks for the pages.
        word: That the site's search should find.
        reads_results: The site's file says itself how pages of results are read: then only `search` is returned.

    Raises:
        HeadroomError: There is no description that a site file can say, or its search finds nothing that can be told.
    """
    inquiry = Inquiry(visitor, "described", word, Notes())
    description = await visitor.ask(url, "the site's OpenSearch description, or a page that names one")
    page = None
    # By what it holds, since a description may come as any XML, as which a page may come, too.
    if not declarations.is_description(description.body) and (page := page_of(description)):
        if not (there := declarations.description_url(page)):
            raise HeadroomError(f"{url} names no OpenSearch description")
        description = await visitor.ask(there, "the site's OpenSearch description")
    if description.status >= FIRST_ERROR:
        raise HeadroomError(f"{description.url} answered {description.status}")
    for_people = declarations.by_description(description.body, description.url)
    feed = (
        None
        if reads_results
        else declarations.by_description(description.body, description.url, declarations.FEED_TYPES)
    )
    if feed:
        results = RESULTS_OF_FEED
        if not feed.paging:
            feed, results = replace(feed, paging={"kind": "link"}), results | {"next": "json:next"}
        return {"search": feed.definition(), "results": results}
    if for_people is None:
        raise HeadroomError(f"{description.url} describes no search for pages of results that a site file can say")
    if reads_results:
        return {"search": for_people.definition()}
    front = page or page_of(await visitor.ask(urljoin(description.url, "/"), "a page without results"))
    answer = await searches.attempt(inquiry, for_people, front) if front else None
    if answer is None:
        raise HeadroomError(
            "; ".join(inquiry.notes.at.get("", ())) or f"{description.url}: no page of the site can be read"
        )
    definition = {"name": inquiry.name, **await searches.keys_of(inquiry, answer)}
    await past_the_end.look(inquiry, definition, answer.block)
    search = definition["search"]
    address = search["url"].replace("{base}", definition.get("base", ""))
    return {"search": search | {"url": address}, "results": definition["results"]}

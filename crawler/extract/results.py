"""A page of search results becomes links and the request for the next page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.errors import ExtractError, UrlError
from crawler.extract.document import HtmlDocument, absolute, parse_json
from crawler.extract.readers import address, matches, scalars
from crawler.sites.search import SearchTarget, with_cursor
from crawler.urls import canonical

if TYPE_CHECKING:
    from crawler.models import Fetched
    from crawler.sites import Site

MAX_CURSOR_CHARACTERS = 2_000  # it becomes part of a URL


@dataclass(frozen=True, slots=True)
class Links:
    """What a page of results yields.

    Attributes:
        urls: Canonical absolute URLs of content pages, each once, in the order of the page.
        next: The next page, where only this one knows it (cursor paging); None at the end or with other paging.
        empty: The site says that there are no (more) results.
    """

    urls: tuple[str, ...] = ()
    next: SearchTarget | None = None
    empty: bool = False


def links(page: Fetched, site: Site, *, body: str = "", number: int = 1) -> Links:
    """Reads a page of search results.

    Args:
        page: As downloaded.
        site: Whose selectors say where the links are.
        body: Of the request that it answers; the next page's is made from it.
        number: Its place in the paging, from 1.

    Raises:
        ExtractError: `not-results`: neither results nor the site's "no results" page (a login page, an error with
            status 200); or it isn't what the site says at all (`not-html`, `not-json` ...).
    """
    results = site.results
    if results.type == "json":
        root = parse_json(page)
        found = results.links.search(root)
        values = [str(value) for value in scalars(found)]
        base, encoding = page.url, "utf-8"
        empty_by_shape = found == []
    else:
        document = HtmlDocument(page)
        root, base, encoding = document.root, document.base, document.encoding
        values = [address(match) for match in matches(root, results.links.search)]
        empty_by_shape = results.empty is None  # who doesn't say what it looks like can't be told apart
    if results.link:
        values = [site.link(value) for value in values if value]
    urls = absolute(values, base, encoding=encoding, drop=site.drop)
    if urls:
        return Links(urls, _next(root, page, site, body, number))
    if empty_by_shape or (results.empty and results.empty.search(root)):
        return Links(empty=True)
    raise ExtractError("not-results", "neither links nor a sign that there are none")


def _next(root: Any, page: Fetched, site: Site, body: str, number: int) -> SearchTarget | None:
    if site.results.next is None or not site.search.cursor_parameter:
        return None
    search = site.results.next.search
    if site.results.type == "json":
        values = [str(value) for value in scalars(search(root)) if not isinstance(value, bool)]
    else:
        values = [address(match) for match in matches(root, search)]
    cursor = values[0].strip() if values else ""
    if not cursor or len(cursor) > MAX_CURSOR_CHARACTERS:
        return None
    url, next_body = with_cursor(site.search, page.url, body, cursor)
    try:
        url = canonical(url)
    except UrlError:  # the cursor made it too long
        return None
    if (url, next_body) == (page.url, body):  # the page names itself as its next
        return None
    return SearchTarget(url, "POST" if next_body else "GET", next_body, number + 1)

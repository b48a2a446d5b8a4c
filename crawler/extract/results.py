"""A page of search results becomes links and the request for the next page; a content page, links to follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawler.errors import ExtractError, UrlError
from crawler.extract.document import Document, absolute
from crawler.extract.readers import address, matches, scalars
from crawler.sites.search import SearchTarget
from crawler.urls import canonical, trap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.models import Fetched
    from crawler.sites import Site
    from crawler.sites.selector import Selector

MAX_LINKS = 1_000  # of a page, unless the caller says otherwise
MAX_LINKS_LOOKED_AT = 10_000  # the same link may stand there several times; 10 us each
MAX_CURSOR_CHARACTERS = 2_000  # it becomes part of a URL


@dataclass(frozen=True, slots=True)
class Links:
    """What a page of results yields.

    Attributes:
        urls: Canonical absolute URLs of content pages, each once, in the order of the page.
        next: The next page, where only this one knows it (cursor paging); None at the end or with other paging.
        empty: The site says that there are no (more) results.
        left_out: Links beyond the most that were asked for.
        traps: Links that look like one of infinitely many (`urls.trap`); they are no part of `urls`.
    """

    urls: tuple[str, ...] = ()
    next: SearchTarget | None = None
    empty: bool = False
    left_out: int = 0
    traps: int = 0

    def stats(self) -> dict[str, int]:
        """Returns what isn't among `urls`, by the name of the stat that counts it."""
        return {"links/left_out": self.left_out, "links/traps": self.traps}


def links(page: Fetched, site: Site, *, body: str = "", number: int = 1, most: int = MAX_LINKS) -> Links:
    """Reads a page of search results.

    Args:
        page: As downloaded.
        site: Whose selectors say where the links are.
        body: Of the request that it answers; the next page's is made from it.
        number: Its place in the paging, from 1.
        most: Links wanted; those that come first on the page.

    Raises:
        ExtractError: `not-results`: neither results nor the site's "no results" page (a login page, an error with
            status 200); or it isn't what the site says at all (`not-html`, `not-json` ...).
    """
    results = site.results
    source = _Source(Document(page), is_json=results.type == "json")
    values = source.values(results.links)
    if results.link:
        values = [site.link(value) for value in values if value]
    chosen = source.chosen(values, site, most)
    if chosen.urls or chosen.traps:
        return replace(chosen, next=_next(source, page, site, body, number))
    # HTML of a site that doesn't say what "none" looks like can't be told apart
    empty_by_shape = source.find(results.links) == [] if source.is_json else results.empty is None
    if empty_by_shape or (results.empty and source.find(results.empty)):
        return Links(empty=True)
    raise ExtractError("not-results", "neither links nor a sign that there are none")


def followed(page: Fetched, site: Site, *, most: int = MAX_LINKS, document: Document | None = None) -> Links:
    """Reads the links of a content page that its site follows; none, when the site follows none.

    Args:
        page: As downloaded.
        site: Whose `follow` says which they are.
        most: Links wanted, if the site doesn't want fewer.
        document: The same page, perhaps parsed already.

    Raises:
        ExtractError: It isn't what the site says at all (`not-html`, `not-json` ...).
    """
    follow = site.follow
    if follow is None:
        return Links()
    source = _Source(document or Document(page), is_json=follow.links.language == "json")
    page_url = canonical(page.url)
    most = min(most, follow.per_page)
    return source.chosen(source.values(follow.links), site, most, lambda url: follow.wants(url, page_url))


class _Source:
    """A page that links are read from."""

    def __init__(self, document: Document, *, is_json: bool) -> None:
        self.is_json, self._document = is_json, document
        if is_json:
            self._value, self._base, self._encoding = document.json, document.page.url, "utf-8"
        else:
            self._base, self._encoding = document.html.base, document.html.encoding

    def find(self, selector: Selector) -> Any:
        """Returns what the selector finds."""
        return selector.search(self._value) if self.is_json else selector.find(self._document.html.index)

    def values(self, selector: Selector) -> list[str]:
        """Returns what stands where the selector says, each as it is written there."""
        found = self.find(selector)
        if self.is_json:
            return [str(value) for value in scalars(found, most=None)]
        return [address(match) for match in matches(found)]

    def chosen(
        self, values: Sequence[str], site: Site, most: int, is_wanted: Callable[[str], bool] = lambda _url: True
    ) -> Links:
        """Returns the first `most` of the links that are no traps and wanted."""
        looked_at = values[:MAX_LINKS_LOOKED_AT]
        wanted = [
            url for url in absolute(looked_at, self._base, encoding=self._encoding, drop=site.drop) if is_wanted(url)
        ]
        sound = tuple(url for url in wanted if not trap(url))
        left_out = max(0, len(sound) - most) + len(values) - len(looked_at)
        return Links(sound[:most], left_out=left_out, traps=len(wanted) - len(sound))


def _next(source: _Source, page: Fetched, site: Site, body: str, number: int) -> SearchTarget | None:
    paging = site.search.paging
    if site.results.next is None or paging is None or not paging.names_next:
        return None
    found = source.find(site.results.next)
    if source.is_json:
        values = [str(value) for value in scalars(found) if not isinstance(value, bool)]
    else:
        values = [address(match) for match in matches(found)]
    cursor = values[0].strip() if values else ""
    if not cursor or len(cursor) > MAX_CURSOR_CHARACTERS:
        return None
    url, next_body = paging.next_request(site.search, page.url, body, cursor)
    try:
        url = canonical(url)
    except UrlError:  # the cursor made it too long
        return None
    if (url, next_body) == (page.url, body):  # the page names itself as its next
        return None
    return SearchTarget(url, "POST" if next_body else "GET", next_body, number + 1)

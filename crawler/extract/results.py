"""Reads the links of a page of search results with the request for its next page, and the links of a content page."""

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
MAX_LINKS_LOOKED_AT = 10_000  # more than `MAX_LINKS`, since a link may stand on a page several times; 10 us each
MAX_CURSOR_CHARACTERS = 2_000  # it becomes part of a URL


@dataclass(frozen=True, slots=True)
class Links:
    """The links of a page.

    Attributes:
        urls: Canonical URLs of content pages, each once, in the order of the page.
        next: The next page, where only this one knows it (cursor paging); None at the end or with other paging.
        empty: Whether the site says that there are no (more) results.
        left_out: How many links were left out, beyond the most that were asked for.
        traps: How many links were left out because they look like part of a crawler trap (`urls.trap`).
        routes: How many links were left out because only a browser's script can open them (`#/thread/1`).
    """

    urls: tuple[str, ...] = ()
    next: SearchTarget | None = None
    empty: bool = False
    left_out: int = 0
    traps: int = 0
    routes: int = 0

    def stats(self) -> dict[str, int]:
        """Returns how many links aren't among `urls`, by the name of the statistic that counts them."""
        return {"links/left_out": self.left_out, "links/traps": self.traps, "links/routes": self.routes}


def links(page: Fetched, site: Site, *, body: str = "", number: int = 1, max_links: int = MAX_LINKS) -> Links:
    """Reads a page of search results.

    Args:
        page: As downloaded.
        site: Whose selectors say where the links are.
        body: Body of the page's request, from which that of the next page is made.
        number: Number of the page, from 1.
        max_links: Most links to return; the first on the page are.

    Raises:
        ExtractError: `not-results`, if the page has neither results nor the site's sign that there are none (a login
            page, an error with status 200); or the page can't be parsed as what the site says (`not-html` ...).
    """
    results = site.results
    source = _Source(Document(page), is_json=results.type == "json")
    values = source.values(results.links)
    if results.link:
        values = [site.link(value) for value in values if value]
    chosen = source.chosen(values, site, max_links)
    if chosen.urls or chosen.traps or chosen.routes:
        return replace(chosen, next=_next(source, page, site, body, number))
    if (source.is_json and source.find(results.links) == []) or (results.empty and source.find(results.empty)):
        return Links(empty=True)
    if results.empty is None and not source.is_json:  # where a site doesn't say what an empty page looks like
        return Links()
    raise ExtractError("not-results", "neither links nor a sign that there are none")


def followed(page: Fetched, site: Site, *, max_links: int = MAX_LINKS, document: Document | None = None) -> Links:
    """Reads those links of a content page that its site follows.

    Args:
        page: As downloaded.
        site: Whose `follow` selects the links; a site without it follows none.
        max_links: Most links to return, if the site doesn't want fewer.
        document: The same page, perhaps parsed already.

    Raises:
        ExtractError: The page can't be parsed as what the site says (`not-html`, `not-json` ...).
    """
    follow = site.follow
    if follow is None:
        return Links()
    source = _Source(document or Document(page), is_json=follow.links.language == "json")
    page_url = canonical(page.url)
    max_links = min(max_links, follow.per_page)
    return source.chosen(source.values(follow.links), site, max_links, lambda url: follow.wants(url, page_url))


class _Source:
    """A page with links, in HTML or JSON."""

    def __init__(self, document: Document, *, is_json: bool) -> None:
        self.is_json, self._document = is_json, document
        if is_json:
            self._value, self._base, self._encoding = document.json, document.page.url, "utf-8"
        else:
            self._base, self._encoding = document.html.base, document.html.encoding

    def find(self, selector: Selector) -> Any:
        """Returns the matches of a selector."""
        return selector.search(self._value if self.is_json else self._document.html.tree)

    def values(self, selector: Selector) -> list[str]:
        """Returns the matches of a selector as links, each as it is written."""
        found = self.find(selector)
        if self.is_json:
            return [str(value) for value in scalars(found, max_values=None)]
        return [address(match) for match in matches(found)]

    def chosen(
        self, values: Sequence[str], site: Site, max_links: int, is_wanted: Callable[[str], bool] = lambda _url: True
    ) -> Links:
        """Returns the first `most` links that are wanted and no traps."""
        looked_at = values[:MAX_LINKS_LOOKED_AT]
        routes: set[str] = set()
        found = absolute(looked_at, self._base, encoding=self._encoding, drop=site.drop, routes=routes)
        wanted = [url for url in found if is_wanted(url)]
        sound = tuple(url for url in wanted if not trap(url))
        left_out = max(0, len(sound) - max_links) + len(values) - len(looked_at)
        return Links(sound[:max_links], left_out=left_out, traps=len(wanted) - len(sound), routes=len(routes))


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
    except UrlError:  # with the cursor, the URL is too long
        return None
    if (url, next_body) == (page.url, body):  # the page names itself as its next
        return None
    return SearchTarget(url, "POST" if next_body else "GET", next_body, number + 1)

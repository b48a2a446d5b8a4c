"""Reads the links of a page of search results with the request for its next page, and the links of a content page."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl, urlsplit

import turbohtml

from crawler.base import reasons, text
from crawler.base.errors import ExtractError, UrlError
from crawler.base.urls import canonical, host, trap
from crawler.extract.answers import Answers
from crawler.extract.document import Document, absolute
from crawler.extract.html_text import HtmlText
from crawler.extract.link_context import link_contexts
from crawler.extract.readers import HtmlReader, JsonReader, address, matches, scalars
from crawler.extract.robots_meta import vouched_for
from crawler.extract.rows import Row, read_row
from crawler.extract.sitemaps import MAX_SITEMAP_PAGES, changed_since
from crawler.sites.follow import Follow
from crawler.sites.search import SearchTarget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crawler.base.models import Fetched
    from crawler.extract.link_context import LinkContext
    from crawler.extract.readers import Reader
    from crawler.sites import Site
    from crawler.sites.page_type import PageType, ResultsType
    from crawler.sites.pattern import Pattern
    from crawler.sites.selector import Selector

MAX_LINKS = 1_000  # of a page, unless the caller says otherwise
MAX_LINKS_LOOKED_AT = 10_000  # more than `MAX_LINKS`, since a link may stand on a page several times; 10 us each
_READ_AS: dict[ResultsType, PageType] = {
    "html": "html",
    "json": "json",
    "text": "text",
    "feed": "json",
    "sitemap": "json",
}
MAX_LISTS = 1_000  # that a page of results may name at once: as many pages as a plan may want
MAX_CURSOR_CHARACTERS = 2_000  # it becomes part of a URL
_ALL_LINKS = Follow()


@dataclass(frozen=True, slots=True)
class Links:
    """The links of a page.

    Attributes:
        urls: Canonical URLs of content pages, each once, in the order of the page.
        next: The next page, where only this one knows it (cursor paging); None at the end or with other paging.
        lists: Further pages of results, each once, where this one names all of them at once.
        empty: Whether the site says that there are no (more) results.
        last: Whether the site says that this page is the last.
        found: How many results the page has, whether or not they are among `urls`.
        left_out: How many links were left out, beyond the most that were asked for.
        traps: How many links were left out because they look like part of a crawler trap (`urls.trap`).
        routes: How many links were left out because only a browser's script can open them (`#/thread/1`).
        nofollow: How many were left out because the page asks robots not to follow them.
        rows: What the row of each URL says, where the site has `results.rows`.
        contexts: What stands on the links to each URL and beside them, where that was asked for.
    """

    urls: tuple[str, ...] = ()
    next: SearchTarget | None = None
    lists: tuple[SearchTarget, ...] = ()
    empty: bool = False
    last: bool = False
    found: int = 0
    left_out: int = 0
    traps: int = 0
    routes: int = 0
    nofollow: int = 0
    rows: Mapping[str, Row] = field(default_factory=dict)
    contexts: Mapping[str, LinkContext] = field(default_factory=dict)

    def stats(self) -> dict[str, int]:
        """Returns how many links aren't among `urls`, by the name of the statistic that counts them."""
        return {"links/left_out": self.left_out, "links/traps": self.traps, "links/routes": self.routes}


def links(
    page: Fetched,
    site: Site,
    *,
    asked: str = "",
    body: str = "",
    number: int = 1,
    since: str = "",
    max_links: int = MAX_LINKS,
) -> Links:
    """Reads a page of search results.

    Args:
        page: As downloaded.
        site: Whose selectors say where the links are.
        asked: Canonical URL that was asked for, from which the page may have been redirected; empty: the page's own.
        body: Body of the page's request, from which that of the next page is made.
        number: Number of the page, from 1.
        since: What a sitemap says that it changed last before this day is left out; YYYY-MM-DD, or empty for none.
        max_links: Most links to return; the first on the page are. Of a sitemap, all that one may have are.

    Raises:
        ExtractError: `not-results`, if the page has neither results nor the site's sign that there are none (a login
            page, an error with status 200); `no-xhr`, if it loaded no JSON that the site names; or the page can't be
            parsed as what the site says (`not-html` ...).
    """
    results = site.results
    if page.status in results.empty_status:
        return Links(empty=True)
    sources = _Sources(Document(page), results.type, results.xhr, since)
    source = sources.holding(results.rows or results.links)
    max_links = source.max_links or max_links
    chosen = _of_rows(source, site, results.rows, max_links) if results.rows else _chosen(source, site, max_links)
    lists = _lists(sources, page, site, number)
    if chosen.urls or chosen.traps or chosen.routes or lists:
        following = _next(sources, page, site, body, number)
        return replace(chosen, next=following, lists=lists, last=_is_last(sources, site))
    if (source.type == "json" and source.find(results.rows or results.links) == []) or (
        results.empty and sources.holding(results.empty).find(results.empty)
    ):
        return Links(empty=True)
    if results.empty is not None or source.type == "json":
        raise ExtractError(reasons.NOT_RESULTS, "neither links nor a sign that there are none")
    # The site doesn't say what an empty page looks like. One to which the search was sent on may be a login.
    if asked and (_path(asked) != _path(page.url) or not _words(asked, site) <= _words(page.url, site)):
        raise ExtractError(reasons.NOT_RESULTS, f"no links, and not the page that was asked for, but {page.url[:300]}")
    return Links()


class LinkRule(Protocol):
    """Which links of a page are followed: as a site's `follow` says, or a plan's."""

    @property
    def per_page(self) -> int:
        """Most links of one page that are followed."""

    def wants(self, url: str, page_url: str) -> bool:
        """Returns whether a link is followed; both addresses are canonical."""


def followed(
    page: Fetched,
    site: Site,
    *,
    rule: LinkRule | None = None,
    max_links: int = MAX_LINKS,
    document: Document | None = None,
    robot: str = "",
    with_context: bool = False,
) -> Links:
    """Reads those links of a content page that its site follows, or a plan.

    Args:
        page: As downloaded.
        site: Whose `follow` selects the links; of a site without it, all of the page are looked at.
        rule: Which of these are followed; None: the site's `follow`, without which there are none.
        max_links: Most links to return, if the rule doesn't want fewer.
        document: The same page, perhaps parsed already.
        robot: Whose name pages may say `nofollow` to; empty: that isn't heeded.
        with_context: Whether what stands on the links and beside them is wanted, too.

    Raises:
        ExtractError: The page can't be parsed as what the site says (`not-html`, `not-json` ...).
    """
    rule, select = rule or site.follow, (site.follow or _ALL_LINKS).links
    if rule is None:
        return Links()
    page_type, xhr = (site.content.type, site.content.xhr) if site.content else ("html", None)
    document = document or Document(page)
    source = _Sources(document, page_type, xhr).holding(select)
    page_url = canonical(page.url, routes=True)
    max_links = min(max_links, rule.per_page)
    values = source.values(select)
    vouched = vouched_for(values, document, robot) if robot else values
    spellings: dict[str, str] | None = {} if with_context else None
    chosen = source.chosen(vouched, site, max_links, lambda url: rule.wants(url, page_url), spellings)
    contexts = source.contexts(select, chosen.urls, spellings) if spellings else {}
    return replace(chosen, contexts=contexts, nofollow=len(values) - len(vouched))


def _path(url: str) -> str:
    return urlsplit(url).path.rstrip("/")


def _words(url: str, site: Site) -> set[tuple[str, str]]:
    """Returns the parameters of an address that hold the words of its site's search."""
    parameters = parse_qsl(urlsplit(site.search.url).query)
    names = {name for name, value in parameters if "{query}" in value}
    return {pair for pair in parse_qsl(urlsplit(url).query, encoding=site.search.encoding) if pair[0] in names}


def _values(source: _Source, site: Site) -> list[str]:
    values = source.values(site.results.links)
    return [site.link(value) for value in values if value] if site.results.link else values


def _chosen(source: _Source, site: Site, max_links: int) -> Links:
    values = _values(source, site)
    return replace(source.chosen(values, site, max_links), found=len(values))


def _of_rows(source: _Source, site: Site, selector: Selector, max_links: int) -> Links:
    """Returns the first link of each row, with what the row says."""
    values: list[str] = []
    parts: dict[str, _Source] = {}  # by URL
    for part in source.parts(selector)[: source.max_links or MAX_LINKS_LOOKED_AT]:
        value = next(filter(None, _values(part, site)), "")
        values.append(value)
        keeps_routes = site.has_routes("content")
        for url in absolute([value], source.base, encoding=source.encoding, drop=site.drop, keeps_routes=keeps_routes):
            parts.setdefault(url, part)
    chosen = source.chosen(values, site, max_links)
    match = site.results.match
    rows = {
        url: read_row(parts[url].reader(), site, parts[url].texts(match) if match else ())
        for url in chosen.urls
        if url in parts
    }
    return replace(chosen, rows=rows, found=len(values))


class _Source:
    """A page with links, as HTML, JSON or plain text.

    Attributes:
        type: Which of these it is; a feed and a sitemap are read as JSON values.
        max_links: Most links that it may have; 0: as many as the caller says.
    """

    def __init__(self, document: Document, page_type: ResultsType, since: str = "") -> None:
        self.type = _READ_AS[page_type]
        self.max_links = MAX_SITEMAP_PAGES if page_type == "sitemap" else 0
        self.base, self.encoding = document.page.url, "utf-8"
        self._document = document
        self._text, self._marked_text = HtmlText(), HtmlText(marked=True)  # those of all its parts, which they bound
        self.value: Any
        if page_type == "html":
            self.value, self.base, self.encoding = document.html.tree, document.html.base, document.html.encoding
        elif page_type == "sitemap":
            self.value = changed_since(document.sitemap, since)
        else:
            self.value = (
                document.feed if page_type == "feed" else document.json if page_type == "json" else document.text
            )

    def find(self, selector: Selector) -> Any:
        """Returns the matches of a selector; of a phrase, whether a reader sees it."""
        if selector.language == "text":
            return selector.search(text.line(self._text.of(self.value)))
        return self.value.find(selector) if isinstance(self.value, Answers) else selector.search(self.value)

    def values(self, selector: Selector) -> list[str]:
        """Returns the matches of a selector as links, each as it is written."""
        selected = self.find(selector)
        if self.type == "json":
            return [str(value) for value in scalars(selected, max_values=None) if not isinstance(value, bool)]
        return [address(match) for match in matches(selected)]

    def parts(self, selector: Selector) -> list[_Source]:
        """Returns the elements, or JSON values, that a selector finds, each as a source of its own."""
        selected = self.find(selector)
        if self.type == "html":
            return [self._within(match) for match in matches(selected) if isinstance(match, turbohtml.Element)]
        return [
            self._within(value)
            for value in (selected if isinstance(selected, list) else [selected])
            if value is not None
        ]

    def texts(self, selector: Selector) -> list[Any]:
        """Returns the matches of a selector as texts."""
        found = self.find(selector)
        if self.type == "json":
            return scalars(found)
        return [self._text.of(one) if isinstance(one, turbohtml.Element) else one for one in matches(found)]

    def reader(self) -> Reader:
        """Returns what reads fields of this source."""
        if self.type == "json":
            return JsonReader(self.value, self.base)
        return HtmlReader(self._document.html, self.value, html_text=self._marked_text)

    def beside(self, loaded: Answers) -> _Source:
        """Returns the JSON that the page loaded, in which links are relative to the page, too."""
        source = self._within(loaded)
        source.type = "json"
        return source

    def _within(self, value: Any) -> _Source:
        part = copy(self)
        part.value = value
        return part

    def contexts(self, selector: Selector, urls: Sequence[str], spellings: Mapping[str, str]) -> dict[str, LinkContext]:
        """Returns what stands on the links to each of the URLs and beside them; nothing where links are no elements."""
        elements: dict[str, list[turbohtml.Element]] = {url: [] for url in urls}
        for match in matches(self.find(selector)):
            if isinstance(match, turbohtml.Element) and (url := spellings.get(address(match), "")) in elements:
                elements[url].append(match)
        return link_contexts(elements)

    def chosen(
        self,
        values: Sequence[str],
        site: Site,
        max_links: int,
        is_wanted: Callable[[str], bool] = lambda _url: True,
        spellings: dict[str, str] | None = None,
    ) -> Links:
        """Returns the first `max_links` links that are wanted and no traps; `spellings` is as for `absolute`."""
        looked_at = values[: self.max_links or MAX_LINKS_LOOKED_AT]
        routes: set[str] = set()
        found = absolute(
            looked_at,
            self.base,
            encoding=self.encoding,
            drop=site.drop,
            keeps_routes=site.has_routes("content"),
            routes=routes,
            spellings=spellings,
        )
        wanted = [url for url in found if is_wanted(url)]
        sound = tuple(url for url in wanted if not trap(url))
        left_out = max(0, len(sound) - max_links) + len(values) - len(looked_at)
        return Links(sound[:max_links], left_out=left_out, traps=len(wanted) - len(sound), routes=len(routes))


class _Sources:
    """A page with links, and the JSON that it loaded, where its site has something read from that.

    Args:
        xhr: Addresses of that JSON; None: nothing is read from it.

    Raises:
        ExtractError: As `links`.
    """

    def __init__(self, document: Document, page_type: ResultsType, xhr: Pattern | None, since: str = "") -> None:
        self._page, self._xhr = document.page, xhr
        self._document = _Source(document, page_type, since)

    def holding(self, selector: Selector) -> _Source:
        """Returns the source that a selector is about.

        Raises:
            ExtractError: `no-xhr`: it is about JSON, of which the page loaded none; or that can't be read.
        """
        return self._loaded if self._xhr and selector.language == "json" else self._document

    @cached_property
    def _loaded(self) -> _Source:
        assert self._xhr is not None
        return self._document.beside(Answers.of(self._page, self._xhr))


def _is_last(sources: _Sources, site: Site) -> bool:
    """Returns whether a page with results lacks what a site's pages have that others follow."""
    following = site.results.next
    return following is not None and not sources.holding(following).find(following)


def _lists(sources: _Sources, page: Fetched, site: Site, number: int) -> tuple[SearchTarget, ...]:
    """Returns the further pages of results that one names all at once; those on other hosts aren't of this site."""
    paging = site.search.paging
    if site.results.next is None or paging is None or not paging.names_all:
        return ()
    source = sources.holding(site.results.next)
    found = _pages(source.values(site.results.next), source, site)
    own = [url for url in found if host(url) == host(page.url) and url != canonical(page.url, routes=True)]
    return tuple(SearchTarget(url, "GET", "", number + 1) for url in own[:MAX_LISTS])


def _pages(values: Sequence[str], source: _Source, site: Site) -> tuple[str, ...]:
    """Returns links to further pages of results as canonical URLs."""
    keeps_routes = site.has_routes("nav")
    return absolute(values, source.base, encoding=source.encoding, drop=site.drop, keeps_routes=keeps_routes)


def _next(sources: _Sources, page: Fetched, site: Site, body: str, number: int) -> SearchTarget | None:
    paging = site.search.paging
    if site.results.next is None or paging is None or not paging.names_next or paging.names_all:
        return None
    source = sources.holding(site.results.next)
    # A link without an address, such as one that a script follows, may stand before the one that leads on.
    cursor = next(filter(None, (value.strip() for value in source.values(site.results.next))), "")
    if not cursor or len(cursor) > MAX_CURSOR_CHARACTERS:
        return None
    if not paging.has_placeholder:  # it is a link, relative to this page
        cursor = next((url for url in _pages([cursor], source, site) if host(url) == host(page.url)), "")
    request = paging.next_request(site.search, page.url, body, cursor) if cursor else None
    if request is None:
        return None
    url, next_body = request
    try:
        url = canonical(url, routes=site.has_routes("nav"))
    except UrlError:  # with the cursor, the URL is too long
        return None
    if (url, next_body) == (page.url, body):  # the page names itself as its next
        return None
    return SearchTarget(url, "POST" if next_body else "GET", next_body, number + 1)

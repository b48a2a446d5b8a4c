"""Bodies parsed into a browser's tree or JSON, and the links in them made canonical URLs."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from crawler.base import page_json, reasons
from crawler.base.errors import ExtractError, ScriptRouteError, UrlError
from crawler.base.urls import LinkResolver
from crawler.extract.declared import Declared
from crawler.extract.encoding import UNICODE, decode, utf8
from crawler.extract.feeds import parse_feed
from crawler.extract.login import refuse_login
from crawler.extract.markup import parse_html
from crawler.extract.sitemaps import parse_sitemap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.base.models import Fetched

MAX_BODY_BYTES = 10_000_000  # a page of 10 MB takes a second to clean; larger ones are no articles
SNIFF_BYTES = 1_024  # are looked at if the Content-Type says nothing; as many as in browsers

_QUERY_CHARACTERS = "%/:?@!$&'()*+,;=-._~#[]"  # aren't escaped in a query
_MARKUP_TYPES = frozenset({"", "text/html", "application/xhtml+xml", "application/xml", "text/xml"})
_VAGUE_TYPES = frozenset({"text/plain", "application/octet-stream", "application/x-unknown", "*/*"})
_BINARY_TYPES = frozenset({"audio", "font", "image", "video"})
_BINARY_STARTS = (b"%pdf-", b"\x89png", b"gif8", b"\xff\xd8\xff", b"pk\x03\x04")
_MARKUP_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<div", b"<h1", b"<p")


def parse_json(page: Fetched) -> Any:
    """Returns the JSON value of a body.

    Raises:
        ExtractError: `empty-body`, `too-large` or `not-json`; the latter also for what `page_json.loads` refuses.
    """
    _check_size(page)
    try:
        return page_json.loads(page.body)
    except orjson.JSONDecodeError:
        pass  # the body may have a byte order mark, or another encoding than UTF-8
    try:
        return page_json.loads(decode(page)[0].encode(errors="replace"))
    except orjson.JSONDecodeError as error:
        raise ExtractError(reasons.NOT_JSON, str(error)) from None


def parse_text(page: Fetched) -> str:
    """Returns a body as plain text, also of Markdown, CSV, mails and the like.

    Raises:
        ExtractError: `empty-body`, `too-large`, or `not-text` where its type or its bytes are those of something else.
    """
    _check_size(page)
    top_level_type = page.content_type.partition("/")[0].strip().lower()
    if top_level_type not in _BINARY_TYPES and not page.body[:SNIFF_BYTES].lower().startswith(_BINARY_STARTS):
        text = decode(page)[0]
        if "\0" not in text[:SNIFF_BYTES]:
            return text
    raise ExtractError(reasons.NOT_TEXT, f"Content-Type {page.content_type[:80]!r}")


class Document:
    """A page that is parsed on first use, once.

    Attributes:
        page: As downloaded.
    """

    def __init__(self, page: Fetched) -> None:
        self.page = page

    @cached_property
    def html(self) -> HtmlDocument:
        """The page as HTML; raises what `HtmlDocument` raises, or `login` where the request was sent on to one."""
        document = HtmlDocument(self.page)
        refuse_login(self.page, document.tree)
        return document

    @cached_property
    def text(self) -> str:
        """The page as plain text; raises what `parse_text` raises."""
        return parse_text(self.page)

    @cached_property
    def json(self) -> Any:
        """The page's JSON value; raises what `parse_json` raises."""
        return parse_json(self.page)

    @cached_property
    def feed(self) -> dict[str, Any]:
        """The page as a feed; raises what `parse_feed` raises."""
        return parse_feed(self.page)

    @cached_property
    def sitemap(self) -> dict[str, Any]:
        """The page as a sitemap; raises what `parse_sitemap` raises."""
        return parse_sitemap(self.page)


class HtmlDocument:
    """A parsed page.

    Args:
        page: As downloaded.

    Attributes:
        tree: What a browser makes of the page, without running scripts.
        base: URL to which links are relative.
        encoding: The encoding in which the page was read.
        is_rendered: Whether a browser has rendered it.

    Raises:
        ExtractError: `empty-body`, `too-large`, `not-html` or `too-many-tags`.
    """

    def __init__(self, page: Fetched) -> None:
        data, self.encoding = html_of(page)
        self.tree = parse_html(data)
        element = self.tree.select_one("base[href]")
        self.base = base_url((element.attr("href") or "") if element else "", page.url)
        self.is_rendered = page.rendered is not None
        self._url = page.url

    @cached_property
    def declared(self) -> Declared:
        """What the page declares about itself for programs."""
        return Declared(self.tree, self._url)

    @property
    def canonical_url(self) -> str | None:
        """The address that the page gives for itself; None if it gives none. It may be wrong, and is no identity."""
        element = self.tree.select_one("link[rel~=canonical]")
        return next(iter(absolute([element.attr("href") or ""], self.base)), None) if element else None


def base_url(href: str, url: str) -> str:
    """Returns the URL to which the links of a page are relative.

    Args:
        href: Of the page's `<base>`; empty for none. A base of another scheme is ignored, as in browsers.
        url: Of the page.
    """
    if not href:
        return url
    base = absolute([href.partition("#")[0]], url)  # a script's route is no part of a base
    return base[0] if base else url


def html_of(page: Fetched) -> tuple[bytes, str]:
    """Returns the HTML of a page in UTF-8, and the encoding in which it was written.

    Raises:
        ExtractError: `empty-body`, `too-large` or `not-html`.
    """
    _check_size(page)
    if not _looks_like_markup(page):
        raise ExtractError(reasons.NOT_HTML, f"Content-Type {page.content_type[:80]!r}")
    return utf8(page)


def absolute(
    values: Iterable[str],
    base: str,
    *,
    encoding: str = "utf-8",
    drop: frozenset[str] = frozenset(),
    keeps_routes: bool = False,
    routes: set[str] | None = None,
    spellings: dict[str, str] | None = None,
) -> tuple[str, ...]:
    """Returns links as canonical URLs, each once, in their order. Links that are no http(s) URL are left out.

    Args:
        values: Links as they stand on a page.
        base: URL to which they are relative.
        encoding: Encoding of the page, in which browsers send the query of a link.
        drop: Names of parameters to drop, as `canonical` takes them.
        keeps_routes: A browser renders what the links lead to, so that those to a script's routes count.
        routes: If these don't count, gets them as they stand on the page.
        spellings: If given, gets the canonical URL of each link, by how the link is written.
    """
    urls: dict[str, None] = {}
    resolve = LinkResolver(base).resolve
    for value in values:
        link = value.strip()
        if not link:  # an empty link leads to the page itself
            continue
        if not link.isascii() and encoding not in UNICODE:
            head, mark, query = link.partition("?")
            link = head + mark + quote(query, safe=_QUERY_CHARACTERS, encoding=encoding, errors="replace")
        try:
            urls[url := resolve(link, drop=drop, routes=keeps_routes)] = None
            if spellings is not None:
                spellings[value] = url
        except ScriptRouteError:
            if routes is not None:
                routes.add(link)
        except UrlError:
            continue  # javascript:, mailto:, data:, or a typo
    return tuple(urls)


def _check_size(page: Fetched) -> None:
    if len(page.body) > MAX_BODY_BYTES:
        raise ExtractError(reasons.TOO_LARGE, f"{len(page.body)} bytes")
    if not _something(page.body):
        raise ExtractError(reasons.EMPTY_BODY)


def _looks_like_markup(page: Fetched) -> bool:
    media_type = page.content_type.partition(";")[0].strip().lower()
    start = page.body[:SNIFF_BYTES].replace(b"\0", b"").lower()  # without NULs, UTF-16 reads like ASCII
    if media_type in _MARKUP_TYPES:
        return b"<" in page.body and not start.startswith(_BINARY_STARTS)
    return media_type in _VAGUE_TYPES and any(tag in start for tag in _MARKUP_STARTS)


_something = re.compile(rb"[^ \t\r\n\0]").search

"""Bodies parsed into an lxml tree or JSON, and the links in them made canonical URLs."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
from lxml import etree

from crawler.errors import ExtractError, ScriptRouteError, UrlError
from crawler.extract.encoding import UNICODE, decode, utf8
from crawler.extract.limits import MAX_BODY_BYTES, check_depth, check_markup
from crawler.sites.css_index import MAX_INDEXED_TAGS, PageIndex
from crawler.urls import LinkResolver

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.models import Fetched

SNIFF_BYTES = 1_024  # are looked at if the Content-Type says nothing; as many as in browsers

_QUERY_CHARACTERS = "%/:?@!$&'()*+,;=-._~#[]"  # aren't escaped in a query
_MARKUP_TYPES = frozenset({"", "text/html", "application/xhtml+xml", "application/xml", "text/xml"})
_VAGUE_TYPES = frozenset({"text/plain", "application/octet-stream", "application/x-unknown", "*/*"})
_BINARY_STARTS = (b"%pdf-", b"\x89png", b"gif8", b"\xff\xd8\xff", b"pk\x03\x04")
_MARKUP_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<div", b"<h1", b"<p")


def parse_json(page: Fetched) -> Any:
    """Returns the JSON value of a body. Of a key that an object has twice the last value counts, as in browsers.

    Raises:
        ExtractError: `empty-body`, `too-large` or `not-json`; the latter also for NaN, numbers beyond 1.8e308 and more
            than 1,024 levels.
    """
    _check_size(page)
    try:
        return orjson.loads(page.body)
    except orjson.JSONDecodeError:
        pass  # the body may have a byte order mark, or another encoding than UTF-8
    try:
        return orjson.loads(decode(page)[0].encode(errors="replace"))
    except orjson.JSONDecodeError as error:
        raise ExtractError("not-json", str(error)) from None


class Document:
    """A page that is parsed on first use, once.

    Attributes:
        page: As downloaded.
    """

    def __init__(self, page: Fetched) -> None:
        self.page = page

    @cached_property
    def html(self) -> HtmlDocument:
        """The page as HTML; raises what `HtmlDocument` raises."""
        return HtmlDocument(self.page)

    @cached_property
    def json(self) -> Any:
        """The page's JSON value; raises what `parse_json` raises."""
        return parse_json(self.page)


class HtmlDocument:
    """A parsed page.

    Args:
        page: As downloaded.
        parser: Class of parser; the elements of `lxml.html` take three times as long to look at.

    Attributes:
        root: The `<html>` element.
        index: For selectors.
        base: URL to which links are relative.
        encoding: The encoding in which the page was read.

    Raises:
        ExtractError: `empty-body`, `too-large`, `not-html`, `too-many-tags`, `too-many-attributes` or `too-deep`.
    """

    def __init__(self, page: Fetched, parser: type[etree.HTMLParser] = etree.HTMLParser) -> None:
        _check_size(page)
        if not _looks_like_markup(page):
            raise ExtractError("not-html", f"Content-Type {page.content_type[:80]!r}")
        data, self.encoding = utf8(page)
        self.root = _parsed(data, parser)
        self.index = PageIndex(self.root, len(data) if len(data) <= MAX_INDEXED_TAGS else data.count(b"<"))
        hrefs = (href.partition("#")[0] for href in _base_href(self.root))  # a script's route is no part of a base
        base = absolute(hrefs, page.url)  # a base of another scheme is ignored, as in browsers
        self.base = base[0] if base else page.url


def absolute(
    values: Iterable[str],
    base: str,
    *,
    encoding: str = "utf-8",
    drop: frozenset[str] = frozenset(),
    routes: set[str] | None = None,
) -> tuple[str, ...]:
    """Returns links as canonical URLs, each once, in their order. Links that are no http(s) URL are left out.

    Args:
        values: Links as they stand on a page.
        base: URL to which they are relative.
        encoding: Encoding of the page, in which browsers send the query of a link.
        drop: Names of parameters to drop, as `canonical` takes them.
        routes: Gets the links that only a browser's script can open, as they stand on the page.
    """
    found: dict[str, None] = {}
    resolve = LinkResolver(base).resolve
    for value in values:
        link = value.strip()
        if not link:  # an empty link leads to the page itself
            continue
        if not link.isascii() and encoding not in UNICODE:
            head, mark, query = link.partition("?")
            link = head + mark + quote(query, safe=_QUERY_CHARACTERS, encoding=encoding, errors="replace")
        try:
            found[resolve(link, drop=drop)] = None
        except ScriptRouteError:
            if routes is not None:
                routes.add(link)
        except UrlError:
            continue  # javascript:, mailto:, data:, or a typo
    return tuple(found)


def parse_markup(text: str) -> Any:
    """Returns the root element of HTML text. Entities that a page defines and files that it names aren't read.

    Raises:
        ExtractError: `not-html`, if the text has no element; `too-many-tags`, `too-many-attributes` or `too-deep`.
    """
    return _parsed(text.encode(errors="replace"), etree.HTMLParser)


def _parsed(data: bytes, kind: type[etree.HTMLParser]) -> Any:
    data = data.replace(b"\0", b"")  # libxml2 stops at a NUL
    is_counted = check_markup(data)
    # huge_tree: else libxml2 silently truncates a page at 256 open elements
    parser = kind(encoding="utf-8", huge_tree=True, no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise ExtractError("not-html", str(error).partition("\n")[0]) from None
    if root is None:
        raise ExtractError("not-html", "Document is empty")
    if not is_counted:
        check_depth(root)
    return root


def _check_size(page: Fetched) -> None:
    if len(page.body) > MAX_BODY_BYTES:
        raise ExtractError("too-large", f"{len(page.body)} bytes")
    if not _something(page.body):
        raise ExtractError("empty-body")


def _looks_like_markup(page: Fetched) -> bool:
    kind = page.content_type.partition(";")[0].strip().lower()
    start = page.body[:SNIFF_BYTES].replace(b"\0", b"").lower()  # without NULs, UTF-16 reads like ASCII
    if kind in _MARKUP_TYPES:
        return b"<" in page.body and not start.startswith(_BINARY_STARTS)
    return kind in _VAGUE_TYPES and any(tag in start for tag in _MARKUP_STARTS)


_something = re.compile(rb"[^ \t\r\n\0]").search
_base_href = etree.XPath("(head/base/@href)[1]", smart_strings=False)

"""Bytes become text, an lxml tree or JSON, whatever they claim to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import charset_normalizer
import orjson
from lxml import etree, html
from w3lib.encoding import html_to_unicode, read_bom, to_unicode

from crawler.errors import ExtractError, UrlError
from crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.models import Fetched

MAX_BODY_BYTES = 10_000_000  # a page of 10 MB takes a second of everybody's event loop; larger ones are no articles
SNIFF_BYTES = 1_024  # as browsers do when the type says nothing
DETECT_BYTES = 8_192  # enough text to tell encodings apart
UTF8_MIN = 32  # continuation bytes that make it no accident that a text is valid UTF-8
MISREAD_MIN, MISREAD_SHARE = 10, 0.01  # more U+FFFD than that, and the page is in another encoding than it says

_UNICODE = frozenset({"utf-8", "utf8", "utf-16", "utf-16-le", "utf-16-be"})  # whose pages send UTF-8
_QUERY_CHARACTERS = "%/:?@!$&'()*+,;=-._~#[]"  # stay as they are in a query
_MARKUP_TYPES = frozenset({"", "text/html", "application/xhtml+xml", "application/xml", "text/xml"})
_VAGUE_TYPES = frozenset({"text/plain", "application/octet-stream", "application/x-unknown", "*/*"})
_BINARY_STARTS = (b"%pdf-", b"\x89png", b"gif8", b"\xff\xd8\xff", b"pk\x03\x04")
_MARKUP_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<div", b"<h1", b"<p")


def decode(page: Fetched) -> tuple[str, str]:
    """Returns the body's text and the encoding that it was read in.

    The order is the browsers': byte order mark, HTTP header, `<meta>`, detection. Unlike a browser's user, nobody here
    sees that a page's label is wrong, so a label that the bytes contradict is dropped. What can't be decoded becomes
    U+FFFD.
    """
    _, bom = read_bom(page.body)
    if page.encoding and not bom:
        encoding, text = page.encoding, to_unicode(page.body, page.encoding)
    else:
        encoding, text = html_to_unicode(page.content_type, page.body, auto_detect_fun=_detect)
    if encoding not in _UNICODE and _is_utf8(page.body):
        return page.body.decode(), "utf-8"
    if encoding in _UNICODE and text.count("\ufffd") > max(MISREAD_MIN, len(text) * MISREAD_SHARE):
        encoding = _detect(page.body) or encoding
        text = to_unicode(page.body, encoding)
    return text, encoding


def parse_json(page: Fetched) -> Any:
    """Returns the body's JSON value.

    Raises:
        ExtractError: `empty-body`, `too-large` or `not-json`.
    """
    _check_size(page)
    try:
        return orjson.loads(page.body)
    except orjson.JSONDecodeError:
        pass  # a byte order mark, or another encoding than UTF-8
    try:
        return orjson.loads(decode(page)[0].encode(errors="replace"))
    except orjson.JSONDecodeError as error:
        raise ExtractError("not-json", str(error)) from None


class HtmlDocument:
    """A parsed page.

    Attributes:
        root: The `<html>` element.
        base: URL that its links are relative to.
        encoding: It was read in.
    """

    def __init__(self, page: Fetched) -> None:
        _check_size(page)
        if not _looks_like_markup(page):
            raise ExtractError("not-html", f"Content-Type {page.content_type[:80]!r}")
        text, self.encoding = decode(page)
        self.root = parse_markup(text)
        base = absolute(_base_hrefs(self.root), page.url)
        self.base = base[0] if base else page.url


def absolute(
    values: Iterable[str], base: str, *, encoding: str = "utf-8", drop: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Returns links as canonical absolute URLs, each once, in their order; what is no http(s) URL is left out.

    Args:
        values: Links as they stand on a page.
        base: URL that they are relative to.
        encoding: Of the page; browsers send a link's query in it.
        drop: Names of parameters that don't name a page.
    """
    found: dict[str, None] = {}
    for value in values:
        link = value.strip()
        if not link:  # would be the page itself
            continue
        if not link.isascii() and encoding not in _UNICODE:
            head, mark, query = link.partition("?")
            link = head + mark + quote(query, safe=_QUERY_CHARACTERS, encoding=encoding, errors="replace")
        try:
            found[canonical(link, base, drop=drop)] = None
        except UrlError:
            continue  # javascript:, mailto:, data:, or a typo: nothing to fetch
    return tuple(found)


def parse_markup(text: str) -> Any:
    """Returns the root element of HTML text.

    Raises:
        ExtractError: `not-html`: there is no element in it.
    """
    # libxml2 ends at a NUL; its own limits on depth and size stay on, since pages are hostile
    parser = html.HTMLParser(encoding="utf-8", huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(text.replace("\0", "").encode(errors="replace"), parser)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise ExtractError("not-html", str(error).partition("\n")[0]) from None


def _check_size(page: Fetched) -> None:
    if len(page.body) > MAX_BODY_BYTES:
        raise ExtractError("too-large", f"{len(page.body)} bytes")
    if not page.body.strip(b" \t\r\n\0"):
        raise ExtractError("empty-body")


def _looks_like_markup(page: Fetched) -> bool:
    kind = page.content_type.partition(";")[0].strip().lower()
    start = page.body[:SNIFF_BYTES].replace(b"\0", b"").lower()  # without NULs, UTF-16 reads like ASCII
    if kind in _MARKUP_TYPES:
        return b"<" in page.body and not start.startswith(_BINARY_STARTS)
    return kind in _VAGUE_TYPES and any(tag in start for tag in _MARKUP_STARTS)


def _is_utf8(body: bytes) -> bool:
    """Other encodings' texts are no valid UTF-8, but for a few characters by chance."""
    try:
        return len(body) - len(body.decode()) >= UTF8_MIN
    except UnicodeDecodeError:
        return False


def _detect(body: bytes) -> str | None:
    """Guesses the encoding of a page that doesn't say; None leaves it at UTF-8."""
    sample = body[:DETECT_BYTES]
    end = max(sample.rfind(b"<"), sample.rfind(b"\n"))  # not inside a character
    sample = sample[:end] if len(body) > DETECT_BYTES and end > 0 else sample
    try:
        sample.decode()
    except UnicodeDecodeError:
        best = charset_normalizer.from_bytes(sample).best()
        return best.encoding if best else None
    return None


_base_hrefs = etree.XPath("head/base/@href", smart_strings=False)

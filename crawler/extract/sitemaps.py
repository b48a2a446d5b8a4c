"""Sitemaps become the value that `json:` selectors read: of pages, of further sitemaps, or plain lists of addresses.

They may have 50 MB and 50,000 pages, and come packed. So they are unpacked, read and forgotten piece by piece: beside
the answer itself, memory holds what is told of the pages alone. As of feeds, no entity is resolved but XML's own five
and numbers, and what isn't well-formed is read as far as it goes.
"""

from __future__ import annotations

import re
import zlib
from codecs import getincrementaldecoder
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from lxml import etree

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.extract.feeds import STRAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawler.base.models import Fetched

MAX_SITEMAP_BYTES, MAX_SITEMAP_PAGES = 50 * 1024 * 1024, 50_000  # as the format says; the bytes unpacked
MAX_ELEMENTS = 2_000_000  # 40 of each page, where most have 4, and those with many images 30; 3 us each
MAX_FIELD_CHARACTERS = 10_000  # of one field of an entry; addresses are shorter
MAX_IMAGES = 100  # of a page; search engines take as many as 1,000, which no field of an item needs
PIECE_BYTES = 256 * 1024  # that are unpacked at a time: large enough that a call costs nothing beside it
WINDOW_BYTES = 65_536  # that are given to be unpacked at a time: what is left of them is copied at the end of each part
MAX_PARTS = 10_000  # in which one may be packed
HEAD_BYTES = 65_536  # are looked through for where it begins: some servers write warnings before it
GZIP = b"\x1f\x8b"
_ENTRIES = {"url": "pages", "sitemap": "sitemaps"}
_ROOTS = ("urlset", "sitemapindex")
# What is read of an entry: by the element around it, and its own name.
_FIELDS = {
    ("urlset", "url"): "link",  # some leave out the element for it
    ("sitemapindex", "sitemap"): "link",
    ("url", "loc"): "link",
    ("url", "lastmod"): "changed",
    ("sitemap", "loc"): "link",
    ("sitemap", "lastmod"): "changed",
    ("news", "title"): "title",
    ("news", "publication_date"): "published",
    ("publication", "language"): "language",
    ("publication", "name"): "publication",
}
_IMAGE = ("image", "loc")
_begin = re.compile(rb"<\?xml\s|<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>]").search
_declared_encoding = re.compile(r"\sencoding\s*=\s*[\"'][\w.:-]{1,40}[\"']")
_day = re.compile(r"\d{4}(?:-\d\d){0,2}").match
_between_words = re.compile(r"[\W_]+")


def parse_sitemap(page: Fetched) -> dict[str, list[dict[str, Any]]]:
    """Returns a sitemap as `{"pages": [{"link": ..., ...}], "sitemaps": [...]}`, whatever its Content-Type says.

    A page has what the sitemap says of it as `link`, `changed`, `title`, `published`, `language`, `publication` and
    `images` (a list), each as it is written; and `words`, those of its address. A further sitemap has `link` and
    `changed`; those that changed last come first.

    Raises:
        ExtractError: `too-large` or `too-many-tags`, or `not-sitemap` where there is no beginning of one.
    """
    pieces = _utf8(_pieces(page.body))
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= HEAD_BYTES:
            break
    if begin := _begin(head, 0, HEAD_BYTES):
        found = _by_xml(head[begin.start() :], pieces)
    elif head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"http://", b"https://")):
        found = {"pages": _by_lines(head, pieces), "sitemaps": []}
    else:
        raise ExtractError(reasons.NOT_SITEMAP, f"Content-Type {page.content_type[:80]!r}")
    for one in found["pages"]:
        one["words"] = _words(one.get("link", ""))
    found["sitemaps"].sort(key=lambda one: one.get("changed", ""), reverse=True)
    return found


def changed_since(sitemap: dict[str, list[dict[str, Any]]], since: str) -> dict[str, list[dict[str, Any]]]:
    """Returns a sitemap without the entries that, as it says, changed last before a day.

    Args:
        sitemap: As `parse_sitemap` returns it.
        since: YYYY-MM-DD; empty for all.
    """
    if not since:
        return sitemap
    return {kind: [one for one in entries if not _is_before(one, since)] for kind, entries in sitemap.items()}


def _is_before(entry: dict[str, Any], since: str) -> bool:
    """Returns whether an entry changed last before a day; a month or a year counts to its end."""
    said = _day(str(entry.get("changed") or entry.get("published") or ""))
    return said is not None and said[0] < since[: len(said[0])]


def _utf8(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yields the pieces of a sitemap in UTF-16 as UTF-8, and of any other as they are: libxml2 reads their encoding."""
    first = next(pieces, b"")
    encoding = _utf16(first)
    if not encoding:
        yield first
        yield from pieces
        return
    decoder = getincrementaldecoder(encoding)("replace")
    is_declared = True
    for piece in chain([first], pieces):
        text = decoder.decode(piece)
        if is_declared:  # the declaration names the encoding that it had
            text, is_declared = _declared_encoding.sub("", text.removeprefix("\ufeff"), count=1), False
        yield text.encode("utf-8", "replace")


def _utf16(head: bytes) -> str:
    """Returns Python's name of the UTF-16 that begins so, with a byte order mark or without; empty: it is none."""
    if head.startswith((b"\xfe\xff", b"\0<", b"\0h")):
        return "utf-16-be"
    return "utf-16-le" if head.startswith((b"\xff\xfe", b"<\0", b"h\0")) else ""


def _pieces(body: bytes) -> Iterator[bytes]:
    """Yields the sitemap, unpacked if it is packed; one that is packed and cut off as far as it goes.

    Raises:
        ExtractError: It is larger than one may be, or what is packed is damaged from the start.
    """
    if not body.startswith(GZIP):
        if len(body) > MAX_SITEMAP_BYTES:
            raise ExtractError(reasons.TOO_LARGE, f"{len(body)} bytes, a sitemap has at most {MAX_SITEMAP_BYTES}")
        for start in range(0, len(body), PIECE_BYTES):
            yield body[start : start + PIECE_BYTES]
        return
    size = 0
    for piece in _unpacked(body):
        size += len(piece)
        if size > MAX_SITEMAP_BYTES:
            raise ExtractError(reasons.TOO_LARGE, f"{len(body)} bytes, unpacked more than {MAX_SITEMAP_BYTES}")
        yield piece


def _unpacked(body: bytes) -> Iterator[bytes]:
    """Yields what is packed by gzip, in one part or in several behind each other; what is damaged, as far as it goes.

    Raises:
        ExtractError: It is damaged from the start, or has too many parts.
    """
    unpacker, parts, has_begun = zlib.decompressobj(zlib.MAX_WBITS | 16), 1, False
    windows = (body[start : start + WINDOW_BYTES] for start in range(0, len(body), WINDOW_BYTES))
    packed = next(windows)
    while packed:
        try:
            piece = unpacker.decompress(packed, PIECE_BYTES)
        except zlib.error as error:
            if has_begun:
                return
            raise ExtractError(reasons.NOT_SITEMAP, f"gzip: {error}") from None
        has_begun = has_begun or bool(piece)
        yield piece
        packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
        if len(packed) < len(GZIP):
            packed += next(windows, b"")
        if unpacker.eof:
            if not packed.startswith(GZIP):
                return
            parts += 1
            if parts > MAX_PARTS:
                raise ExtractError(reasons.TOO_LARGE, f"packed in more than {MAX_PARTS} parts")
            unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)


def _by_xml(head: bytes, pieces: Iterator[bytes]) -> dict[str, list[dict[str, Any]]]:
    target = _Sitemap()
    parser = etree.XMLParser(target=target, recover=True, resolve_entities=False, load_dtd=False, no_network=True)
    rest, strays = head, 0
    for piece in pieces:
        whole, tag, rest = (rest + piece).rpartition(b"</")  # neither `&amp;` nor a value's CDATA is cut in two
        rest = tag + rest
        if len(rest) > MAX_FIELD_CHARACTERS:  # no tag ends for so long: it is no value that is kept
            whole, rest = whole + rest, b""
        escaped, number = STRAY.subn(_escaped, whole)
        strays += number
        parser.feed(escaped)
        if target.elements + strays > MAX_ELEMENTS:
            raise ExtractError(reasons.TOO_MANY_TAGS, f"more than {MAX_ELEMENTS} elements and stray &")
    parser.feed(STRAY.sub(_escaped, rest))
    parser.close()
    if not target.is_sitemap:
        raise ExtractError(reasons.NOT_SITEMAP, "neither <urlset> nor <sitemapindex>")
    return target.found


def _escaped(match: re.Match[bytes]) -> bytes:
    return match[0] if len(match[0]) > 1 else b"&amp;"


class _Sitemap:
    """What libxml2's parser tells of the elements of a sitemap, one after the other."""

    def __init__(self) -> None:
        self.is_sitemap = False
        self.elements = 0
        self.found: dict[str, list[dict[str, Any]]] = {"pages": [], "sitemaps": []}
        self._open: list[str] = []
        self._entry: dict[str, Any] | None = None
        self._text = ""

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self.is_sitemap = self.is_sitemap or (not self._open and name in _ROOTS)
        self.elements += 1
        self._open.append(name)
        self._text = ""
        kind = _ENTRIES.get(name)
        if kind and len(self.found[kind]) < MAX_SITEMAP_PAGES:
            self._entry = {}
            self.found[kind].append(self._entry)

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        place = (self._open[-2] if len(self._open) > 1 else "", name)
        text = self._text.strip()
        if self._entry is not None and text:
            if field := _FIELDS.get(place):
                self._entry.setdefault(field, text)
            elif place == _IMAGE and len(images := self._entry.setdefault("images", [])) < MAX_IMAGES:
                images.append(text)
        if self._open:
            self._open.pop()
        if name in _ENTRIES:
            self._entry = None
        self._text = ""

    def data(self, text: str) -> None:
        if self._entry is not None and len(self._text) < MAX_FIELD_CHARACTERS:
            self._text += text[:MAX_FIELD_CHARACTERS]

    def close(self) -> None:
        """Nothing: the sitemap itself has what was told."""


def _by_lines(head: bytes, pieces: Iterator[bytes]) -> list[dict[str, Any]]:
    """Returns the pages of a plain list of addresses, one on each line."""
    found: list[dict[str, Any]] = []
    rest = head.removeprefix(b"\xef\xbb\xbf")
    for piece in (*pieces, b"\n"):
        *lines, rest = (rest + piece).split(b"\n")
        rest = rest[:MAX_FIELD_CHARACTERS]
        for line in lines:
            link = line[:MAX_FIELD_CHARACTERS].decode("utf-8", "replace").strip()
            if link.startswith(("http://", "https://")) and len(found) < MAX_SITEMAP_PAGES:
                found.append({"link": link})
    return found


def _words(link: str) -> str:
    """Returns the words of an address: those of its path and query, decoded, with blanks between them."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return ""
    return _between_words.sub(" ", unquote(f"{parts.path} {parts.query}")).strip()

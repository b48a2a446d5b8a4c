"""Feeds become the value that `json:` selectors read: RSS, Atom and JSON Feed alike, broken ones as far as they go.

libxml2 reads what isn't well-formed, too, and tells of it piece by piece, so that no tree is built. No entity is ever
resolved but the five of XML itself and numbers: each other `&` is taken as the character, which is also what most
feeds with a bare `&` mean. So what a feed defines, however large it would unfold, stays a name.
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import orjson
import turbohtml
from lxml import etree

from crawler.base import page_json, reasons
from crawler.base.errors import ExtractError
from crawler.extract.encoding import utf8
from crawler.extract.markup import MAX_TAGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.base.models import Fetched

MAX_FEED_BYTES = 10_000_000  # as of any page
MAX_ENTRIES = 10_000  # as many links of a page as are looked at
MAX_FIELD_CHARACTERS = 10_000  # of one field of an entry: words are looked for in it
HEAD_BYTES = 65_536  # are looked through for where the feed begins: some servers write warnings before it
_ENTRIES = frozenset({"item", "entry"})
_ROOTS = frozenset({"rss", "feed", "RDF"})
# What is read of an entry: by the vocabulary of the element, and its own name. Where a vocabulary beside the feed's own
# says it, too, the feed's own word counts.
_FIELDS = {
    "": {
        "title": "title",
        "link": "link",
        "guid": "id",
        "id": "id",
        "description": "summary",
        "summary": "summary",
        "content": "content",
        "pubDate": "published",
        "published": "published",
        "issued": "published",
        "created": "published",
        "updated": "updated",
        "modified": "updated",
        "author": "author",
        "name": "author",
        # As modules name them: libxml2 drops a prefix that a feed forgets to declare.
        "encoded": "content",
        "creator": "author",
        "date": "published",
        # As the first modules for a whole text named it.
        "body": "content",
        "fullitem": "content",
    },
    "content": {"encoded": "content"},
    "dc": {"creator": "author", "author": "author", "date": "published", "title": "title", "description": "summary"},
    "dcterms": {"issued": "published", "created": "published", "modified": "updated"},
    "itunes": {"author": "author", "summary": "summary"},
    "media": {"title": "title", "description": "summary"},
    "xhtml": {"body": "content"},
}
# Vocabularies by their namespace. A feed's own is that of its entries' elements, whatever its writer made up; and those
# of `_FORMATS`, since Atom's words are used in RSS. Each further one that stands within an entry is passed over.
_VOCABULARIES = {
    "http://purl.org/rss/1.0/modules/content/": "content",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "http://search.yahoo.com/mrss/": "media",
    "http://www.w3.org/1999/xhtml": "xhtml",
}
_FORMATS = frozenset(
    {
        "http://www.w3.org/2005/Atom",
        "http://purl.org/atom/ns#",
        "http://purl.org/rss/1.0/",
        "http://my.netscape.com/rdf/simple/0.9/",
        "http://backend.userland.com/rss",
        "http://backend.userland.com/rss2",
        "http://blogs.law.harvard.edu/tech/rss",
    }
)
_READ_AS_PEOPLE_DO = frozenset({"title", "summary", "content", "author"})
_AROUND_ENTRIES = _ROOTS | {"channel"}
_WINDOWS_CHARACTERS = {code: bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(0x80, 0xA0)}
_controls = re.compile("[\x80-\x9f]").search
_XML = "{http://www.w3.org/XML/1998/namespace}"
_looks_like_html = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});|</?[A-Za-z]").search
_begin = re.compile(rb"<\?xml\s|<(?:[\w.-]+:)?(?:rss|feed|RDF)[\s>]").search
# An `&` that begins none of the references that are resolved; CDATA matches as a whole, so that none is found in it.
STRAY = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos);)", re.DOTALL
)


def parse_feed(page: Fetched) -> dict[str, Any]:
    """Returns a feed as `{"next": ..., "entries": [{"link": ..., "title": ..., ...}]}`, whatever its Content-Type says.

    An entry has what the feed says of `link`, `id`, `published` and `updated`, as it is written (a link below an
    `xml:base` is made whole by it), and of `title`, `summary`, `content` and `author`, as people read it: without
    markup, and without the escapes that are left in it. `next` is the address of a page with older entries (RFC 5005,
    or JSON Feed's `next_url`); null for none.

    Raises:
        ExtractError: `too-large`, `too-many-tags`, or `not-feed` where there is no beginning of a feed.
    """
    if len(page.body) > MAX_FEED_BYTES:
        raise ExtractError(reasons.TOO_LARGE, f"{len(page.body)} bytes")
    data = utf8(page)[0].lstrip()
    if data.startswith(b"{"):
        return _json_feed(data)
    if (marks := data.count(b"<") + data.count(b"&")) > MAX_TAGS:  # of both, libxml2 tells one by one
        raise ExtractError(reasons.TOO_MANY_TAGS, f"{marks} with references, at most {MAX_TAGS} are read")
    begin = _begin(data, 0, HEAD_BYTES)
    target = _Feed(page.url)
    parser = etree.XMLParser(
        target=target, recover=True, resolve_entities=False, load_dtd=False, no_network=True, encoding="utf-8"
    )
    if begin:
        parser.feed(STRAY.sub(lambda match: match[0] if len(match[0]) > 1 else b"&amp;", data[begin.start() :]))
        parser.close()
    if not target.is_feed:
        raise ExtractError(reasons.NOT_FEED, f"Content-Type {page.content_type[:80]!r}")
    return {"next": target.next, "entries": target.entries}


class _Feed:
    """What libxml2's parser tells of the elements of a feed, one after the other."""

    def __init__(self, url: str) -> None:
        self.is_feed = False
        self.next: str | None = None
        self.entries: list[dict[str, str]] = []
        self._url = url
        self._namespace = ""  # of the entries, and so of the feed's own elements
        self._open: list[str] = []
        self._bases: list[str] = []  # of the elements that are open; empty: the feed's own address
        self._entry: dict[str, str] | None = None
        self._foreign: dict[str, str] = {}  # fields of the entry by other vocabularies than the feed's own
        self._depth = 0  # of the entry's own fields
        self._field = ""  # that is open
        self._field_depth = 0
        self._field_is_own = False
        self._field_is_html = False  # as it says
        self._field_is_base64 = False
        self._field_has_elements = False  # its markup is the feed's own, so no escape in it stands for markup
        self._guid_is_link = True
        self._text: list[str] = []  # of the field that is open
        self._room = MAX_FIELD_CHARACTERS  # characters that the field may have more

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        namespace, name = _split(tag)
        around = self._open[-1] if self._open else ""
        self.is_feed = self.is_feed or (not around and name in _ROOTS)
        self._open.append(name)
        self._bases.append(self._base_within(attributes))
        vocabulary = self._vocabulary(namespace)
        is_direct = len(self._open) == self._depth
        is_of_media = around in {"group", "content"} if vocabulary == "media" else around == "group"
        is_within = len(self._open) == self._depth + 1 and (is_of_media or (name == "name" and around == "author"))
        is_entry = name in _ENTRIES and (vocabulary == "" or around in _AROUND_ENTRIES)
        if is_entry and self._entry is None and len(self.entries) < MAX_ENTRIES:
            self._namespace = namespace
            self._entry, self._foreign, self._depth, self._guid_is_link = {}, {}, len(self._open) + 1, True
            self.entries.append(self._entry)
            if about := attributes.get("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"):
                self._foreign["id"] = about
        elif name == "link" and "href" in attributes and (self._entry is None or is_direct):
            self._take_link(attributes["href"], attributes.get("rel") or "alternate")
        elif self._entry is not None and (is_direct or is_within):
            field = _FIELDS.get(vocabulary or "", {}).get(name, "") if vocabulary is not None else ""
            is_enclosure = name == "link" and (attributes.get("rel") or "alternate") != "alternate"
            self._field, self._field_depth = "" if is_enclosure else field, len(self._open)
            self._field_is_own = vocabulary == "" and not is_of_media
            self._field_has_elements = False
            self._field_is_html = attributes.get("type", "").lower() in {"html", "text/html"}
            self._field_is_base64 = attributes.get("mode") == "base64" or _is_packed(attributes.get("type", ""))
            self._guid_is_link = self._guid_is_link and attributes.get("isPermaLink", "true").lower() != "false"
            self._text, self._room = [], MAX_FIELD_CHARACTERS
        else:
            self._field_has_elements = True

    def end(self, _tag: str) -> None:
        depth = len(self._open)
        if self._entry is not None and self._field and depth == self._field_depth:
            fields = self._entry if self._field_is_own else self._foreign
            if text := self._value():
                fields.setdefault(self._field, text)
            self._field, self._text = "", []
        if self._open:
            self._open.pop()
            self._bases.pop()
        if self._entry is not None and depth == self._depth - 1:
            for field, text in self._foreign.items():
                self._entry.setdefault(field, text)
            if self._guid_is_link and self._entry.get("id", "").startswith(("http://", "https://")):
                self._entry.setdefault("link", self._entry["id"])  # RSS: a guid is a link unless it says otherwise
            self._entry, self._depth = None, 0

    def data(self, text: str) -> None:
        if self._field and self._room > 0:
            self._text.append(text[: self._room])
            self._room -= len(text)

    def close(self) -> None:
        """Nothing: the feed itself has what was told."""

    def _vocabulary(self, namespace: str) -> str | None:
        """Returns the vocabulary of a namespace; empty for the feed's own, None for one of which nothing is read."""
        is_own = namespace in ("", self._namespace) or namespace in _FORMATS
        return "" if is_own else _VOCABULARIES.get(namespace)

    def _base_within(self, attributes: Mapping[str, str]) -> str:
        """Returns the address to which links within an element are relative; empty for the feed's own."""
        around = self._bases[-1] if self._bases else ""
        base = attributes.get(f"{_XML}base")
        return around if base is None else _joined(around or self._url, base)

    def _value(self) -> str:
        """Returns the value of the field that ends."""
        text = "".join(self._text).strip()
        if self._field_is_base64:
            text = _unpacked(text)
        if self._field == "link":
            return _joined(self._bases[-1], text) if self._bases[-1] and text else text
        if self._field_has_elements and not self._field_is_html:
            return " ".join(_as_typed(text).split())
        return as_read(text) if self._field in _READ_AS_PEOPLE_DO else text

    def _take_link(self, href: str, relation: str) -> None:
        base = self._bases[-1]
        href = _joined(base, href) if base else href
        if self._entry is None:
            self.next = href if relation == "next" and self.next is None else self.next
        elif relation == "alternate":
            self._entry.setdefault("link", href)


def as_read(text: str) -> str:
    """Returns a text of a feed as people read it: feeds write HTML in it, escaped once more or in CDATA."""
    text = _as_typed(text)
    if not _looks_like_html(text):
        return text  # its line breaks stay
    return " ".join(turbohtml.parse_fragment(text).text.split())


def _as_typed(text: str) -> str:
    """Returns a text with the characters that Windows has where Unicode has controls, as browsers show them."""
    return text.translate(_WINDOWS_CHARACTERS) if _controls(text) else text


def _split(tag: str) -> tuple[str, str]:
    """Returns the namespace of an element, and its name."""
    namespace, _, name = tag.rpartition("}")
    return namespace.removeprefix("{"), name


def _joined(base: str, address: str) -> str:
    """Returns an address made whole by a base; as it is written where that can't be."""
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return address


def _is_packed(media_type: str) -> bool:
    """Returns whether Atom's content of a type is base64 (RFC 4287): of no text, and not of XML."""
    kind = media_type.partition(";")[0].strip().lower()
    return "/" in kind and not kind.startswith("text/") and not kind.endswith(("+xml", "/xml"))


def _unpacked(text: str) -> str:
    """Returns what a base64 text stands for; the text itself where it is none."""
    try:
        return b64decode(text, validate=False).decode("utf-8")
    except (ValueError, UnicodeDecodeError):
        return text


def _json_feed(data: bytes) -> dict[str, Any]:
    try:
        value = page_json.loads(data)
    except orjson.JSONDecodeError as error:
        raise ExtractError(reasons.NOT_FEED, str(error)) from None
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise ExtractError(reasons.NOT_FEED, "JSON without `items`")
    entries = [_json_entry(item) for item in items[:MAX_ENTRIES] if isinstance(item, dict)]
    return {"next": value.get("next_url"), "entries": entries}


def _json_entry(item: dict[str, Any]) -> dict[str, str]:
    """Returns an item of a JSON Feed as an entry; of several names for one field the first that says something."""
    authors = item.get("authors")  # of version 1.1
    first_author = authors[0] if isinstance(authors, list) and authors else item.get("author")
    candidates = {
        "link": [item.get("url"), item.get("external_url")],
        "id": [item.get("id")],
        "title": [item.get("title")],
        "summary": [item.get("summary"), item.get("content_text"), item.get("content_html")],
        "content": [item.get("content_text"), item.get("content_html")],
        "author": [first_author.get("name") if isinstance(first_author, dict) else None],
        "published": [item.get("date_published")],
        "updated": [item.get("date_modified")],
    }
    entry = {}
    for name, values in candidates.items():
        # An id that is a number is taken for the text that it stands for, as version 1.1 asks.
        texts = (str(value) if name == "id" and type(value) is int else value for value in values)
        if written := next((value for value in texts if isinstance(value, str) and value), ""):
            written = written[:MAX_FIELD_CHARACTERS]
            entry[name] = as_read(written) if name in _READ_AS_PEOPLE_DO else written
    return entry

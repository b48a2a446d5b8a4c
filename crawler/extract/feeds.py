"""Feeds become the value that `json:` selectors read: RSS, Atom and JSON Feed alike, broken ones as far as they go.

libxml2 reads what isn't well-formed, too, and tells of it piece by piece, so that no tree is built. No entity is ever
resolved but the five of XML itself and numbers: each other `&` is taken as the character, which is also what most
feeds with a bare `&` mean. So what a feed defines, however large it would unfold, stays a name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
from lxml import etree

from crawler.base import page_json
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
_FIELDS = {
    "title": "title",
    "link": "link",
    "guid": "id",
    "id": "id",
    "description": "summary",
    "summary": "summary",
    "pubDate": "published",
    "published": "published",
    "date": "published",
    "updated": "updated",
    "creator": "author",
    "author": "author",
    "name": "author",
}
_begin = re.compile(rb"<\?xml\s|<(?:[\w.-]+:)?(?:rss|feed|RDF)[\s>]").search
# An `&` that begins none of the references that are resolved; CDATA matches as a whole, so that none is found in it.
STRAY = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos);)", re.DOTALL
)


def parse_feed(page: Fetched) -> dict[str, Any]:
    """Returns a feed as `{"next": ..., "entries": [{"link": ..., "title": ..., ...}]}`, whatever its Content-Type says.

    An entry has what the feed says of `link`, `id`, `title`, `summary`, `author`, `published` and `updated`, as it is
    written. `next` is the address of a page with older entries (RFC 5005, or JSON Feed's `next_url`); null for none.

    Raises:
        ExtractError: `too-large`, `too-many-tags`, or `not-feed` where there is no beginning of a feed.
    """
    if len(page.body) > MAX_FEED_BYTES:
        raise ExtractError("too-large", f"{len(page.body)} bytes")
    data = utf8(page)[0].lstrip()
    if data.startswith(b"{"):
        return _json_feed(data)
    if (marks := data.count(b"<") + data.count(b"&")) > MAX_TAGS:  # of both, libxml2 tells one by one
        raise ExtractError("too-many-tags", f"{marks} with references, at most {MAX_TAGS} are read")
    begin = _begin(data, 0, HEAD_BYTES)
    target = _Feed()
    parser = etree.XMLParser(
        target=target, recover=True, resolve_entities=False, load_dtd=False, no_network=True, encoding="utf-8"
    )
    if begin:
        parser.feed(STRAY.sub(lambda match: match[0] if len(match[0]) > 1 else b"&amp;", data[begin.start() :]))
        parser.close()
    if not target.is_feed:
        raise ExtractError("not-feed", f"Content-Type {page.content_type[:80]!r}")
    return {"next": target.next, "entries": target.entries}


class _Feed:
    """What libxml2's parser tells of the elements of a feed, one after the other."""

    def __init__(self) -> None:
        self.is_feed = False
        self.next: str | None = None
        self.entries: list[dict[str, str]] = []
        self._open: list[str] = []
        self._entry: dict[str, str] | None = None
        self._depth = 0  # of the entry's own fields
        self._text: list[str] = []  # of the field that is open
        self._room = MAX_FIELD_CHARACTERS  # characters that the field may have more

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self.is_feed = self.is_feed or (not self._open and name in _ROOTS)
        self._open.append(name)
        if name in _ENTRIES and len(self.entries) < MAX_ENTRIES:
            self._entry, self._depth = {}, len(self._open) + 1
            self.entries.append(self._entry)
        elif name == "link" and (href := attributes.get("href")):
            self._take_link(href, attributes.get("rel") or "alternate")
        if len(self._open) <= self._depth:
            self._text, self._room = [], MAX_FIELD_CHARACTERS

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if self._entry is not None:
            field = _FIELDS.get(name)
            is_own = len(self._open) == self._depth or (name == "name" and self._open[-2:-1] == ["author"])
            if field and is_own:
                if text := "".join(self._text).strip():
                    self._entry.setdefault(field, text)
                self._text = []
        if self._open:
            self._open.pop()
        if name in _ENTRIES:
            if self._entry is not None and self._entry.get("id", "").startswith(("http://", "https://")):
                self._entry.setdefault("link", self._entry["id"])  # RSS: a guid is a link unless it says otherwise
            self._entry, self._depth = None, 0

    def data(self, text: str) -> None:
        if self._entry is not None and self._room > 0:
            self._text.append(text[: self._room])
            self._room -= len(text)

    def close(self) -> None:
        """Nothing: the feed itself has what was told."""

    def _take_link(self, href: str, relation: str) -> None:
        if self._entry is None:
            self.next = href if relation == "next" and self.next is None else self.next
        elif relation == "alternate":
            self._entry.setdefault("link", href)


def _json_feed(data: bytes) -> dict[str, Any]:
    try:
        value = page_json.loads(data)
    except orjson.JSONDecodeError as error:
        raise ExtractError("not-feed", str(error)) from None
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise ExtractError("not-feed", "JSON without `items`")
    entries = [_json_entry(item) for item in items[:MAX_ENTRIES] if isinstance(item, dict)]
    return {"next": value.get("next_url"), "entries": entries}


def _json_entry(item: dict[str, Any]) -> dict[str, str]:
    """Returns an item of a JSON Feed as an entry; of several names for one field the first that says something."""
    authors = item.get("authors")  # of version 1.1
    first_author = authors[0] if isinstance(authors, list) and authors else item.get("author")
    said = {
        "link": [item.get("url"), item.get("external_url")],
        "id": [item.get("id")],
        "title": [item.get("title")],
        "summary": [item.get("summary"), item.get("content_text"), item.get("content_html")],
        "author": [first_author.get("name") if isinstance(first_author, dict) else None],
        "published": [item.get("date_published")],
        "updated": [item.get("date_modified")],
    }
    found = {}
    for name, values in said.items():
        # An id that is a number is taken for the text that it stands for, as version 1.1 asks.
        texts = (str(value) if name == "id" and type(value) is int else value for value in values)
        if written := next((value for value in texts if isinstance(value, str) and value), ""):
            found[name] = written[:MAX_FIELD_CHARACTERS]
    return found

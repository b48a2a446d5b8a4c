"""The values that a site's rules find on a content page, as text or as URLs; for HTML and for JSON."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import turbohtml

from crawler.errors import ExtractError
from crawler.extract.document import absolute
from crawler.extract.html_text import HtmlText
from crawler.extract.markup import MAX_TAGS, parse_html

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.extract.document import HtmlDocument
    from crawler.extract.field_kinds import Scalar
    from crawler.sites.definition import Rule

MAX_VALUES = 1_000  # of one field; a page with more images is a trap
INTEGER_BITS = 64  # with the sign; MongoDB and most readers of JSON take no larger integers


class Reader(Protocol):
    """A content page on which rules find values."""

    @property
    def language(self) -> str:
        """BCP 47 tag of the language that the page declares; empty for none."""

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:
        """Returns the first value that the rule finds, or all of them for `all`. Strings are not clean yet.

        Args:
            rule: From the site's definition.
            date: Prefer the `datetime` attribute of an element to its text.
        """

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:
        """Returns all URLs that the rule finds, made absolute.

        Args:
            rule: From the site's definition.
            tags: `images` or `videos`; which elements' URLs are taken from HTML inside JSON.
        """


class HtmlReader:
    """Reads an HTML page."""

    def __init__(self, document: HtmlDocument) -> None:
        self._document = document
        self._text = HtmlText()

    @property
    def language(self) -> str:
        """The `lang` of the root element."""
        root = self._document.tree.select_one("html")
        return ((root.attr("lang") or "") if root else "").strip()

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:
        """Returns the text of elements, and other matches as they are."""
        tree = self._document.tree
        found = matches(rule.select.search(tree))
        removed = _removed(tree, rule)
        return [self._value(match, removed, date=date) for match in (found[:MAX_VALUES] if rule.all else found[:1])]

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:  # noqa: ARG002 -- the rule selects the elements
        """Returns the URLs of the matches."""
        document = self._document
        found = map(address, matches(rule.select.search(document.tree))[:MAX_VALUES])
        return absolute(found, document.base, encoding=document.encoding)

    def _value(self, match: Any, removed: frozenset[Any], *, date: bool) -> Scalar:
        if isinstance(match, turbohtml.Element):
            attribute = "content" if match.tag == "meta" else "datetime" if date else ""
            value = match.attr(attribute) if attribute else None
            return self._text.of(match, removed) if value is None else value
        if isinstance(match, str):
            return match.replace("\n", " ")
        if isinstance(match, float):  # XPath has no other numbers
            return int(match) if match.is_integer() and abs(match) < 2 ** (INTEGER_BITS - 1) else match
        return match if isinstance(match, bool) else str(match).replace("\n", " ")


class JsonReader:
    """Reads a JSON page, and HTML inside its values."""

    def __init__(self, value: Any, url: str) -> None:
        self._value, self._url = value, url

    @property
    def language(self) -> str:
        """None: JSON has no place for it."""
        return ""

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:
        """Returns strings and numbers, or the text of HTML in them for `html`."""
        found = scalars(rule.select.search(self._value))
        found = found if rule.all else found[:1]
        if not rule.html or date:
            return found
        text = HtmlText()
        return [text.of(tree, _removed(tree, rule)) for tree in _fragments(found)]

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:
        """Returns the strings as URLs, or the URLs of images or videos in the HTML for `html`."""
        values = scalars(rule.select.search(self._value))
        found: Iterable[Any] = values
        if rule.html:
            found = islice((source for tree in _fragments(values) for source in _sources(tree, tags)), MAX_VALUES)
        return absolute(map(str, found), self._url)


def matches(found: Any) -> list[Any]:
    """Returns what a selector found as a list: a single value as its one entry, and an empty one or NaN as none."""
    if isinstance(found, list):
        return found
    nothing = found in (None, "", False) or (isinstance(found, float) and not math.isfinite(found))
    return [] if nothing else [found]


def scalars(found: Any, *, max_values: int | None = MAX_VALUES) -> list[Scalar]:
    """Returns the strings and numbers that a JSON path found, huge integers as text.

    Args:
        found: One value or a list of them.
        max_values: How many are returned; None for all.
    """
    values = found[:max_values] if isinstance(found, list) else [found]
    return [
        str(value) if isinstance(value, int) and value.bit_length() >= INTEGER_BITS else value
        for value in values
        if isinstance(value, str | int | float)
    ]


def address(match: Any) -> str:
    """Returns the URL in an element or attribute, as written; empty for none."""
    if isinstance(match, turbohtml.Element):
        return match.attr("src") or match.attr("href") or match.attr("content") or ""
    return str(match)


def _removed(tree: turbohtml.Document, rule: Rule) -> frozenset[Any]:
    if not rule.remove:
        return _NONE
    found = (match for selector in rule.remove for match in matches(selector.search(tree)))
    return frozenset(match for match in found if isinstance(match, turbohtml.Element))


def _fragments(values: list[Any]) -> list[turbohtml.Document]:
    tags = sum(str(value).count("<") for value in values)
    if tags > MAX_TAGS:  # of all values together; those of each are counted as it is parsed
        raise ExtractError("too-many-tags", f"{tags} in the HTML of a JSON value, at most {MAX_TAGS} are read")
    return [parse_html(f"<div>{value}</div>".encode(errors="replace")) for value in values]


def _sources(tree: turbohtml.Document, tags: str) -> list[str]:
    return [element.attr("src") or "" for element in tree.select(_SOURCES[tags])]


_NONE: frozenset[Any] = frozenset()
_SOURCES = {"images": "img[src]", "videos": "video[src], video > source[src]"}

"""Two kinds of content page, one way to ask them: what stands at this rule, as text or as URLs."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from lxml import etree

from crawler.errors import ExtractError
from crawler.extract.document import absolute, parse_markup
from crawler.extract.html_text import html_text
from crawler.extract.limits import MAX_TAGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.extract.document import HtmlDocument
    from crawler.extract.field_kinds import Scalar
    from crawler.sites.definition import Rule

MAX_VALUES = 1_000  # of one field; a page with more images is a trap
INTEGER_BITS = 64  # what MongoDB and most readers of JSON can take, with its sign


class Reader(Protocol):
    """A content page that can be asked for the values of a rule."""

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:
        """Returns what the rule finds: the first value, or all of them when it says so. Strings are not clean yet.

        Args:
            rule: From the site's definition.
            date: Prefer an element's `datetime` attribute to its text.
        """

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:
        """Returns the absolute URLs that the rule finds, all of them.

        Args:
            rule: From the site's definition.
            tags: `images` or `videos`: what to look for in HTML inside JSON.
        """


class HtmlReader:
    """Reads an HTML page."""

    def __init__(self, document: HtmlDocument) -> None:
        self._document = document

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:
        """Returns elements as their prose, other matches as they are."""
        root = self._document.root
        found = matches(rule.select.find(self._document.index))
        removed = _removed(root, rule)
        return [_text(match, removed, date=date) for match in (found[:MAX_VALUES] if rule.all else found[:1])]

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:  # noqa: ARG002 -- the selector has chosen the elements
        """Returns the matches' addresses."""
        document = self._document
        found = map(address, matches(rule.select.find(document.index))[:MAX_VALUES])
        return absolute(found, document.base, encoding=document.encoding)


class JsonReader:
    """Reads a JSON answer, and HTML inside of it."""

    def __init__(self, value: Any, url: str) -> None:
        self._value, self._url = value, url

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:
        """Returns strings and numbers; HTML in them as its prose."""
        found = scalars(rule.select.search(self._value))
        found = found if rule.all else found[:1]
        if not rule.html or date:
            return found
        return [html_text(root, _removed(root, rule)) for root in _fragments(found)]

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:
        """Returns the strings found, or the sources of the images or videos in the HTML found."""
        values = scalars(rule.select.search(self._value))
        found: Iterable[Any] = values
        if rule.html:
            found = islice((source for root in _fragments(values) for source in _SOURCES[tags](root)), MAX_VALUES)
        return absolute(map(str, found), self._url)


def matches(found: Any) -> list[Any]:
    """Returns all that a selector found on a page; a single value is the one entry; what says nothing (NaN), none."""
    if isinstance(found, list):
        return found
    nothing = found in (None, "", False) or (isinstance(found, float) and not math.isfinite(found))
    return [] if nothing else [found]


def scalars(found: Any, *, most: int | None = MAX_VALUES) -> list[Scalar]:
    """Returns the strings and numbers of what a JSON path found, a huge integer as its digits; None for all of them."""
    values = found[:most] if isinstance(found, list) else [found]
    return [
        str(value) if isinstance(value, int) and value.bit_length() >= INTEGER_BITS else value
        for value in values
        if isinstance(value, str | int | float)
    ]


def address(match: Any) -> str:
    """Returns the URL that an element or attribute holds, as it stands there; empty for none."""
    if etree.iselement(match):
        return match.get("src") or match.get("href") or match.get("content") or ""
    return str(match)


def _text(match: Any, removed: frozenset[Any], *, date: bool) -> Scalar:
    if not etree.iselement(match):
        if isinstance(match, float):  # XPath has no other numbers
            return int(match) if match.is_integer() and abs(match) < 2 ** (INTEGER_BITS - 1) else match
        return match if isinstance(match, bool) else str(match).replace("\n", " ")
    attribute = match.get("datetime") if date else None
    if match.tag == "meta":
        attribute = match.get("content")
    return html_text(match, removed) if attribute is None else str(attribute)


def _removed(root: Any, rule: Rule) -> frozenset[Any]:
    if not rule.remove:
        return frozenset()
    return frozenset(
        match for selector in rule.remove for match in matches(selector.search(root)) if etree.iselement(match)
    )


def _fragments(values: list[Any]) -> list[Any]:
    tags = sum(str(value).count("<") for value in values)
    if tags > MAX_TAGS:  # together; each by itself is counted when it is parsed
        raise ExtractError("too-many-tags", f"{tags} in the HTML of a JSON value, at most {MAX_TAGS} are read")
    roots = []
    for value in values:
        try:
            roots.append(parse_markup(f"<div>{value}</div>"))
        except ExtractError as error:
            if error.reason != "not-html":
                raise
            continue  # nothing in it that is markup or text
    return roots


_SOURCES = {
    "images": etree.XPath("//img/@src", smart_strings=False),
    "videos": etree.XPath("//video/@src | //video/source/@src", smart_strings=False),
}

"""The values that a site's rules find on a content page, as text or as URLs; for HTML, JSON and plain text."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson
import turbohtml

from crawler.base import reasons, text
from crawler.base.errors import ExtractError
from crawler.extract.document import absolute
from crawler.extract.html_text import HtmlText
from crawler.extract.images import source_of
from crawler.extract.markup import MAX_TAGS, parse_html
from crawler.sites.selector import DECLARATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.extract.document import HtmlDocument
    from crawler.sites.rule import Rule
    from crawler.sites.selector import Selector

MAX_VALUES = 1_000  # of one field; a page with more images is a trap
Scalar = str | int | float | bool  # what a rule finds
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

    def rows(self, each: Selector, max_rows: int) -> list[CommentRow]:
        """Returns a reader for each of the first matches of a selector, on which rules find only what is within it."""


class CommentRow(NamedTuple):
    """One of several records on a page.

    Attributes:
        around: The place of the row that it stands in, among all; None for none.
    """

    reader: Reader
    around: int | None


class HtmlReader:
    """Reads an HTML page, or a part of one.

    Args:
        document: The page.
        part: The element in which rules select; None: all of the page.
        hidden: Elements within the part that aren't looked at.
        html_text: That of the page, with marks, which bounds what all of its rows take.
    """

    def __init__(
        self,
        document: HtmlDocument,
        part: turbohtml.Element | None = None,
        hidden: frozenset[Any] = frozenset(),
        html_text: HtmlText | None = None,
    ) -> None:
        self._document = document
        self._top: Any = document.tree if part is None else part
        self._hidden = hidden
        self._text = html_text or HtmlText(marked=True)

    @property
    def language(self) -> str:
        """The `lang` of the root element."""
        root = self._document.tree.select_one("html")
        return ((root.attr("lang") or "") if root else "").strip()

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:
        """Returns the text of elements, and other matches as they are."""
        if rule.select.language in DECLARATIONS:
            return self._declarations(rule).texts(rule, date=date)
        selected = rule.select.search(self._top)
        if isinstance(selected, str):  # the string that an XPath makes: nobody knows which of its lines a browser shows
            return cut([selected] if selected else [], rule)
        shown = self._shown(matches(selected))
        removed = _removed(self._top, rule) | self._hidden if self._hidden else _removed(self._top, rule)
        if rule.pattern is None:
            return [self._value(match, removed, rule, date=date) for match in shown[: MAX_VALUES if rule.all else 1]]
        return cut((self._value(match, removed, rule, date=date) for match in shown), rule)

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:
        """Returns the URLs of the matches."""
        if rule.select.language in DECLARATIONS:
            return self._declarations(rule).urls(rule, tags)
        document = self._document
        addresses = map(address, self._shown(matches(rule.select.search(self._top)))[:MAX_VALUES])
        return absolute(
            _cut_addresses(addresses, rule),
            document.base,
            encoding=document.encoding,
            keeps_routes=document.is_rendered,
        )

    def _value(self, match: Any, removed: frozenset[Any], rule: Rule, *, date: bool) -> Scalar:
        if isinstance(match, str):
            return match if rule.keep_whitespace else match.replace("\n", " ")
        if isinstance(match, turbohtml.Element):
            attribute = "content" if match.tag == "meta" else "datetime" if date else ""
            value = match.attr(attribute) if attribute else None
            return _text_of(self._text, match, removed, rule) if value is None else value
        if isinstance(match, float):  # XPath has no other numbers
            return int(match) if match.is_integer() and abs(match) < 2 ** (INTEGER_BITS - 1) else match
        return bool(match)

    def rows(self, each: Selector, max_rows: int) -> list[CommentRow]:
        """Returns a reader for each element that a selector finds; it doesn't see rows within the row."""
        selected = matches(each.search(self._top))
        elements = [match for match in selected if isinstance(match, turbohtml.Element)][:max_rows]
        places: dict[Any, int] = {element: place for place, element in enumerate(elements)}
        rows_around = [next((places[box] for box in element.ancestors if box in places), None) for element in elements]
        within: dict[int | None, set[Any]] = {}
        for element, place in zip(elements, rows_around, strict=True):
            within.setdefault(place, set()).add(element)
        return [
            CommentRow(
                HtmlReader(self._document, element, frozenset(within.get(place, ())), self._text), rows_around[place]
            )
            for place, element in enumerate(elements)
        ]

    def _declarations(self, rule: Rule) -> DeclarationReader:
        return DeclarationReader(self._document.declared.of(rule.select.language), self._document.base)  # type: ignore[arg-type]  # one of DECLARATIONS

    def _shown(self, selected: list[Any]) -> list[Any]:
        if not self._hidden:
            return selected
        return [
            match
            for match in selected
            if not isinstance(match, turbohtml.Element) or self._hidden.isdisjoint([match, *match.ancestors])
        ]


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
        values = scalars(self._select(rule, _NAMES))[: None if _takes_more(rule) else 1]
        if not rule.html or date:
            return cut(values, rule)
        html_text = HtmlText(marked=True)
        return cut([_text_of(html_text, tree, _removed(tree, rule), rule) for tree in _fragments(values)], rule)

    def values(self, rule: Rule) -> list[Scalar]:
        """Returns what `texts` does, with objects and lists among it as JSON text."""
        if rule.html:
            return self.texts(rule)
        selected = self._select(rule, _NAMES)
        values = selected[:MAX_VALUES] if isinstance(selected, list) else [selected]
        return cut(scalars([_as_json(value) if isinstance(value, dict | list) else value for value in values]), rule)

    def rows(self, each: Selector, max_rows: int) -> list[CommentRow]:
        """Returns a reader for each value that a selector finds."""
        selected = each.search(self._value)
        rows = selected[:max_rows] if isinstance(selected, list) else [] if selected is None else [selected]
        return [CommentRow(JsonReader(value, self._url), None) for value in rows]

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:
        """Returns the strings as URLs, or the URLs of images or videos in the HTML for `html`."""
        values = scalars(self._select(rule, _ADDRESSES))
        addresses: Iterable[Any] = values
        if rule.html:
            addresses = islice((source for tree in _fragments(values) for source in _sources(tree, tags)), MAX_VALUES)
        return absolute(_cut_addresses(map(str, addresses), rule), self._url)

    def _select(self, rule: Rule, instead: tuple[str, ...]) -> Any:  # noqa: ARG002 -- objects are no values in JSON
        return rule.select.search(self._value)


class DeclarationReader(JsonReader):
    """Reads what an HTML page declares for programs. By schema.org, an object may stand where a text does."""

    def _select(self, rule: Rule, instead: tuple[str, ...]) -> Any:
        """Returns what a rule selects, with the first of some of its values in place of each object."""
        return [
            next((value[name] for name in instead if value.get(name)), None) if isinstance(value, dict) else value
            for value in super()._select(rule, instead)[:MAX_VALUES]
        ]


class TextReader:
    """Reads a page of plain text."""

    def __init__(self, value: str, url: str) -> None:
        self._value, self._url = value, url

    @property
    def language(self) -> str:
        """None: plain text has no place for it."""
        return ""

    def texts(self, rule: Rule, *, date: bool = False) -> list[Scalar]:  # noqa: ARG002 -- there are no attributes
        """Returns what the rule's regular expression matches."""
        parts = rule.select.search(self._value)
        return cut(parts if _takes_more(rule) else parts[:1], rule)

    def rows(self, each: Selector, max_rows: int) -> list[CommentRow]:  # noqa: ARG002 -- a site file can't ask for it
        """Returns none: plain text has no rows."""
        return []

    def urls(self, rule: Rule, tags: str) -> tuple[str, ...]:  # noqa: ARG002 -- there are no elements
        """Returns the matches as URLs."""
        return absolute(_cut_addresses(rule.select.search(self._value)[:MAX_VALUES], rule), self._url)


def cut(values: Iterable[Scalar], rule: Rule) -> list[Scalar]:
    """Returns what a rule keeps of values: what its `pattern` finds in each, and the first or, for `all`, all of them.

    The pattern sees clean text, on one line unless whitespace is kept.
    """
    if rule.pattern is not None:
        form = text.verbatim if rule.keep_whitespace else text.line
        values = (part for value in values for part in islice(rule.pattern.parts(form(str(value)), 1), 1))
    return list(islice(values, MAX_VALUES if rule.all else 1))


def _takes_more(rule: Rule) -> bool:
    """Returns whether more than the first match of a rule's selector is looked at."""
    return rule.all or rule.pattern is not None


def _cut_addresses(addresses: Iterable[str], rule: Rule) -> Iterable[str]:
    pattern = rule.pattern
    return addresses if pattern is None else (part for value in addresses for part in pattern.parts(value, 1))


def _text_of(html_text: HtmlText, top: Any, removed: frozenset[Any], rule: Rule) -> str:
    return html_text.preformatted(top, removed) if rule.keep_whitespace else html_text.of(top, removed)


def matches(match: Any) -> list[Any]:
    """Returns what a selector found as a list: a single value as its one entry, and an empty one or NaN as none."""
    if isinstance(match, list):
        return match
    # Not by `in`: 0.0, such as a count of nothing, equals False.
    nothing = match is None or match is False or match == "" or (isinstance(match, float) and not math.isfinite(match))
    return [] if nothing else [match]


def scalars(selected: Any, *, max_values: int | None = MAX_VALUES) -> list[Scalar]:
    """Returns the strings and numbers that a JSON path found, huge integers as text.

    Args:
        selected: One value or a list of them.
        max_values: How many are returned; None for all.
    """
    values = selected[:max_values] if isinstance(selected, list) else [selected]
    return [
        str(value) if isinstance(value, int) and value.bit_length() >= INTEGER_BITS else value
        for value in values
        if isinstance(value, str | int | float)
    ]


def _as_json(value: Any) -> str | None:
    """Returns a value as JSON text; None for one with more levels than can be written."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return None


def address(match: Any) -> str:
    """Returns the URL in an element or attribute, as written; empty for none."""
    if isinstance(match, turbohtml.Element):
        if match.tag == "img":
            return source_of(match)
        return match.attr("src") or match.attr("href") or match.attr("content") or ""
    return str(match)


def _removed(tree: turbohtml.Document | turbohtml.Element, rule: Rule) -> frozenset[Any]:
    if not rule.remove:
        return _NONE
    selected = (match for selector in rule.remove for match in matches(selector.search(tree)))
    return frozenset(match for match in selected if isinstance(match, turbohtml.Element))


def _fragments(values: list[Any]) -> list[turbohtml.Document]:
    tags = sum(str(value).count("<") for value in values)
    if tags > MAX_TAGS:  # of all values together; those of each are counted as it is parsed
        raise ExtractError(reasons.TOO_MANY_TAGS, f"{tags} in the HTML of a JSON value, at most {MAX_TAGS} are read")
    return [parse_html(f"<div>{value}</div>".encode(errors="replace")) for value in values]


def _sources(tree: turbohtml.Document, tags: str) -> list[str]:
    return [address(element) for element in tree.select(_SOURCES[tags])]


_NONE: frozenset[Any] = frozenset()
_NAMES, _ADDRESSES = ("@value", "name"), ("contentUrl", "url")  # what a declared object is as text, and as URL
_SOURCES = {"images": "img", "videos": "video[src], video > source[src]"}

"""The templates of a site's search: how words become the URL and the body of a request.

A template has named placeholders in braces. All values are percent-encoded in the site's encoding and filled in within
one pass, so nothing in a word can act as a separator or as another placeholder.
"""

from __future__ import annotations

import codecs
import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson

from crawler.base.errors import HeadroomError
from crawler.base.urls import is_script_route

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from crawler.sites.definition import Search

PLACEHOLDERS = frozenset({"base", "query", "per_page", "sort", "since"})  # and that of the site's paging

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


class SiteError(HeadroomError):
    """A site doesn't exist, or can't do what a plan asks of it."""


@dataclass(frozen=True, slots=True)
class SearchTarget:
    """The request for one page of search results.

    Attributes:
        url: Canonical URL.
        method: GET, or POST for a request with a body.
        body: Request body in ASCII or UTF-8; empty for none.
        page: Number of the page, from 1.
    """

    url: str
    method: str = "GET"
    body: str = ""
    page: int = 1


def check_template(template: str, allowed: frozenset[str]) -> str:
    """Returns the template.

    Raises:
        ValueError: The template has another placeholder, or a brace that belongs to none.
    """
    known = ", ".join(f"{{{name}}}" for name in sorted(allowed))
    for name in placeholders(template):
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, 1)
            meant = f" (did you mean {{{near[0]}}}?)" if near else ""
            raise ValueError(f"only the placeholders {known}, not {{{name}}}{meant}")
    if re.search(r"[{}]", _PLACEHOLDER.sub("", template)):
        raise ValueError(f"braces only around a placeholder ({known})")
    return template


def placeholders(template: Any) -> set[str]:
    """Returns the names of the placeholders in a template, or in all the strings of a nested one."""
    if isinstance(template, str):
        return set(_PLACEHOLDER.findall(template))
    if isinstance(template, Mapping):
        return set().union(*map(placeholders, template.values()))
    if isinstance(template, Sequence):
        return set().union(*map(placeholders, template))
    return set()


def query_text(words: Sequence[str], search: Search, site: str) -> str:
    """Returns the words as one query, joined as the site wants.

    Raises:
        SiteError: A word can't be written in the site's encoding.
    """
    for word in words:
        try:
            word.encode(search.encoding)
        except UnicodeEncodeError:
            raise SiteError(f"site {site} searches in {search.encoding}, which can't write {word!r}") from None
    return search.join.join(words)


def since_value(since: date | None, search: Search, zone: ZoneInfo) -> str | int:
    """Returns the start of the day `since` in the site's format; empty for None or a site without such a format."""
    if since is None or not search.since_format:
        return ""
    midnight = datetime.combine(since, time(), zone)
    if search.since_format == "epoch":
        return int(midnight.timestamp())
    return midnight.strftime(search.since_format)


def check_no_script_route(template: str) -> None:
    """Raises ValueError if the URLs that a template makes could only be opened by a browser's script."""
    if has_script_route(template):
        raise ValueError("a URL without #/ and #!: no server gets to see what is behind them")


def has_script_route(template: str) -> bool:
    """Returns whether the URLs that a template makes could only be opened by a browser's script."""
    return is_script_route(template.partition("#")[2])


def fill_url(template: str, values: Mapping[str, str | int], encoding: str = "utf-8") -> str:
    """Fills a URL template: `base` as it is, all other values percent-encoded."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        return str(values[name]) if name == "base" else quote(str(values[name]), safe="", encoding=encoding)

    head, mark, query = template.partition("?")
    pairs = [pair for pair in query.split("&") if not _is_void(pair.partition("=")[2], values)]
    return _PLACEHOLDER.sub(value, head + mark + "&".join(pairs))


def fill_body(search: Search, values: Mapping[str, str | int]) -> str:
    """Returns the request body, or an empty string for a site that searches by GET."""
    if not search.body:
        return ""
    filled = _fill(search.body, values)
    if search.body_type == "json":
        return orjson.dumps(filled).decode()
    return urlencode(filled, encoding=search.encoding)


def check_encoding(name: str) -> str:
    """Returns Python's name of a text encoding; GBK for GB 2312, as in browsers, by which sites are tested.

    Raises:
        ValueError: There is no such encoding, or it isn't one for text.
    """
    try:
        codec = codecs.lookup(name)
        "a".encode(codec.name)
    except LookupError:
        raise ValueError("an encoding such as utf-8, gbk or big5") from None
    return "gbk" if codec.name == "gb2312" else codec.name


def _fill(template: Any, values: Mapping[str, str | int]) -> Any:
    """Fills the template of a body. A string that is just a placeholder becomes the value in its own type."""
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        return values[whole[1]] if whole else _PLACEHOLDER.sub(lambda match: str(values[match[1]]), template)
    if isinstance(template, Mapping):
        return {key: _fill(value, values) for key, value in template.items() if not _is_void(value, values)}
    if isinstance(template, Sequence):
        return [_fill(value, values) for value in template]
    return template


def _is_void(template: Any, values: Mapping[str, str | int]) -> bool:
    """Returns whether a parameter is nothing but a placeholder without a value: it is left out."""
    whole = _PLACEHOLDER.fullmatch(template) if isinstance(template, str) else None
    return whole is not None and values[whole[1]] == ""

"""The list of results in the JSON that a page loads while a browser renders it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from crawler.base import page_json
from crawler.base.errors import UrlError
from crawler.base.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawler.base.models import JsonAnswer
    from crawler.discovery.pages.page import ParsedPage

MAX_DEPTH = 6  # of values in each other that are looked at
MAX_ANSWERS = 20  # of one page; heavy applications load some ten before they have something to show
MAX_LISTS = 10  # of results, of which the first that leads to pages is taken
MAX_ROWS = 200  # of a list
MAX_NAMES = 50  # of a row
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ADDRESS = re.compile(r"(?:https?:/)?/\S*")
# In the order of preference, as the last part of a path, without marks between words.
_TITLES = ("title", "subject", "headline", "name", "caption")


@dataclass(frozen=True, slots=True)
class LoadedResults:
    """A list of results in one answer.

    Attributes:
        answer: That has it.
        links: Selects what leads to them, with `json:`.
        link: The template of an address, with {value}; empty: `links` selects addresses.
        urls: To which they lead.
        titles: What the answer calls each of them; empty where it doesn't say.
    """

    answer: JsonAnswer
    links: str
    link: str
    urls: tuple[str, ...]
    titles: tuple[str, ...]


_Row = dict[str, str | int]  # the texts and numbers of an entry of a list, by their paths in it


def results(answers: Sequence[JsonAnswer], page: ParsedPage, word: str) -> LoadedResults | None:
    """Returns the list of results that a page has loaded; None if there is none that leads to pages.

    Args:
        answers: What it loaded.
        page: As its scripts have left it; its links show what becomes of ids.
        word: That was searched for: most results have it.
    """
    folded = word.casefold()
    having: list[tuple[int, JsonAnswer, str, list[_Row]]] = []
    for answer in answers[:MAX_ANSWERS]:
        for path, rows in _lists(_value(answer), "", MAX_DEPTH):
            number = sum(any(folded in str(one).casefold() for one in row.values()) for row in rows)
            if 2 * number >= len(rows):
                having.append((number, answer, path, rows))
    having.sort(key=lambda one: -one[0])
    found = (_leading(answer, path, rows, page) for _, answer, path, rows in having[:MAX_LISTS])
    return next(filter(None, found), None)


def pattern_of(url: str) -> str:
    """Returns the regular expression that finds answers by the path of their address.

    A person reads it: what means nothing to RE2 has no backslash.
    """
    return re.sub(r"([\\.+*?()\[\]{}|^$])", r"\\\1", urlsplit(url).path)


def _leading(answer: JsonAnswer, path: str, rows: Sequence[_Row], page: ParsedPage) -> LoadedResults | None:
    """Returns the results of a list, by a value of its rows that leads to a page; None if none does."""
    shown = page.urls
    addresses: list[tuple[int, str, str, list[str]]] = []
    for name in list(rows[0])[:MAX_NAMES]:
        values = [str(row.get(name, "")) for row in rows]
        if not all(values) or len(set(values)) < len(values):
            continue
        if all(_ADDRESS.fullmatch(one) for one in values):
            urls = [_absolute(one, page.base) for one in values]
            addresses.append((sum(url in shown for url in urls), name, "", urls))
        elif template := _template(values, page):
            urls = [template.replace("{value}", one) for one in values]
            addresses.append((sum(url in shown for url in urls), name, template, urls))
    if not addresses:
        return None
    _, name, template, urls = max(addresses, key=lambda one: (one[0], not one[2]))
    titles = [_named(row, _TITLES) for row in rows]
    return LoadedResults(answer, f"json:{path}[].{name}", template, tuple(urls), tuple(titles))


def _template(values: Sequence[str], page: ParsedPage) -> str:
    """Returns the template of the addresses of links on a page in which ids stand; empty: not all of them do."""
    urls = [anchor.url for anchor in page.anchors if "{" not in anchor.url]
    made = dict.fromkeys(template for url in urls for template in _with_value(url, values[0], "{value}"))
    fitting = [one for one in made if all(one.replace("{value}", value) in page.urls for value in values)]
    return min(fitting, key=len, default="")


def _lists(value: Any, path: str, depth: int) -> Iterator[tuple[str, list[_Row]]]:
    """Yields the lists of objects in a value, with their paths; none within an entry of a list."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        yield path, [_scalars(one) for one in value[:MAX_ROWS]]
    elif isinstance(value, dict) and depth:
        for name, entry in value.items():
            yield from _lists(entry, _joined(path, name), depth - 1)


def _scalars(row: Mapping[str, Any], path: str = "", depth: int = 3) -> _Row:
    found: _Row = {}
    for name, value in row.items():
        at = _joined(path, name)
        if isinstance(value, dict) and depth:
            found |= _scalars(value, at, depth - 1)
        elif isinstance(value, str | int) and not isinstance(value, bool):
            found[at] = value
    return found


def _with_value(url: str, value: str, placeholder: str) -> list[str]:
    """Returns the templates of an address with a placeholder in the place of a value: one for each that it has there.

    Only where it stands as a whole counts, behind the host.
    """
    start = url.find("/", url.find("//") + 2)
    form = re.compile(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])")
    return [url[: one.start()] + placeholder + url[one.end() :] for one in form.finditer(url, max(start, 0))]


def _named(values: Mapping[str, str | int], names: Sequence[str]) -> str:
    named = {_plain(path): str(value) for path, value in values.items()}
    return next((named[name] for name in names if name in named), "")


def _plain(path: str) -> str:
    return re.sub(r"[^a-z]", "", path.rpartition(".")[2].lower())


def _joined(path: str, name: str) -> str:
    written = name if _PLAIN_NAME.fullmatch(name) else json.dumps(name)
    return f"{path}.{written}" if path else written


def _absolute(link: str, base: str) -> str:
    try:
        return canonical(link, base)
    except UrlError:
        return ""


def _value(answer: JsonAnswer) -> Any:
    try:
        return page_json.loads(answer.body)
    except orjson.JSONDecodeError:
        return None

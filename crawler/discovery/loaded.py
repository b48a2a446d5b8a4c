"""What the JSON holds that a page loads while a browser renders it: a list of results, or the fields of an item."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from crawler.base import page_json
from crawler.base.errors import UrlError
from crawler.base.urls import canonical, origin_as_written
from crawler.discovery.page import width
from crawler.discovery.rules import as_pattern
from crawler.extract.dates import to_utc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from zoneinfo import ZoneInfo

    from crawler.base.models import JsonAnswer
    from crawler.discovery.page import ParsedPage

MAX_DEPTH = 6  # of values in each other that are looked at
MAX_ANSWERS = 20  # of one page; heavy applications load some ten before they have something to show
MAX_PAIRED = 5  # of these are compared with as many of another page
MAX_VALUES = 5_000  # of one answer; a record of a forum with its posts has some hundred
MAX_LISTS = 10  # of results, of which the first that leads to pages is taken
MAX_ROWS = 200  # of a list
MAX_NAMES = 50  # of a row
MAX_LINE_WIDTH = 300  # of a title; a longer text is none
MAX_NAME_WIDTH = 80  # of an author's name
MIN_TEXT_WIDTH = 60  # of what counts as the text of a page
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MARKUP = re.compile(r"<[a-z][a-z0-9]*[ >/]", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?:/)?/\S*")
# In the order of preference, as the last part of a path, without marks between words.
_TITLES = ("title", "subject", "headline", "name", "caption")
_AUTHORS = ("author", "authorname", "username", "nickname", "user", "poster", "creator", "by", "name", "login")
_NEXT = ("next", "nexturl", "nextpage", "nextpageurl", "nextlink")
_DATES = (
    "published",
    "publishedat",
    "created",
    "createdat",
    "createtime",
    "date",
    "datetime",
    "posted",
    "time",
    "ctime",
)


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


class LoadedFields(NamedTuple):
    """Where the fields of an item stand in one answer of each of two pages.

    Attributes:
        answers: One for each page.
        rules: By the names of fields, as a site file has them.
        next_page: Selects the address of an answer that continues one of them; empty: neither says one.
    """

    answers: tuple[JsonAnswer, JsonAnswer]
    rules: dict[str, Any]
    next_page: str = ""


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


def fields(
    pages: tuple[Sequence[JsonAnswer], Sequence[JsonAnswer]], titles: tuple[str, str], zone: ZoneInfo
) -> LoadedFields | None:
    """Returns where the fields of items stand, by what two pages have loaded; None if no answer has their text.

    Args:
        pages: What each loaded.
        titles: What the page of results calls each; empty: it doesn't say.
        zone: Of dates that name none.
    """
    best: tuple[int, LoadedFields] | None = None
    read = [_wordiest(answers[:MAX_ANSWERS]) for answers in pages]
    for first, leaves in read[0]:
        for second, others in read[1]:
            if not _is_alike(first.url, second.url) or first.body == second.body:
                continue
            size, rules = _rules((leaves, others), titles, zone)
            if rules and (best is None or size > best[0]):
                best = size, LoadedFields((first, second), rules, _next_page(leaves | others))
    return best[1] if best else None


def fetched_instead(pages: tuple[str, str], answers: tuple[str, str]) -> dict[str, str] | None:
    """Returns the key `content.fetch` that makes the answers' addresses of those of their pages; None: none does."""
    parts = urlsplit(pages[0]), urlsplit(pages[1])
    first, second = (f"{one.path}?{one.query}" if one.query else one.path for one in parts)
    base = origin_as_written(pages[0])
    for form, name in ((r"\d+", r"\d+"), (r"[^/?&=]+", "[^/?&=]+")):
        ids = list(re.finditer(form, first)), list(re.finditer(form, second))
        for one, other in zip(*ids, strict=False):
            heads = first[: one.start()], second[: other.start()]
            if one[0] == other[0] or heads[0] != heads[1] or "{" in answers[0]:
                continue
            theirs = _with_value(answers[1], other[0], "{id}")
            made = [url for url in _with_value(answers[0], one[0], "{id}") if url in theirs]
            if made:
                pattern = f"{as_pattern(heads[0])}(?P<id>{name})"
                return {"pattern": pattern, "url": made[0].replace(base, "{base}", 1)}
    return None


def is_same_answer(body: bytes, other: bytes) -> bool:
    """Returns whether two bodies are JSON of one shape, as the answers to a request that is made twice."""
    try:
        one, two = page_json.loads(body), page_json.loads(other)
    except orjson.JSONDecodeError:
        return False
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys()
    return isinstance(one, list) and isinstance(two, list) and bool(one) == bool(two)


def pattern_of(urls: Sequence[str]) -> str:
    """Returns the regular expression that finds answers: the part of the paths of their addresses that they share."""
    paths = [urlsplit(url).path.split("/") for url in urls]
    shared = next((at for at, parts in enumerate(zip(*paths, strict=False)) if len(set(parts)) > 1), None)
    return as_pattern("/".join(paths[0] if shared is None else [*paths[0][:shared], ""]))


# -- Lists of results -------------------------------------------------------------------------------------------------


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


# -- Fields of an item ------------------------------------------------------------------------------------------------


def _wordiest(answers: Sequence[JsonAnswer]) -> list[tuple[JsonAnswer, dict[str, list[Any]]]]:
    """Returns those of a page's answers that have the most text, with their texts and numbers."""
    read = [(answer, _leaves(_value(answer))) for answer in answers]
    return sorted(read, key=lambda one: -_text_width(one[1]))[:MAX_PAIRED]


def _text_width(leaves: Mapping[str, list[Any]]) -> int:
    return sum(width(one) for values in leaves.values() for one in values if isinstance(one, str))


def _rules(
    leaves: tuple[dict[str, list[Any]], dict[str, list[Any]]], titles: tuple[str, str], zone: ZoneInfo
) -> tuple[int, dict[str, Any]]:
    """Returns how long the text of two answers is, and the rules of the fields that both have; none without a text."""
    shared = {path: (values, leaves[1][path]) for path, values in leaves[0].items() if path in leaves[1]}
    texts = {
        path: min(sum(width(one) for one in values if isinstance(one, str)) for values in both)
        for path, both in shared.items()
        if both[0] != both[1]
    }
    content = max(texts, key=lambda path: texts[path], default="")
    if not content or texts[content] < MIN_TEXT_WIDTH:
        return 0, {}
    rules: dict[str, Any] = {}
    if title := _title(shared, titles, content):
        rules["title"] = f"json:{title}"
    if author := _first(shared, _AUTHORS, _is_name):
        rules["author"] = f"json:{author}"
    if published := _first(shared, _DATES, lambda one: bool(to_utc(one, zone))):
        rules["published"] = f"json:{published}"
    rule: dict[str, Any] = {"select": f"json:{content}", "required": True}
    if "[]" in content:
        rule["all"] = True
    if any(isinstance(one, str) and _MARKUP.search(one) for values in shared[content] for one in values):
        rule["html"] = True
    return texts[content], rules | {"content": rule}


def _next_page(leaves: Mapping[str, list[Any]]) -> str:
    """Returns the selector of the first address that is named as that of a further page; empty if there is none."""
    for path, values in leaves.items():
        if _plain(path) in _NEXT and "[]" not in path and isinstance(values[0], str) and _ADDRESS.fullmatch(values[0]):
            return f"json:{path}"
    return ""


def _title(shared: Mapping[str, tuple[list[Any], list[Any]]], titles: tuple[str, str], content: str) -> str:
    """Returns the path of what the page of results calls the pages, or else of what is named as titles are."""
    for path, both in shared.items():
        if all(title and one[0] == title for one, title in zip(both, titles, strict=True)):
            return path
    others = {path: both for path, both in shared.items() if path != content and both[0] != both[1]}
    return _first(others, _TITLES, lambda one: isinstance(one, str) and 0 < width(one) <= MAX_LINE_WIDTH)


def _first(shared: Mapping[str, tuple[list[Any], list[Any]]], names: Sequence[str], is_one: Any) -> str:
    """Returns the path of a value by its name: the shallowest, of these the one whose name tells most."""
    found = [
        (path.count(".") + path.count("["), names.index(name), path)
        for path, both in shared.items()
        if (name := _plain(path)) in names and all(is_one(values[0]) for values in both)
    ]
    return min(found)[2] if found else ""


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < width(value) <= MAX_NAME_WIDTH and not _ADDRESS.fullmatch(value)


def _named(values: Mapping[str, str | int], names: Sequence[str]) -> str:
    named = {_plain(path): str(value) for path, value in values.items()}
    return next((named[name] for name in names if name in named), "")


def _plain(path: str) -> str:
    return re.sub(r"[^a-z]", "", path.rpartition(".")[2].lower())


def _leaves(value: Any) -> dict[str, list[Any]]:
    """Returns the texts and numbers of a value, by their paths."""
    found: dict[str, list[Any]] = {}
    waiting: list[tuple[str, Any, int]] = [("", value, MAX_DEPTH)]
    for _ in range(MAX_VALUES):
        if not waiting:
            break
        path, one, depth = waiting.pop()
        if isinstance(one, dict) and depth:
            waiting += [(_joined(path, name), entry, depth - 1) for name, entry in reversed(one.items())]
        elif isinstance(one, list) and depth:
            waiting += [(f"{path}[]", entry, depth - 1) for entry in reversed(one)]
        elif isinstance(one, str | int | float) and not isinstance(one, bool) and path and one != "":
            found.setdefault(path, []).append(one)
    return found


# -- Addresses and paths ----------------------------------------------------------------------------------------------


def _is_alike(first: str, second: str) -> bool:
    """Returns whether two addresses differ in parts of their path and query alone, as those of two records do."""
    one, other = urlsplit(first), urlsplit(second)
    return (
        one.netloc == other.netloc
        and one.path.count("/") == other.path.count("/")
        and bool(
            any(a == b for a, b in zip(one.path.split("/")[1:], other.path.split("/")[1:], strict=True))
            or one.path.count("/") == 1
        )
    )


def _with_value(url: str, value: str, placeholder: str) -> list[str]:
    """Returns the templates of an address with a placeholder in the place of a value: one for each that it has there.

    Only where it stands as a whole counts, behind the host.
    """
    start = url.find("/", url.find("//") + 2)
    form = re.compile(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])")
    return [url[: one.start()] + placeholder + url[one.end() :] for one in form.finditer(url, max(start, 0))]


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

"""Tells how further pages of results are asked for: from the links of a page, or what its address and forms count."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.base.urls import origin_as_written
from crawler.discovery.results import next_links
from crawler.discovery.search.search_template import (
    NAMED,
    SearchTemplate,
    escaped,
    literal,
    of_url,
    with_parameter,
    without_parameter,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.discovery.pages.page import Anchor, ParsedPage

MAX_NUMBER = 1_000  # that a parameter of the second or a near page has; a larger one is an id
_DIGITS = re.compile(r"\d{1,4}")
_PAGE_NAMES = re.compile(r"p|pg|pn|page|page_?(no|num|number|index)|current(_?page)?", re.IGNORECASE)
_OFFSET_NAMES = re.compile(r"offset|start|from|skip", re.IGNORECASE)
# A number in the path of a template: with its name before it (`page:2`, `page/2`), or right behind the words.
_IN_PATH = re.compile(r"(?<=/)(?:([\w-]+)[:=/]|\{query\}/)(\d{1,4})(?=/|$)")
MAX_GUESSES = 2  # each costs a request
MAX_HIDDEN = 100  # fields of a page; more aren't looked at
_SIZE = re.compile(
    r"size|limit|per_?page|count|rows|length|max", re.IGNORECASE
)  # in names of what says how many results a page has


@dataclass(frozen=True, slots=True)
class Pages:
    """How further pages are asked for.

    Attributes:
        template: The search with its paging, and a place for it.
        next: Selects the link to the next page, where only that tells; empty: it isn't needed.
    """

    template: SearchTemplate
    next: str = ""


@dataclass(frozen=True, slots=True)
class _Step:
    """A link to another page of the results.

    Attributes:
        name: Of the parameter that counts; empty: a segment of the path does.
        value: The number that its address has there.
        own: The number that the page's own address has there; None: it has none.
        number: What its text counts.
        url: Its address.
    """

    name: str
    value: int
    own: int | None
    number: int | None
    url: str


def pages(page: ParsedPage, template: SearchTemplate, word: str, results: int) -> Pages | None:
    """Returns how further pages of results are asked for; None if no link leads to one.

    Args:
        page: The first page of results.
        template: Of the search, without paging.
        word: That was searched for; empty: the page is a list of pages, no answer to a search.
        results: How many results the page has.
    """
    following = next(iter(next_links.next_links(page)), None)
    by_number = _by_number(page, template, word, results, following)
    if by_number:
        return Pages(by_number)
    if following is None:
        return None
    selector = next_links.selector_of(page, following)
    return Pages(replace(template, paging={"kind": "link"}), selector) if selector else None


def by_address(page: ParsedPage, template: SearchTemplate, word: str) -> SearchTemplate | None:
    """Returns the search of which links to further pages say by their address that it is asked for by GET, too.

    Args:
        page: The first page of results.
        template: Of the search by POST that gave it.
        word: That was searched for.

    Returns:
        The search for its first page, without paging; None if no such link says the word.
    """
    step = _second(_steps(page, word, template.encoding), next(iter(next_links.next_links(page)), None))
    made = of_url(step.url, word, template.encoding) if step and step.name else None
    if not step or not made:
        return None
    found = f"links to further pages, as {step.url}"
    return SearchTemplate(without_parameter(made, step.name), encoding=template.encoding, found=found)


def guesses(page: ParsedPage, template: SearchTemplate, results: int) -> list[SearchTemplate]:
    """Returns searches with a paging that no link shows, to be tried: by the names of what may count.

    That is a number in the search's own address or body, or a hidden field of its page of results, which a script sets.

    Args:
        page: A page of results.
        template: Of the search, without paging.
        results: How many results the page has.
    """
    head, mark, query = template.url.partition("?")
    found = []
    for match in () if template.body else _IN_PATH.finditer(head):
        if paging := counting(match[1] or "page", match[2], results):
            made = f"{head[: match.start(2)]}{{{paging['kind']}}}{head[match.end(2) :]}{mark}{query}"
            found.append(replace(template, url=made, paging=paging))
    hidden = page.tree.select("form input[type=hidden][name][value]")[:MAX_HIDDEN]
    for name, value in [*template.pairs(), *((one.attr("name") or "", one.attr("value") or "") for one in hidden)]:
        if paging := counting(name, value, results):
            place = f"{{{paging['kind']}}}"
            if template.body:
                found.append(replace(template, body=template.body | {name: place}, paging=paging))
            else:
                made = with_parameter(template.url, escaped(name, template.encoding), place)
                found.append(replace(template, url=made, paging=paging))
    return [one for at, one in enumerate(found) if one not in found[:at]][:MAX_GUESSES]


def counting(name: str, value: str, results: int) -> dict[str, Any]:
    """Returns the paging in which a value counts pages or results, by its name; empty: it counts neither.

    Args:
        name: Of a parameter or the like.
        value: What it is on a page of results. Where that isn't the first one's, only a name that says `page` will do:
            `p=5` may be a project's, and `from=2020` a year's.
        results: How many results the page has.
    """
    is_first = value in ("0", "1")
    if _PAGE_NAMES.fullmatch(name) and (is_first or ("page" in name.lower() and _DIGITS.fullmatch(value))):
        return {"kind": "page"} | ({"first": 0} if value == "0" else {})
    if _OFFSET_NAMES.fullmatch(name) and is_first:
        return {"kind": "offset", "step": results} | ({"first": 1} if value == "1" else {})
    return {}


def _by_number(
    page: ParsedPage, template: SearchTemplate, word: str, results: int, following: Anchor | None
) -> SearchTemplate | None:
    """Returns the template with a number for the page, if a link to another page differs in one from this one's."""
    if template.body:
        return None
    second = _second(_steps(page, word, template.encoding), following)
    if second is None:
        return None
    paging = _kind(second, results)
    kind = paging["kind"]
    if second.name:
        return replace(template, url=with_parameter(template.url, second.name, f"{{{kind}}}"), paging=paging)
    made = of_url(second.url, word, template.encoding) if word else literal(second.url)
    place = re.compile(rf"(?<=[/_=:-]){second.value}(?=[/._?-]|$)")
    at = place.search(made, len(origin_as_written(made))) if made else None  # a host may have that number, too
    if made is None or at is None:
        return None
    return replace(template, url=f"{made[: at.start()]}{{{kind}}}{made[at.end() :]}", paging=paging)


def _steps(page: ParsedPage, word: str, encoding: str) -> list[_Step]:
    return [step for anchor in page.anchors if (step := _step(anchor, page, word, encoding))]


def _second(steps: Sequence[_Step], following: Anchor | None) -> _Step | None:
    """Returns the link to the page after the first, which says so by its number or by its words."""
    for step in steps:
        if step.number == 2:  # noqa: PLR2004 -- the page after the first
            return step
    return next((one for one in steps if following is not None and one.url == following.url), None)


def _kind(second: _Step, results: int) -> dict[str, Any]:
    """Returns the paging in which the second page, or the one behind the page, has a number."""
    value, own = second.value, second.own
    if own is not None and own < value and second.number != 2:  # noqa: PLR2004 -- the page may be any, not the first
        step = value - own
        if step == 1:
            return {"kind": "page"} if own else {"kind": "page", "first": 0}
        return {"kind": "offset", "step": step} | ({"first": own % step} if own % step else {})
    if value == 2:  # noqa: PLR2004 -- as pages are counted
        return {"kind": "page"}
    if value == 1:
        return {"kind": "page", "first": 0}
    if value == results + 1:
        return {"kind": "offset", "first": 1, "step": results}
    return {"kind": "offset", "step": value}


def _step(anchor: Anchor, page: ParsedPage, word: str, encoding: str) -> _Step | None:
    """Returns what a link to another page of the results counts; None if it is none."""
    there, here = urlsplit(anchor.url), urlsplit(page.url)
    if there.netloc != here.netloc or (word and not of_url(anchor.url, word, encoding)):
        return None
    counted = anchor.text.strip("[]() .")  # some write [2]
    number = int(counted) if _DIGITS.fullmatch(counted) else None
    if there.path == here.path:
        ours = dict(pair.partition("=")[::2] for pair in here.query.split("&"))
        theirs = dict(pair.partition("=")[::2] for pair in there.query.split("&"))
        changed = [
            (name, int(value))
            for name, value in theirs.items()
            if _DIGITS.fullmatch(value) and value != ours.get(name) and 0 < int(value) <= MAX_NUMBER
        ]
        if number is not None and len(changed) > 1:
            changed = [one for one in changed if one[1] in (number, number - 1)] or changed
        if len(changed) > 1:  # the second page may begin with the number that a page's size is, too
            changed = [one for one in changed if not _SIZE.search(one[0])] or changed
        # A parameter that all links carry, such as the size of a page, says nothing of the page.
        changed = changed[-1:] if len(changed) == 1 or next_links.says_next(anchor) or number is not None else []
        if not changed:
            return None
        name, value = changed[0]
        before = ours.get(name, "")
        return _Step(name, value, int(before) if _DIGITS.fullmatch(before) else None, number, anchor.url)
    digits, owned = _numbers(there.path, here.path), _numbers(here.path, there.path)
    own = owned[0] if len(owned) == 1 else None
    return _Step("", digits[0], own, number, anchor.url) if len(digits) == 1 and digits[0] <= MAX_NUMBER else None


def _numbers(path: str, other: str) -> list[int]:
    """Returns the numbers of a path that another one hasn't got, each of which is a segment, perhaps with a name."""
    values = [NAMED.sub("", part) for part in path.split("/") if part not in other.split("/")]
    return [int(value) for value in values if _DIGITS.fullmatch(value)]

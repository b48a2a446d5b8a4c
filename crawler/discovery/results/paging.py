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
    literal,
    of_url,
    with_parameter,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.pages.page import Anchor, ParsedPage

MAX_NUMBER = 1_000  # a parameter of a near page that is larger is an id
_DIGITS = re.compile(r"\d{1,4}")
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


def with_pages(
    inquiry: Inquiry, page: ParsedPage, template: SearchTemplate, results: int, lacking: str
) -> tuple[SearchTemplate, dict[str, str]]:
    """Returns a search with its paging, and the key `results.next` if that needs it.

    Args:
        inquiry: Has the word that was searched for.
        page: The first page of results.
        template: Of the search.
        results: How many results the page has.
        lacking: What is noted where no link leads to a further page.
    """
    if template.paging:
        return template, {}
    if further := pages(page, template, inquiry.word, results):
        return further.template, {"next": further.next} if further.next else {}
    inquiry.notes.miss("search.paging", lacking)
    return template, {}


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


def _by_number(
    page: ParsedPage, template: SearchTemplate, word: str, results: int, following: Anchor | None
) -> SearchTemplate | None:
    """Returns the template with a number for the page, if a link to another page differs in one from this one's."""
    if template.body:
        return None
    second = _second(_steps(page, word, template.encoding), following)
    if second is None or (not word and second.value - (second.own or 0) > results + 1):
        return None  # a number that leaves out results of the list is the id of one, or a time
    paging = _kind(second, results)
    kind = paging["kind"]
    if second.name:
        return replace(template, url=with_parameter(template.url, second.name, f"{{{kind}}}"), paging=paging)
    url = of_url(second.url, word, template.encoding) if word else literal(second.url)
    place = re.compile(rf"(?<=[/_=:-]){second.value}(?=[/._?-]|$)")
    # A host may have that number, too.
    at = place.search(url, len(origin_as_written(url))) if url else None
    if url is None or at is None:
        return None
    return replace(template, url=f"{url[: at.start()]}{{{kind}}}{url[at.end() :]}", paging=paging)


def _steps(page: ParsedPage, word: str, encoding: str) -> list[_Step]:
    return [step for anchor in page.anchors if (step := _step(anchor, page, word, encoding))]


def _second(steps: Sequence[_Step], following: Anchor | None) -> _Step | None:
    """Returns the link to the page after the first, which says so by its number or by its words."""
    for step in steps:
        if step.number == 2:  # noqa: PLR2004 -- the page after the first
            return step
    return next((step for step in steps if following is not None and step.url == following.url), None)


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
            changed = [pair for pair in changed if pair[1] in (number, number - 1)] or changed
        if len(changed) > 1:  # the second page may begin with the number that a page's size is, too
            changed = [pair for pair in changed if not _SIZE.search(pair[0])] or changed
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

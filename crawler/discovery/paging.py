"""Tells from the links of a page of results how further pages are asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.discovery import selectors
from crawler.discovery.template import SearchTemplate, literal, of_url, with_parameter, without_parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.discovery.page import Anchor, ParsedPage

MAX_NUMBER = 1_000  # that a parameter of the second or a near page has; a larger one is an id
NEXT = re.compile(
    r"(?:next|older|more|下一?[页頁]|下頁|后一?页|次へ|次の|다음|weiter|suivante?|siguiente).{0,12}|[>\u00bb\u203a\u2192]{1,2}",
    re.IGNORECASE,
)
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


@dataclass(frozen=True, slots=True)
class _Step:
    """A link to another page of the results: what its text counts, and the number that its address has for it."""

    name: str
    value: int
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
    following = _next_link(page)
    by_number = _by_number(page, template, word, results, following)
    if by_number:
        return Pages(by_number)
    if following is None:
        return None
    selector = _selector(page, following)
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
    step = _second(_steps(page, word, template.encoding), _next_link(page))
    made = of_url(step.url, word, template.encoding) if step and step.name else None
    if not step or not made:
        return None
    found = f"links to further pages, as {step.url}"
    return SearchTemplate(without_parameter(made, step.name), encoding=template.encoding, found=found)


def _selector(page: ParsedPage, following: Anchor) -> str:
    """Returns the selector of the link to the next page: by its name, or else by its text; empty if there is none."""
    found = selectors.first_of([(page.tree, following.element)])
    if found and "next" in found.css:
        return f"css:{found.css}"
    if following.text and not {"'", '"'} & set(following.text):
        return f"xpath://a[normalize-space()='{following.text}']"
    return f"css:{found.css}" if found else ""


def _next_link(page: ParsedPage) -> Anchor | None:
    host = urlsplit(page.url).netloc
    own = [anchor for anchor in page.anchors if urlsplit(anchor.url).netloc == host]
    marked = [anchor for anchor in own if "next" in (anchor.element.attr("rel") or "").lower().split()]
    said = [anchor for anchor in own if NEXT.fullmatch(anchor.text)]
    classed = [anchor for anchor in own if "next" in (anchor.element.attr("class") or "").lower().split()]
    return next(iter([*marked, *said, *classed]), None)


def _by_number(
    page: ParsedPage, template: SearchTemplate, word: str, results: int, following: Anchor | None
) -> SearchTemplate | None:
    """Returns the template with a number for the page, if a link to another page differs in one from this one's."""
    if template.body:
        return None
    second = _second(_steps(page, word, template.encoding), following)
    if second is None:
        return None
    paging = _kind(second.value, results)
    kind = paging["kind"]
    if second.name:
        return replace(template, url=with_parameter(template.url, second.name, f"{{{kind}}}"), paging=paging)
    made = of_url(second.url, word, template.encoding) if word else literal(second.url)
    place = re.compile(rf"(?<=[/_=-]){second.value}(?=[/._?-]|$)")
    if made is None or not place.search(made):
        return None
    return replace(template, url=place.sub(f"{{{kind}}}", made, count=1), paging=paging)


def _steps(page: ParsedPage, word: str, encoding: str) -> list[_Step]:
    return [step for anchor in page.anchors if (step := _step(anchor, page, word, encoding))]


def _second(steps: Sequence[_Step], following: Anchor | None) -> _Step | None:
    """Returns the link to the page after the first, which says so by its number or by its words."""
    for step in steps:
        if step.number == 2:  # noqa: PLR2004 -- the page after the first
            return step
    return next((one for one in steps if following is not None and one.url == following.url), None)


def _kind(second: int, results: int) -> dict[str, Any]:
    """Returns the paging in which the second page has a number."""
    if second == 2:  # noqa: PLR2004 -- as pages are counted
        return {"kind": "page"}
    if second == 1:
        return {"kind": "page", "first": 0}
    if second == results + 1:
        return {"kind": "offset", "first": 1, "step": results}
    return {"kind": "offset", "step": second}


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
        changed = changed[-1:] if len(changed) == 1 or _is_next(anchor) or number is not None else []
        return _Step(*changed[0], number, anchor.url) if changed else None
    extra = [part for part in there.path.split("/") if part not in here.path.split("/")]
    digits = [int(part) for part in extra if _DIGITS.fullmatch(part)]
    return _Step("", digits[0], number, anchor.url) if len(digits) == 1 and digits[0] <= MAX_NUMBER else None


def _is_next(anchor: Anchor) -> bool:
    return bool(NEXT.fullmatch(anchor.text)) or "next" in (anchor.element.attr("rel") or "").lower().split()

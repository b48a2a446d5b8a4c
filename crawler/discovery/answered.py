"""Finds how a comment says which one it answers: in an attribute, or by a link to that one's own address or number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from turbohtml import Text

from crawler.discovery import selectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawler.discovery.comment_rows import CommentElement
    from crawler.discovery.rules import RuleKeys

USUAL_SHARE = 0.8  # of what is said to be answered, that must be the names of earlier comments, or of the post
SELECTORS_MAX = 12  # of one kind, that are tried
HEAD_CHARACTERS = 200  # of a text that may begin with a comment's number
WORDS_CHARACTERS = 60  # before a link, that may say what it is
_NUMBER_FIRST = r"^\W*(\d+)\b"
_NUMBER_LAST = r"(\d+)\W*$"
_NUMBER_ALONE = r"^\W*(\d+)\W*$"
_FRAGMENT = "#(.+)$"
_says_answers = re.compile(
    r"(?:in[- ]reply[- ]to|(?:replying|replied|responding|answering|answers?) to|parent|回复|回覆|引用)\W*$",
    re.IGNORECASE,
).search
_names_parent = re.compile(r"parent|reply-?to", re.IGNORECASE).search
_names_comment = re.compile(r"(?:^|[-_])(?:id|no|number|comment|post)(?:$|[-_])", re.IGNORECASE).search
Pages = tuple[tuple["CommentElement", ...], ...]


class _Told(NamedTuple):
    """A rule, and what it finds in each row of each page; an empty text where it finds nothing."""

    rule: RuleKeys
    values: list[list[str]]


def rules(pages: Pages, posts: Pages = ()) -> dict[str, RuleKeys]:
    """Returns the rules `id` and `parent` of comments; empty if nothing says which one a comment answers.

    Args:
        pages: The comments of each page, in their order.
        posts: On each page, the post before them, which they may answer; empty: there is none of their kind.
    """
    if posts and (found := rules(tuple((*post, *page) for post, page in zip(posts, pages, strict=True)))):
        return found
    pages = tuple(page for page in pages if page)
    named = [one for one in _names(pages) if all(all(page) and len(set(page)) == len(page) for page in one.values)]
    pairs = [(_matched(parent.values, name.values), name, parent) for parent in _parents(pages) for name in named]
    matched, name, parent = max(pairs, key=lambda pair: pair[0], default=(0, None, None))
    return {"id": name.rule, "parent": parent.rule} if matched and name and parent else {}


def _matched(parents: Sequence[Sequence[str]], names: Sequence[Sequence[str]]) -> int:
    """Returns how many comments name an earlier one; 0 if it is to be doubted that they do."""
    said = matched = to_post = 0
    for page, own in zip(parents, names, strict=True):
        others = [value for value in page if value and value not in own]
        if any(value and value in own[at:] for at, value in enumerate(page)):
            return 0
        said += sum(map(bool, page))
        matched += sum(value in own for value in page if value)
        to_post += len(others) if len(set(others)) == 1 else 0  # what is no comment's name may be the post's
    return matched if matched + to_post >= USUAL_SHARE * said else 0


def _names(pages: Pages) -> Iterator[_Told]:
    """Yields rules of what a comment may be called by."""
    rows = [row for page in pages for row in page]
    for name in _attributes(rows, len(rows)):
        if name == "id" or (_names_comment(name) and not _names_parent(name)):
            yield from _of_attribute(pages, name)
    for css in _usual(rows, lambda one: bool(one.attr("id"))):
        yield from _of_elements(pages, css, "id")
    for css in _usual(rows, lambda one: one.tag == "a" and "#" in (one.attr("href") or "")):
        yield from _of_elements(pages, css, "href")
    for css in _usual(rows, lambda one: bool(re.match(_NUMBER_FIRST, one.text[:HEAD_CHARACTERS].lstrip()))):
        texts = [[row.page.text_of(row.select(css)[0]) for row in page] for page in pages]
        yield _cut(_Told({"select": f"css:{css}"}, texts), _NUMBER_FIRST)


def _parents(pages: Pages) -> Iterator[_Told]:
    """Yields rules of which comment one may answer."""
    rows = [row for page in pages for row in page]
    for name in filter(_names_parent, _attributes(rows, 1)):
        yield from _of_attribute(pages, name)
    links = {row.element: link for row in rows for link in [_link_to_parent(row)] if link is not None}
    first = next((row for row in rows if row.element in links), None)
    if first is None:
        return
    for css in _selectors(first, links[first.element]):
        if all((row.select(css) or [None])[0] == links.get(row.element) for row in rows):
            yield from _of_elements(pages, css, "href")
    for css in _by_address(first, list(links.values())):
        # Among links of one kind, such as that to the comment itself, it is the one whose text is a number.
        numbers = [[_first_number(row.select(css)) for row in page] for page in pages]
        if all(
            bool(number) == (row.element in links)
            for page, found in zip(pages, numbers, strict=True)
            for row, number in zip(page, found, strict=True)
        ):
            yield _Told({"select": f"css:{css}", "pattern": _NUMBER_ALONE}, numbers)


def _link_to_parent(row: CommentElement) -> Any:
    """Returns the link of a row that leads to what it answers, by its names or by the words before it; or None."""
    for one in row.select("a[href]"):
        before = one.previous_sibling
        words = str(before.data)[-WORDS_CHARACTERS:].rstrip() if isinstance(before, Text) else ""
        if _says_answers(words) or any(map(_names_parent, (n for e in row.lineage(one) for n in selectors.classes(e)))):
            return one
    return None


def _first_number(links: Sequence[Any]) -> str:
    return next(filter(None, (_found(_NUMBER_ALONE, one.text) for one in links)), "")


def _by_address(row: CommentElement, links: Sequence[Any]) -> Iterator[str]:
    """Yields selectors of links by a part that the addresses of all of them have, and the names around the first."""
    hrefs = [one.attr("href") or "" for one in links]
    around = [step for step in _selectors(row, links[0]) if step.endswith(" a")]
    for part in re.findall(r"/[A-Za-z][\w-]*/", hrefs[0]):
        if all(part in href for href in hrefs):
            yield from (f"{css}[href*='{part}']" for css in (*around, "a"))


def _attributes(rows: Sequence[CommentElement], least: int) -> list[str]:
    """Returns the names of attributes that so many rows have: `id`, and those that a site makes up."""
    counts: dict[str, int] = {}
    for row in rows:
        for name, value in row.element.attrs.items():
            if value and (name == "id" or re.fullmatch(r"data-[a-z][a-z-]*", name)):
                counts[name] = counts.get(name, 0) + 1
    return [name for name, count in counts.items() if count >= least]


def _of_attribute(pages: Pages, name: str) -> Iterator[_Told]:
    values = [[str(row.element.attr(name) or "").strip() for row in page] for page in pages]
    told = _Told({"select": f"xpath:string(@{name})"}, values)
    yield from (told, _cut(told, _NUMBER_LAST))


def _of_elements(pages: Pages, css: str, attribute: str) -> Iterator[_Told]:
    """Yields rules that take an attribute whole, the place in a page that it names, and the number at its end."""
    values = [
        [str(found[0].attr(attribute) or "").strip() if (found := row.select(css)) else "" for row in page]
        for page in pages
    ]
    told = _Told({"select": f"css:{css}::attr({attribute})"}, values)
    yield from (told, _cut(told, _FRAGMENT), _cut(told, _NUMBER_LAST))


def _cut(told: _Told, pattern: str) -> _Told:
    return _Told({**told.rule, "pattern": pattern}, [[_found(pattern, one) for one in page] for page in told.values])


def _found(pattern: str, value: str) -> str:
    match = re.search(pattern, " ".join(value.split()))
    return match[1] if match else ""


def _usual(rows: Sequence[CommentElement], is_such: Callable[[Any], bool]) -> list[str]:
    """Returns selectors that find such an element first in each row."""
    found = dict.fromkeys(css for one in rows[0].own if is_such(one) for css in _selectors(rows[0], one))
    firsts = ((css, [next(iter(row.select(css)), None) for row in rows]) for css in found)
    return [css for css, first in firsts if all(one is not None and is_such(one) for one in first)][:SELECTORS_MAX]


def _selectors(row: CommentElement, element: Any) -> list[str]:
    """Returns selectors of an element within its row."""
    tag = selectors.tag_of(element)
    own = [step for step in selectors.steps(element) if step != tag]
    outer = [step for one in row.lineage(element)[1:] for step in selectors.steps(one)[:2] if step != one.tag]
    return [*own, *(f"{step} {tag}" for step in outer), tag] if tag else own

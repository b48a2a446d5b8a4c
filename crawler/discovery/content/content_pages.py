"""How content pages are read: as without selectors, but for the fields that a selector was shown to read better.

A site file without `content` leaves all of it to reading without selectors. One with it is proposed where a selector
finds, on each page that was looked at, what two witnesses say: reading without selectors and the page of results, or
the rows of a thread; its other fields are `auto`. Whatever else seems to hold a field is a remark.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crawler.base.errors import HeadroomError
from crawler.base.text import line
from crawler.discovery.content import comment_rows, thread_rules
from crawler.discovery.content.sample import Sample, read_bare, select_where, squeezed
from crawler.discovery.inquiry import FIRST_ERROR, page_of
from crawler.discovery.pages import named_parts
from crawler.discovery.results import next_links
from crawler.sites.content_rules import AUTO_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.pages.page import ParsedPage

SHOWN_CHARACTERS = 30  # a remark shows the beginning of a value
CANDIDATES_MAX = 3  # a remark names at most so many selectors that may hold a field
SAMPLES_MIN = 2  # so many pages at least show what their titles have in common
CUT = (".", "\u2026")  # a title that is cut short ends so
TITLE_CHARACTERS_MIN = 4  # a shorter text may be part of a page's title by chance
MARKUP_CHARACTERS = 200  # an element's text may have so many blanks more than its title, for indentation
AUTO = {**dict.fromkeys(AUTO_FIELDS, "auto"), "comments": "auto"}
_endings = re.compile(r"(?=\s[-|:\u00ab\u00b7\u00bb\u2013\u2014\u2022]\s)(?=(.*)$)").finditer
_numbers = re.compile(r"\d+").sub
HEADINGS = frozenset({"h1", "h2", "h3"})
_LINES = ("title", "author", "published")


async def keys_of(inquiry: Inquiry, samples: Sequence[Sample]) -> dict[str, Any]:
    """Returns the key `content` where it reads better than no selectors do; else nothing, with remarks on why."""
    notes = inquiry.notes
    if not samples:
        notes.miss("content", "no result could be read, so it isn't known what reading without selectors gives")
        return {}
    pages = [sample.page for sample in samples]
    rows = comment_rows.find(pages)
    better = _title(samples) | thread_rules.rules_of(samples, rows)
    if rows and "comments" not in better and not thread_rules.are_read(samples, rows):
        unconfirmed = ", ".join(f"{name} {select}" for name, select in rows.rules.items())
        notes.miss("content", f"comments: they may be what this finds, which wasn't confirmed: {unconfirmed}")
    if "content" not in better and any(map(thread_rules.is_merged, samples)):
        notes.miss("content", "content: the posts of a thread are one text; `comments` has each of them")
    if following := next_links.to_second_pages(pages):
        if await _goes_on(inquiry, following, pages):
            better["next_page"] = following
        else:
            notes.miss("content", f"next_page: only the first page is read; to the second one may lead {following}")
    for name in (*_LINES, "content"):
        if name not in better and (missed := _missed(name, samples)):
            notes.miss("content", missed)
    if not better:
        notes.say("content", "not needed: pages are read without selectors, as shown")
        return {}
    notes.say("content", "auto is as without selectors; what reads otherwise was seen to do so rightly")
    rules = AUTO | better
    return {"content": {name: rules[name] for name in (*AUTO, "next_page") if name in rules}}


async def _goes_on(inquiry: Inquiry, following: str, pages: Sequence[ParsedPage]) -> bool:
    """Returns whether a second page has the title of its first one, and another text."""
    first, url = next((page, url) for page in pages if (url := next_links.first_url(following, page)))
    try:
        second = page_of(await inquiry.visitor.ask(url, "the second page of a result, to see whether it goes on there"))
    except HeadroomError:
        return False
    if second is None or second.fetched.status >= FIRST_ERROR:
        return False
    ours, theirs = read_bare(first.fetched), read_bare(second.fetched)
    return bool(ours and theirs and ours.title == theirs.title and ours.content != theirs.content)


def _title(samples: Sequence[Sample]) -> dict[str, Any]:
    """Returns the rule of the title where what is read without selectors isn't what the page of results calls pages.

    It finds on each page what that calls it, or what both of them have.
    """
    calls = {sample.called for sample in samples if named_parts.is_telling(sample.called)}
    if all(map(_is_called, samples)) or len(calls) < len(samples):
        return {}

    def is_title(sample: Sample, element: Any) -> bool:
        called, title = squeezed(sample.called), squeezed(sample.read.title if sample.read else "")
        if len(element.text) > len(sample.called) + MARKUP_CHARACTERS:
            return False
        written = squeezed(sample.page.text_of(element))
        return len(written) >= TITLE_CHARACTERS_MIN and (written == called or (written in called and written in title))

    first = samples[0].page.tree
    elements = [element for element in first.select("body *") if is_title(samples[0], element)]
    elements.sort(key=lambda element: (-len(squeezed(element.text)), element.tag not in HEADINGS))
    rule = select_where(samples, elements, is_title) or _cut_title(samples)
    return {"title": rule} if rule else {}


def _cut_title(samples: Sequence[Sample]) -> dict[str, str]:
    """Returns the rule of the title that cuts off what is around it in all `<title>`s: a number, the site's name."""
    titles = [line(element.text) for sample in samples if (element := sample.page.tree.select_one("title"))]
    if len(titles) < max(len(samples), SAMPLES_MIN):
        return {}
    ending = next((match[1] for match in _endings(titles[0]) if all(title.endswith(match[1]) for title in titles)), "")
    beginnings = set()
    for title, sample in zip(titles, samples, strict=True):
        head, called = title.removesuffix(ending), line(sample.called)
        if called and head.endswith(called):
            beginnings.add(_numbers(r"\\d+", _escaped(head.removesuffix(called))))
        elif not head or squeezed(head) not in squeezed(called):
            return {}
        else:
            beginnings.add("")
    pattern = f"^{beginnings.pop()}(.+){_escaped(ending)}$"
    return {} if beginnings else {"select": "css:title", "pattern": pattern}


def _escaped(words: str) -> str:
    """Returns words as a regular expression has them, blanks as they are."""
    return re.escape(words).replace("\\ ", " ").replace("\\-", "-")


# -- Remarks on what isn't read ----------------------------------------------------------------------------------------


def _missed(name: str, samples: Sequence[Sample]) -> str:
    """Returns on how many pages a field isn't read, and what might hold it, in words; empty: it is on all of them."""
    without = [sample for sample in samples if sample.read is None or not getattr(sample.read, name)]
    what = "not read without selectors"
    if name == "title" and not without:
        without = [sample for sample in samples if not _is_called(sample)]
        what = "the list calls it otherwise than what is read without selectors"
    if not without:
        return ""
    remark = f"{name}: {what} on {len(without)} of {len(samples)} pages"
    candidates = _candidates(name, without[0])
    return f"{remark}; it may be {' or '.join(candidates)}" if candidates else remark


def _is_called(sample: Sample) -> bool:
    """Returns whether the title that is read is what the page of results calls the page, which may cut it short."""
    ours, theirs = squeezed(sample.read.title if sample.read else ""), squeezed(sample.called)
    return ours == theirs or (theirs.endswith(CUT) and ours.startswith(theirs.rstrip("".join(CUT))))


def _candidates(name: str, sample: Sample) -> list[str]:
    """Returns selectors that may find a field on a page, each with what it finds there."""
    tree = sample.page.tree
    elements: Iterable[Any] = ()
    if name == "author":
        elements = named_parts.authors(tree)
    elif name == "published":
        elements = named_parts.times(tree, sample.page.language)
    elif name == "title" and sample.called:
        elements = (element for element in tree.select("body *") if sample.page.text_of(element) == sample.called)
    texts: dict[str, str] = {}
    for element in elements:
        for css in named_parts.selectors_within(element)[:1]:
            texts.setdefault(f"css:{css}", sample.page.text_of(element)[:SHOWN_CHARACTERS])
    return [f"{select} ({written!r})" for select, written in [*texts.items()][:CANDIDATES_MAX]]

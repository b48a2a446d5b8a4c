"""How content pages are read: without selectors, unless rules read the same on some of them, and comments besides.

A site file without `content` leaves all of it to reading without selectors. One with it replaces that in all fields, so
it is proposed only where its rules were seen to read what is read without it, in each field of each page that was
looked at, and comments or a second page, which only rules can read. Whatever else seems to hold a field is a remark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.base.errors import ExtractError, HeadroomError
from crawler.discovery.content import comment_rows
from crawler.discovery.inquiry import FIRST_ERROR, page_of
from crawler.discovery.pages import named_parts
from crawler.discovery.pages.page import within
from crawler.discovery.results import next_links
from crawler.extract import content as reading
from crawler.extract.document import Document
from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.base.models import Fetched
    from crawler.discovery.content.comment_rows import CommentRows
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.pages.page import ParsedPage
    from crawler.discovery.results.listing import Result
    from crawler.extract.field_kinds import Fields

SAMPLES = 4  # content pages that are looked at
SHOWN_CHARACTERS = 30  # of a value, in a remark
CANDIDATES_MAX = 3  # for one field, in a remark
CONTENTS_TRIED = 3  # elements around a content, and selectors of each
HEAD_CHARACTERS = 40  # of a content, by which the elements around it are found
WORDS_MIN = 12  # characters of a row's text, which tell whether a content has it
MARKUP_CHARACTERS = 200  # blanks of an element, besides its text
BARE = Site.from_definition({"name": "bare"})  # whose pages are read without selectors
_FIELDS = ("title", "author", "published")
_DECLARED = {
    "title": ("meta:og:title",),
    "author": ("jsonld:[author][].name", "meta:author"),
    "published": ("jsonld:datePublished", "meta:article:published_time"),
}


@dataclass(frozen=True)
class Sample:
    """A content page.

    Attributes:
        page: The page.
        called: What the page of results calls it.
        read: What is read of it without selectors; None: nothing.
    """

    page: ParsedPage
    called: str
    read: Fields | None

    @cached_property
    def document(self) -> Document:
        """The page for reading it, parsed once."""
        return Document(self.page.fetched)


async def samples_of(inquiry: Inquiry, results: Sequence[Result], front: ParsedPage) -> list[Sample]:
    """Returns the content pages that are looked at: the first and the last results that can be had."""
    samples: list[Sample] = []
    own = [result for result in results if urlsplit(result.url).hostname == urlsplit(front.url).hostname]
    for result in [*own[:1], *own[:0:-1]][: SAMPLES + 1]:
        if len(samples) == SAMPLES:
            break
        try:
            page = page_of(await inquiry.visitor.ask(result.url, "a result, to see how it is read"))
        except HeadroomError as error:
            inquiry.notes.say("content", f"{result.url}: {error}")
            continue
        if (
            page is not None
            and page.fetched.status < FIRST_ERROR
            and page.url not in {sample.page.url for sample in samples}
        ):
            samples.append(Sample(page, result.title, read_bare(page.fetched)))
    return samples


def read_bare(page: Fetched) -> Fields | None:
    """Returns what is read of a page without selectors; None for nothing."""
    try:
        return reading.fields(page, BARE)
    except ExtractError:
        return None


def keys_of(inquiry: Inquiry, samples: Sequence[Sample]) -> dict[str, Any]:
    """Returns the key `content` where it reads more than no selectors do; else nothing, with remarks on why."""
    if not samples:
        inquiry.notes.miss("content", "no result could be read, so it isn't known what reading without selectors gives")
        return {}
    pages = [sample.page for sample in samples]
    rows = comment_rows.find(pages)
    following = next_links.to_second_pages(pages)
    rules = _confirmed(samples, rows, following) if rows else {}
    if rows and not rules:
        unconfirmed = ", ".join(f"{name} {select}" for name, select in rows.rules.items())
        inquiry.notes.miss("content", f"comments: they may be what this finds, which wasn't confirmed: {unconfirmed}")
    if following and not rules:
        inquiry.notes.miss("content", f"next_page: only the first page is read; to the second one leads {following}")
    for name in (*_FIELDS, "content"):
        if missed := _missed(name, samples):
            inquiry.notes.miss("content", missed)
    if not rules:
        inquiry.notes.say("content", "not needed for the rest, which is read without selectors as shown")
        return {}
    inquiry.notes.say("content", "reads the same as no selectors do on the pages that were looked at, and more")
    return {"content": rules}


# -- Rules that read what is read without selectors ------------------------------------------------------------------


def _confirmed(samples: Sequence[Sample], rows: CommentRows, following: str) -> dict[str, Any]:
    """Returns rules that read on all samples what no selectors read, and comments besides; nothing if there are none.

    Args:
        samples: Content pages.
        rows: What may be comments on them.
        following: Selects the link to a second page of comments; empty: there is none.
    """
    if any(sample.read is None for sample in samples):
        return {}
    rules: dict[str, Any] = {}
    for name in _FIELDS:
        having = [sample for sample in samples if getattr(sample.read, name)]
        select = _select(name, having) if having else ""
        if having and not select:
            return {}
        rules |= {name: select} if select else {}
    further = {"next_page": following} if following else {}
    for content, each in _contents(samples, rows):
        images = _images(samples, content["select"])
        complete = {**rules, "content": content, **images, "comments": {**rows.rules, "each": f"css:{each}"}, **further}
        if _is_confirmed(samples, rows, complete):
            return complete
    return {}


def _select(name: str, having: Sequence[Sample]) -> str:
    """Returns a selector of a field that finds on pages what is read there without selectors; empty for none."""
    first = having[0]
    for element in first.page.tree.select("body *"):
        if _says(first, name, element):
            for css in named_parts.selectors_within(element):
                matches = [(sample, sample.page.tree.select_one(css)) for sample in having]
                if all(match is not None and _says(sample, name, match) for sample, match in matches):
                    return f"css:{css}"
    for select in _DECLARED[name]:
        site = Site.from_definition({"name": "tried", "content": {name: select}})
        read = [
            reading.fields(sample.page.fetched, site, document=sample.document, continues=True) for sample in having
        ]
        if all(
            getattr(fields, name) == getattr(sample.read, name) for fields, sample in zip(read, having, strict=True)
        ):
            return select
    return ""


def _says(sample: Sample, name: str, element: Any) -> bool:
    """Returns whether an element says what is read of a field without selectors."""
    value = getattr(sample.read, name)
    if name == "published":
        return bool(named_parts.time_of(element, sample.page.language) == value)
    is_short: bool = len(element.text) < len(value) + MARKUP_CHARACTERS
    return is_short and sample.page.text_of(element) == value


def _contents(samples: Sequence[Sample], rows: CommentRows) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields rules of the content, each with the selector of the comments that go with it.

    Comments stand below the content, or within it. Of a thread, the first row is the content.
    """
    if all(page and _has(sample, page[0][1]) for sample, page in zip(samples, rows.pages, strict=True)):
        later = f"{rows.each} ~ {rows.each}"
        if all(
            [*sample.page.tree.select(later)] == [row for row, _body in page[1:]]
            for sample, page in zip(samples, rows.pages, strict=True)
        ):
            yield {"select": f"css:{rows.each} {rows.body}", "first_page_only": True, "required": True}, later
    first = samples[0]
    written = _squeezed(first.read.content if first.read else "")
    head = written[:HEAD_CHARACTERS]
    blocks = [block for block in first.page.tree.select("body, body *") if head in _squeezed(block.text)]
    around = [block for block in blocks if not any(within(block, row) for row, _body in rows.pages[0])]
    for element in around[: -CONTENTS_TRIED - 1 : -1]:
        children = [child for child in element.select("*") if child.parent == element]
        foreign = [child for child in children if _squeezed(child.text) not in written]
        for css in named_parts.selectors_within(element)[:CONTENTS_TRIED]:
            removed = [
                f"css:{inner[0]}" for child in foreign if (inner := named_parts.selectors_within(child, element))
            ]
            rule = {"select": f"css:{css}", "required": True}
            for remove in ([], list(dict.fromkeys(removed))):
                yield rule | {"remove": [*remove, f"css:{rows.each}"]}, rows.each


def _has(sample: Sample, body: Any) -> bool:
    """Returns whether what is read of a page without selectors has the text of a row."""
    written = _squeezed(body.text)
    return len(written) >= WORDS_MIN and sample.read is not None and written in _squeezed(sample.read.content)


def _images(samples: Sequence[Sample], select: str) -> dict[str, str]:
    has_images = any(sample.read and sample.read.images for sample in samples)
    return {"images": f"{select} img"} if has_images else {}


def _is_confirmed(samples: Sequence[Sample], rows: CommentRows, rules: dict[str, Any]) -> bool:
    """Returns whether rules read each sample as no selectors do, but for comments, which aren't in the content."""
    site = Site.from_definition({"name": "tried", "content": rules})
    for sample, own_rows in zip(samples, rows.pages, strict=True):
        try:
            read = reading.fields(sample.page.fetched, site, document=sample.document)
        except ExtractError:
            return False
        bare = sample.read
        if bare is None or any(getattr(read, name) != getattr(bare, name) for name in _FIELDS):
            return False
        if not set(bare.images) <= set(read.images) or not all(comment.text for comment in read.comments):
            return False
        ours, theirs = _squeezed(read.content), _squeezed(bare.content)
        elsewhere = [_squeezed(row.text) for row, _body in own_rows]
        names = [_squeezed(named_parts.name_of(author)) for author in named_parts.authors(sample.page.tree)]
        lines = [_squeezed(line) for line in bare.content.splitlines()]
        left_out = [line for line in lines if line not in ours and not any(line in text for text in elsewhere)]
        # A line that says whose the text is, is no part of it.
        are_bylines = all(
            len(line) <= named_parts.TIME_CHARACTERS_MAX and any(name in line for name in names) for line in left_out
        )
        if not ours or ours not in theirs or not are_bylines:
            return False
    return True


def _squeezed(written: str) -> str:
    return re.sub(r"\s+", "", written)


# -- Remarks on what isn't read ----------------------------------------------------------------------------------------


def _missed(name: str, samples: Sequence[Sample]) -> str:
    """Returns on how many pages a field isn't read, and what might hold it, in words; empty: it is on all of them."""
    without = [sample for sample in samples if sample.read is None or not getattr(sample.read, name)]
    what = "not read without selectors"
    if name == "title" and not without:
        without = [sample for sample in samples if sample.read and not _is_called(sample, sample.read.title)]
        what = "the list calls it otherwise than what is read without selectors"
    if not without:
        return ""
    remark = f"{name}: {what} on {len(without)} of {len(samples)} pages"
    candidates = _candidates(name, without[0])
    return f"{remark}; it may be {' or '.join(candidates)}" if candidates else remark


def _is_called(sample: Sample, title: str) -> bool:
    """Returns whether a title is what the page of results calls the page, or a part of that."""
    ours, theirs = _squeezed(title).casefold(), _squeezed(sample.called).casefold().rstrip(".\u2026")
    return ours in theirs or theirs in ours


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

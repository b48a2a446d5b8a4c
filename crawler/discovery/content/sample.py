"""Content pages that are looked at, each with what is read of it without selectors; and selectors that agree on all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler import extract
from crawler.base.errors import ExtractError, HeadroomError
from crawler.discovery.inquiry import FIRST_ERROR, page_of
from crawler.discovery.pages import named_parts
from crawler.extract.document import Document
from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawler.base.models import Fetched
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.pages.page import ParsedPage
    from crawler.discovery.results.listing import Result
    from crawler.extract.field_kinds import Fields

SAMPLES = 4  # so many content pages are looked at, to ask a site for a dozen pages at most
BARE = Site.from_definition({"name": "bare"})  # a site whose pages are read without selectors


@dataclass(frozen=True, eq=False)
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

    def read_by(self, rules: dict[str, Any]) -> Fields:
        """Returns what the key `content` of a site file reads of it."""
        site = Site.from_definition({"name": "tried", "content": rules})
        return extract.fields(self.page.fetched, site, document=self.document, continues=True)


async def samples_of(inquiry: Inquiry, results: Sequence[Result], front: ParsedPage) -> list[Sample]:
    """Returns the content pages that are looked at: results from all parts of the list that can be had."""
    samples: list[Sample] = []
    own = [result for result in results if urlsplit(result.url).hostname == urlsplit(front.url).hostname]
    places = dict.fromkeys(number * (len(own) - 1) // SAMPLES for number in range(SAMPLES + 1) if own)
    for result in [own[place] for place in places]:
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
        return extract.fields(page, BARE)
    except ExtractError:
        return None


def squeezed(written: str) -> str:
    """Returns a text as it is compared: without blanks, in small letters."""
    return re.sub(r"\s+", "", written).casefold()


def select_where(samples: Sequence[Sample], elements: Iterable[Any], holds: Callable[[Sample, Any], bool]) -> str:
    """Returns a selector whose first match on each page is what it should be; empty for none.

    Args:
        samples: The pages.
        elements: Those of the first page that it may be, the likeliest first.
        holds: Whether an element of a page is what it should be.
    """
    for element in elements:
        for css in named_parts.selectors_within(element):
            matches = [(sample, sample.page.tree.select_one(css)) for sample in samples]
            if all(match is not None and holds(sample, match) for sample, match in matches):
                return f"css:{css}"
    return ""

"""Finds a site's search: tries those that it offers, and tells results from the rest of their page."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler import sites
from crawler.base.errors import HeadroomError
from crawler.discovery.inquiry import FIRST_ERROR, page_of
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.pages.search_word import NONSENSE
from crawler.discovery.results import paging, result_block
from crawler.discovery.results.empty_mark import empty_mark
from crawler.discovery.search import declarations, forms, scripted
from crawler.discovery.search.search_template import based

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.models import Fetched
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.results.result_block import Block
    from crawler.discovery.search.search_template import SearchTemplate

_ROUND = frozenset({10, 20, 25, 30, 40, 50, 100, 200, 250, 500, 1000})  # what applications call a full page of results
SEARCHES_TRIED = 3  # of the searches that a page offers, the first is nearly always the site's own
_NO_RESULTS = (
    "no results for {word!r} stand in the HTML of its answer. Either it has none (give another WORD), or a script "
    "fetches them: then scrapy site check --render web {url} shows the JSON that the page loads, whose address may be "
    "search.url, with type: json and json: selectors; or a browser renders its pages (render)"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site answers to a search for the word, and to one for a word that nothing has.

    Attributes:
        template: Of the search.
        page: Of results.
        block: The results on it.
        none: The page without results; None: there was none, or nothing tells it from one with results.
        none_status: Its status.
    """

    template: SearchTemplate
    page: ParsedPage
    block: Block
    none: ParsedPage | None
    none_status: int


async def find(inquiry: Inquiry, front: ParsedPage) -> Answer | None:
    """Returns the first search of those that the site offers which finds something."""
    templates = forms.searches(front)
    if action := declarations.by_action(front):
        templates.append(action)
    if not templates and (url := declarations.description_url(front)):
        description = await inquiry.visitor.ask(url, "the site's OpenSearch description")
        template = declarations.by_description(description.body, description.url)
        templates += [template] if template else []
    if not templates and (url := declarations.search_page(front)):
        page = page_of(await inquiry.visitor.ask(url, "the page to which the link to the search leads"))
        templates = forms.searches(page) if page else []
    for template in _different(templates)[:SEARCHES_TRIED]:
        if answer := await attempt(inquiry, template, front):
            return answer
    return None


def _different(templates: Sequence[SearchTemplate]) -> list[SearchTemplate]:
    """Returns searches without those that send what one before them does, such as a form that a page has twice."""
    sent: dict[Any, SearchTemplate] = {}
    for template in templates:
        sent.setdefault((template.url, tuple(template.body.items())), template)
    return list(sent.values())


async def attempt(inquiry: Inquiry, template: SearchTemplate, front: ParsedPage) -> Answer | None:
    """Returns what a search answers; None, with a note, if its page of results can't be told."""
    source = template.source
    try:
        fetched = await _ask(inquiry, template, inquiry.word, f"the search for {inquiry.word!r}, by {source}")
        if fetched.status >= FIRST_ERROR:
            inquiry.notes.say("", f"{source} answered {fetched.status}, so it isn't used")
            return None
        if "json" in fetched.content_type.lower():
            inquiry.notes.say("", f"{source} answers in JSON: write results with type: json and json: selectors")
            return None
        page = ParsedPage(fetched)
        nothing = await _ask(inquiry, template, NONSENSE, "the same search for a word that nothing has")
    except HeadroomError as error:
        inquiry.notes.say("", f"{source}: {error}")
        return None
    none = page_of(nothing)
    if none and result_block.are_alike(page, none, inquiry.word):  # if anything looks at the word, it is a script
        _leave_to_scripts(inquiry, template, fetched, nothing)
        return None
    is_none = none is not None and (nothing.status >= FIRST_ERROR or none.urls != page.urls)
    others = [none] if none is not None and is_none else [front]
    block = result_block.results(page, others, inquiry.word)
    if block is None:
        _leave_to_scripts(inquiry, template, fetched, nothing)
        return None
    is_none = is_none and none is not None and not none.tree.select(block.selector.css)
    return Answer(template, page, block, none if is_none else None, nothing.status)


def _leave_to_scripts(inquiry: Inquiry, template: SearchTemplate, fetched: Fetched, nothing: Fetched) -> None:
    """Notes a search whose answer has no results, to be looked at in a browser."""
    remark = _NO_RESULTS.format(word=inquiry.word, url=shlex.quote(fetched.url))
    inquiry.notes.say("", f"{template.source}: {remark}")
    inquiry.unread.append((template, fetched, nothing))


async def by_scripts(inquiry: Inquiry, front: ParsedPage) -> scripted.ScriptedSearch | None:
    """Returns the search, of those that were tried and showed nothing, whose results scripts fetch; None: no such."""
    for template, fetched, nothing in inquiry.unread[:1]:  # in a browser, each takes seconds
        if search := await scripted.search(inquiry, template, fetched, nothing, front):
            inquiry.notes.take_back("", _NO_RESULTS.partition("{")[0])
            return search
    return None


async def _ask(inquiry: Inquiry, template: SearchTemplate, word: str, why: str) -> Fetched:
    definition = {"name": inquiry.name, "search": template.definition(), "results": {"links": "css:a"}}
    return await inquiry.search(sites.Site.from_definition(definition), word, why)


async def keys_of(inquiry: Inquiry, answer: Answer) -> dict[str, Any]:
    """Returns the keys `base`, `search` and `results`, with notes on what is lacking."""
    number = len(answer.block.urls)
    full = f"; it has exactly {number}, so the search may show no more of any word" if number in _ROUND else ""
    lacking = f"no link to a second page of results for {inquiry.word!r} was found{full}"
    template, following = paging.with_pages(inquiry, answer.page, answer.template, number, lacking)
    results = {"links": f"css:{answer.block.selector.css}", **following}
    for remark in template.remarks():
        inquiry.notes.say("search", remark)
    if answer.block.selector.misses:
        inquiry.notes.say("results.links", f"selects {answer.block.selector.misses} links too many or too few")
    if answer.none is None and answer.none_status < FIRST_ERROR:
        inquiry.notes.miss(
            "results.empty", "the site finds something for any word, so no page without results was seen"
        )
    elif answer.none_status >= FIRST_ERROR:
        results["empty_status"] = [answer.none_status]  # type: ignore[assignment]
    elif answer.none and (mark := empty_mark(answer.none, [answer.page])):
        results["empty"] = mark
    else:
        inquiry.notes.miss("results.empty", "nothing tells a page without results from others")
    return based({"search": template.definition(), "results": results}, answer.page.url)

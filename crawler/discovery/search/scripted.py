"""What is proposed for pages that show nothing before their scripts have run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.base.errors import HeadroomError
from crawler.discovery.content.sample import read_bare
from crawler.discovery.inquiry import page_of
from crawler.discovery.pages.page import ParsedPage, width
from crawler.discovery.results import paging, past_the_end, result_block
from crawler.discovery.results.empty_mark import empty_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.models import Fetched
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.results.result_block import Block
    from crawler.discovery.search.search_template import SearchTemplate

SHELL_WIDTH = 300  # a page whose text is no wider may be waiting for its scripts
SHELL_LINKS = 5  # a page with more links than a small menu has something to show
ANSWERS_NAMED = 3  # a remark names the first JSON answers that a page loads
ALWAYS = "always"
NO_SECOND_PAGE = "no link to a second page was found; what a button shows, `render.results.steps` may click"


@dataclass(frozen=True, slots=True)
class ScriptedSearch:
    """A search whose results scripts show.

    Attributes:
        keys: `search`, `results` and `render`.
        listed: The page of results, rendered.
        block: The results on it.
    """

    keys: dict[str, Any]
    listed: Fetched
    block: Block


def is_shell(page: ParsedPage) -> bool:
    """Returns whether a page shows so little that its scripts may be what shows the rest."""
    has_scripts = page.tree.select_one("script") is not None
    return has_scripts and len(page.anchors) <= SHELL_LINKS and width(page.shown) <= SHELL_WIDTH


async def as_shown(inquiry: Inquiry, fetched: Fetched, why: str) -> Fetched | None:
    """Returns a page as its scripts leave it, with what it loaded; None if it can't be rendered here."""
    try:
        rendered = await inquiry.visitor.render(fetched, why)
        return rendered if rendered and ParsedPage(rendered) else None
    except HeadroomError as error:
        inquiry.notes.say("", f"a browser can't render {fetched.url}: {error}")
        return None


# -- Searches ----------------------------------------------------------------------------------------------------


async def search(
    inquiry: Inquiry, template: SearchTemplate, fetched: Fetched, nothing: Fetched, front: ParsedPage
) -> ScriptedSearch | None:
    """Returns how the results of a search are read that stand nowhere in its page as it comes; None: they can't be.

    Args:
        template: Of the search.
        fetched: What it answers to the word.
        nothing: What it answers to a word that nothing has.
        front: A page without results, too.
    """
    word = inquiry.word
    rendered = await as_shown(inquiry, fetched, f"the search for {word!r}, in a browser: no results stand in its HTML")
    if rendered is None:
        return None
    page = ParsedPage(rendered)
    without = await as_shown(
        inquiry, nothing, "the same search for a word that nothing has, to tell results from links"
    )
    none = page_of(without) if without else None
    block = (
        None if none and result_block.are_alike(page, none, word) else result_block.results(page, [none or front], word)
    )
    if block is None:
        return None
    inquiry.notes.say("render", f"the results for {word!r} stand on the search page only once its scripts have run")
    _say_what_is_loaded(inquiry, rendered, "the results, search.url")
    template, following = paging.with_pages(inquiry, page, template, len(block.urls), NO_SECOND_PAGE)
    for remark in template.remarks():
        inquiry.notes.say("search", remark)
    if none and not none.tree.select(block.selector.css) and (mark := empty_mark(none, [page])):
        following["empty"] = mark
        if template.paging:
            inquiry.notes.say("results.empty", past_the_end.UNSEEN)
    else:
        inquiry.notes.miss("results.empty", "nothing tells a page without results from others")
    keys = {"search": template.definition(), "results": {"links": f"css:{block.selector.css}", **following}}
    return ScriptedSearch(keys | {"render": {"results": ALWAYS}}, rendered, block)


# -- Content pages ----------------------------------------------------------------------------------------------------


async def content(inquiry: Inquiry, pages: Sequence[ParsedPage]) -> list[Fetched]:
    """Returns content pages as a browser shows them, where that is how they can be read; else none."""
    why = "a result, in a browser: no text stands in its HTML"
    shown = [await as_shown(inquiry, page.fetched, why) for page in pages]
    rendered = [page for page in shown if page is not None and read_bare(page) is not None]
    if not rendered:
        return []
    inquiry.notes.say("render", "the text of pages stands there only once their scripts have run")
    _say_what_is_loaded(inquiry, rendered[0], "the text, content.fetch")
    return rendered


def _say_what_is_loaded(inquiry: Inquiry, page: Fetched, what: str) -> None:
    """Notes the JSON that a page has loaded, and what of it might be read by which key without a browser."""
    if urls := [answer.url for answer in page.loaded.answers[:ANSWERS_NAMED]] if page.loaded else []:
        inquiry.notes.say("render", f"scripts load {', '.join(urls)}: where that has {what} reads it without a browser")

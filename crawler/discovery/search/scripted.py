"""What is proposed for pages that show nothing before their scripts have run: by a browser, or better without one."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler import sites
from crawler.base import page_json
from crawler.base.errors import HeadroomError, InputError
from crawler.base.urls import origin_as_written
from crawler.discovery.content.content_pages import read_bare
from crawler.discovery.inquiry import FIRST_ERROR, page_of
from crawler.discovery.pages.page import ParsedPage, width
from crawler.discovery.results import blocks, empty, paging, past_the_end
from crawler.discovery.search import loaded
from crawler.discovery.search.search_template import SearchTemplate, of_url, with_parameter
from crawler.extract import results as searching

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.base.models import Fetched, JsonAnswer
    from crawler.discovery.inquiry import Inquiry

SHELL_WIDTH = 300  # of all that a page shows; one that shows less may be waiting for its scripts
SHELL_LINKS = 5  # of a menu; a page that leads to more has something to show
ANSWERS_NAMED = 3  # of those that a page loads, in a remark
ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ScriptedSearch:
    """A search whose results scripts fetch.

    Attributes:
        keys: `search` and `results`, and `render` if it needs a browser.
        listed: What the results are read from.
        results: Their addresses, each with what it is called.
    """

    keys: dict[str, Any]
    listed: Fetched
    results: Mapping[str, str]


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
    if rendered is None or rendered.loaded is None:
        return None
    page = ParsedPage(rendered)
    if found := loaded.results(rendered.loaded.answers, page, word):
        with contextlib.suppress(InputError):  # what a page names so that no file can say it
            return await _without_browser(inquiry, found) or _from_loaded(inquiry, found, template, page)
    without = await as_shown(
        inquiry, nothing, "the same search for a word that nothing has, to tell results from links"
    )
    none = page_of(without) if without else None
    block = None if none and blocks.are_alike(page, none, word) else blocks.results(page, [none or front], word)
    if block is None:
        return None
    inquiry.notes.say("render", f"the results for {word!r} stand on the search page only once its scripts have run")
    template, following = _paged(inquiry, page, template, len(block.urls))
    if none and not none.tree.select(block.selector.css) and (mark := empty.mark(none, [page])):
        following["empty"] = mark
        if template.paging:
            inquiry.notes.say("results.empty", past_the_end.UNSEEN)
    else:
        inquiry.notes.miss("results.empty", "nothing tells a page without results from others")
    keys = {"search": template.definition(), "results": {"links": f"css:{block.selector.css}", **following}}
    results = {anchor.url: anchor.text for anchor in block.anchors}
    return ScriptedSearch(keys | {"render": {"results": ALWAYS}}, rendered, results)


async def _without_browser(inquiry: Inquiry, found: loaded.LoadedResults) -> ScriptedSearch | None:
    """Returns the search that a script asks itself, if the crawl gets the same answer from it."""
    address = of_url(found.answer.url, inquiry.word)
    plain = await _plain(inquiry, found.answer) if address else None
    if plain is None or address is None:
        return None
    template = _counted(SearchTemplate(address), found.answer.url, len(found.urls))
    keys = {"search": template.definition(), "results": {"type": "json", **_leading(found)}}
    try:
        if not searching.links(plain, _site_of(keys, found.answer.url)).urls:
            return None
    except HeadroomError:
        return None
    inquiry.notes.say(
        "search", f"what the script of the search page asks for, as {found.answer.url}: no browser is needed"
    )
    if not template.paging:
        inquiry.notes.miss("search.paging", "nothing in that address counts pages or results")
    return ScriptedSearch(keys, plain, dict(zip(found.urls, found.titles, strict=True)))


def _from_loaded(
    inquiry: Inquiry, found: loaded.LoadedResults, template: SearchTemplate, page: ParsedPage
) -> ScriptedSearch:
    """Returns the search whose results a rendered page loads."""
    template, following = _paged(inquiry, page, template, len(found.urls))
    pattern = loaded.pattern_of(found.answer.url)
    keys = {"search": template.definition(), "results": {"from": {"xhr": pattern}, **_leading(found), **following}}
    keys["render"] = {"results": ALWAYS}
    _site_of(keys, page.url)
    inquiry.notes.say("render", f"the search page loads its results in a browser, from {found.answer.url}")
    return ScriptedSearch(keys, page.fetched, dict(zip(found.urls, found.titles, strict=True)))


def _paged(
    inquiry: Inquiry, page: ParsedPage, template: SearchTemplate, number: int
) -> tuple[SearchTemplate, dict[str, str]]:
    """Returns a search with its paging, and the key `results.next` if that needs it, by the links of a rendered page.

    Args:
        number: Of results on it.
    """
    following = {}
    if not template.paging:
        if found := paging.pages(page, template, inquiry.word, number):
            template, following = found.template, {"next": found.next} if found.next else {}
        else:
            said = "no link to a second page was found; what a button shows, `render.results.steps` may click"
            inquiry.notes.miss("search.paging", said)
    for remark in template.remarks():
        inquiry.notes.say("search", remark)
    return template, following


# -- Content pages ----------------------------------------------------------------------------------------------------


async def content(inquiry: Inquiry, pages: Sequence[ParsedPage]) -> list[Fetched]:
    """Returns content pages as a browser shows them, where that is how they can be read; else none.

    Args:
        pages: Of which nothing is read as they come.
    """
    why = "a result, in a browser: no text stands in its HTML"
    shown = [await as_shown(inquiry, page.fetched, why) for page in pages]
    rendered = [one for one in shown if one is not None and read_bare(one) is not None]
    if not rendered:
        return []
    inquiry.notes.say("render", "the text of pages stands there only once their scripts have run")
    loaded_from = [answer.url for one in rendered[:1] if one.loaded for answer in one.loaded.answers[:ANSWERS_NAMED]]
    if loaded_from:
        said = f"they load {', '.join(loaded_from)}: where that has the text, content.fetch reads it without a browser"
        inquiry.notes.say("render", said)
    return rendered


async def _plain(inquiry: Inquiry, answer: JsonAnswer) -> Fetched | None:
    """Returns an answer as the crawl gets it without a browser; None: not the same."""
    if answer.method != "GET":
        return None
    try:
        plain = await inquiry.visitor.ask(answer.url, "whether this JSON can be had without a browser")
    except HeadroomError:
        return None
    is_same = plain.status < FIRST_ERROR and page_json.is_alike(plain.body, answer.body)
    return plain if is_same else None


def _leading(found: loaded.LoadedResults) -> dict[str, str]:
    """Returns the keys of `results` that lead to the pages."""
    return {"links": found.links} | ({"link": found.link} if found.link else {})


def _counted(template: SearchTemplate, url: str, number: int) -> SearchTemplate:
    """Returns a search with its paging, where a parameter of its first address tells that by its name."""
    for pair in urlsplit(url).query.split("&"):
        name, _, value = pair.partition("=")
        if value in ("0", "1") and (found := paging.counting(name, value, number)):
            return replace(template, url=with_parameter(template.url, name, f"{{{found['kind']}}}"), paging=found)
    return template


def _site_of(keys: dict[str, Any], url: str) -> sites.Site:
    """Returns the site of some keys, with the origin of an address as its base.

    Raises:
        InputError: They make none, as where a site's JSON has names that no selector can say.
    """
    return sites.Site.from_definition({"name": "tried", "base": origin_as_written(url), **keys})

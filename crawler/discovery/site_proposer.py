"""From an address to a proposal for a site file: which of its parts is found out where, and in which order."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from crawler import extract, sites
from crawler.base.errors import ExtractError, HeadroomError
from crawler.base.item import is_site_name
from crawler.base.urls import canonical
from crawler.discovery.content import content_pages
from crawler.discovery.content.sample import samples_of
from crawler.discovery.inquiry import FIRST_ERROR, Inquiry, page_of
from crawler.discovery.kinds import known_kinds
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.pages.search_word import common
from crawler.discovery.proposal import Notes, SiteProposal, write
from crawler.discovery.results import listing, past_the_end
from crawler.discovery.search import declarations, forms, scripted, searches
from crawler.discovery.search.search_template import SearchTemplate, based, of_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.models import Fetched
    from crawler.discovery.inquiry import Visitor
    from crawler.discovery.results.listing import Result

HEADING = "Proposed by scrapy site new: look at each line; scrapy site check FILE URL shows what it reads."
RENDERED = 2  # so many content pages are looked at in a browser, where each takes seconds
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")


async def propose(url: str, visitor: Visitor, *, word: str = "", name: str = "") -> SiteProposal:
    """Returns a proposal for the site at an address.

    Args:
        url: Any page of the site; the front page is best, or a page of results for the word.
        visitor: Asks for the pages.
        word: That the site's search should find; empty: one is chosen from the page.
        name: Of the site; empty: made of its host.

    Raises:
        HeadroomError: The address is none, or its page can't be had, or isn't HTML.
    """
    url = canonical(url)  # without credentials, which no file may hold
    front = await visitor.ask(url, "the page that you named")
    if front.status >= FIRST_ERROR:
        raise HeadroomError(f"{front.url} answered {front.status}")
    try:
        page = ParsedPage(front)
    except ExtractError as error:
        raise HeadroomError(f"{front.url} can't be read: {error}; of an API, write a file by hand") from None
    notes = Notes()
    notes.say("", HEADING)
    inquiry = Inquiry(visitor, name or _name_of(front.url), word, notes)
    if scripted.is_shell(page) and not forms.searches(page):
        rendered = await scripted.as_shown(inquiry, front, "in a browser: it shows nothing by itself")
        page = (page_of(rendered) if rendered else None) or page
    given = of_url(url, word, page.encoding) if word else None
    if not given:
        inquiry = replace(inquiry, word=word or common(page))
    if not given and (proposal := await known_kinds.by_kind(inquiry, page)):
        return proposal
    return await _by_structure(inquiry, page, given)


async def _by_structure(inquiry: Inquiry, front: ParsedPage, given: str | None) -> SiteProposal:
    """Returns the proposal for a site of which nothing is known.

    Args:
        front: The page that was named.
        given: The address of a search, if that page is one of results; with a place for words.
    """
    answer = None
    if given:
        template = SearchTemplate(given, encoding=front.encoding, source="the address that you gave")
        answer = await searches.attempt(inquiry, template, front)
    elif inquiry.word:
        answer = await searches.find(inquiry, front)
    by_scripts = None if answer else await searches.by_scripts(inquiry, front)
    found_none = answer is None and by_scripts is None
    if found_none and not given and (by_list := await known_kinds.by_list(inquiry, front)):
        return by_list
    definition: dict[str, Any] = {"name": inquiry.name}
    listed = front.fetched
    if answer:
        listed, results = answer.page.fetched, listing.results_of(answer.block)
        definition |= await searches.keys_of(inquiry, answer)
        await past_the_end.look(inquiry, definition, answer.block)
        if dropped := _of_search(answer.block.urls, inquiry.word):
            definition["drop_parameters"] = dropped
    elif by_scripts:
        listed, results = by_scripts.listed, listing.results_of(by_scripts.block)
        definition |= based(by_scripts.keys, front.url)
    else:
        results = await _in_titles(inquiry, definition, front)
    samples = await samples_of(inquiry, results, front)
    read = [sample.page.fetched for sample in samples]
    if samples and all(sample.read is None or scripted.is_shell(sample.page) for sample in samples):
        if rendered := await scripted.content(inquiry, [sample.page for sample in samples[:RENDERED]]):
            read = rendered
            definition["render"] = definition.get("render", {}) | {"content": scripted.ALWAYS}
    else:
        definition |= await content_pages.keys_of(inquiry, samples)
    return _proposed(inquiry, definition, listed, read)


async def _in_titles(inquiry: Inquiry, definition: dict[str, Any], front: ParsedPage) -> list[Result]:
    """Adds the keys of a list in whose titles words are looked for, if the page has one; returns its links."""
    block = listing.listing_of(front)
    if block and (keys := listing.keys_of(inquiry, block, front)):
        definition |= keys
        await past_the_end.look(inquiry, definition, block)
    else:
        _miss_search(inquiry, front)
    return listing.results_of(block) if block else []


def _miss_search(inquiry: Inquiry, front: ParsedPage) -> None:
    word = f" that finds {inquiry.word!r}" if inquiry.word else ": give a WORD that the site has"
    inquiry.notes.miss("search", f"no search was found{word}; plans can't use the site, but scrapy seeds offer can")
    if forms.has_box(front) and not forms.searches(front):
        inquiry.notes.say(
            "search",
            "the page has a search box that no form sends: a script does, so render.results.steps may fill it in",
        )
    for url in declarations.feeds(front):
        inquiry.notes.say("", f"the site has a feed: {url}")


def _proposed(inquiry: Inquiry, definition: dict[str, Any], listed: Fetched, pages: Sequence[Fetched]) -> SiteProposal:
    """Returns the proposal with what it reads."""
    order = ("name", "base", "timezone", "drop_parameters", "search", "results", "content", "render")
    definition = {key: definition[key] for key in order if key in definition}
    text = write(definition, inquiry.notes)
    site = sites.parse(text, "the proposal")
    links = extract.links(listed, site) if "results" in definition else None
    read = {}
    for page in pages:
        try:
            read[page.url] = extract.fields(page, site)
        except ExtractError as error:
            inquiry.notes.miss("content", f"{page.url}: {error}")
    return SiteProposal(write(definition, inquiry.notes), definition, inquiry.notes.unknown, links, read)


def _of_search(urls: Sequence[str], word: str) -> list[str]:
    """Returns parameters of results that only repeat the word: without them, each page has one address."""
    repeating = [
        {name for name, value in parse_qsl(urlsplit(url).query) if value.casefold() == word.casefold()} for url in urls
    ]
    return sorted(set.intersection(*repeating)) if repeating else []


def _name_of(url: str) -> str:
    """Returns a name for a site, made of its host."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    name = _NOT_IN_NAME.sub("_", f"{host} {parts.port or ''}".lower()).strip("_")[:64].rstrip("_")
    return name if is_site_name(name) else "new_site"

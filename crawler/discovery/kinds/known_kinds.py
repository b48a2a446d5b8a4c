"""Proposes a site of a kind: software that it runs, or a feed or a sitemap that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from crawler import extract, sites
from crawler.base.errors import HeadroomError
from crawler.discovery.inquiry import FIRST_ERROR
from crawler.discovery.kinds import software
from crawler.discovery.pages.search_word import NONSENSE
from crawler.discovery.proposal import Notes, SiteProposal, write
from crawler.discovery.search import declarations

if TYPE_CHECKING:
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.pages.page import ParsedPage

FEEDS_TRIED = 2  # a page's third feed and those behind it are of comments or of one section
IN_A_LIST = "no search was found that works, so it is read instead, and plans' words are looked for in it"


async def by_kind(inquiry: Inquiry, page: ParsedPage) -> SiteProposal | None:
    """Returns the proposal for software that there is a kind for; None if it is none, or its search fails."""
    for known in software.recognise(page):
        definition = {"name": inquiry.name, "kind": known.kind, "base": known.base}
        if inquiry.word and (proposal := await _try_kind(inquiry, definition, known.mark, Notes())):
            return proposal
        why = "but that kind finds nothing here" if inquiry.word else "which a WORD that the site has would show"
        inquiry.notes.say("", f"it looks like kind: {known.kind} ({known.mark}), {why}")
    return None


async def by_list(inquiry: Inquiry, front: ParsedPage) -> SiteProposal | None:
    """Returns the proposal for a feed or a sitemap, in which plans find words without a search; None for neither.

    Feeds go first: they have titles and summaries, where most sitemaps have addresses alone.
    """
    for url in declarations.feeds(front)[:FEEDS_TRIED]:
        definition = {"name": inquiry.name, "kind": "rss", "base": url}
        mark = f"a feed that the page declares; {IN_A_LIST}"
        if proposal := await _try_kind(inquiry, definition, mark, inquiry.notes):
            return proposal
    url, mark = await _sitemap(inquiry, front.url)
    definition = {"name": inquiry.name, "kind": "sitemap", "base": url}
    return await _try_kind(inquiry, definition, f"{mark}; {IN_A_LIST}", inquiry.notes)


async def _sitemap(inquiry: Inquiry, url: str) -> tuple[str, str]:
    """Returns where the site's sitemap is, or would usually be, and what says so."""
    try:
        robots = await inquiry.visitor.ask(urljoin(url, "/robots.txt"), "whether it names a sitemap")
    except HeadroomError:  # then it says nothing
        named = ""
    else:
        named = declarations.sitemap(robots.body if robots.status < FIRST_ERROR else b"", url)
    return (named, "the sitemap that robots.txt names") if named else (urljoin(url, "/sitemap.xml"), "its address")


async def _try_kind(inquiry: Inquiry, definition: dict[str, Any], mark: str, notes: Notes) -> SiteProposal | None:
    """Returns the proposal for a kind that finds something at the site; None, with a note, if it doesn't."""
    remark = f"recognised by {mark}; what it says: scrapy site check, or crawler/sites/kinds/"
    notes = Notes({**notes.at, "kind": [remark]}, [*notes.unknown])
    try:
        site = sites.parse(write(definition, notes), "the proposal")
        # Any word will do for a list, which is the same for all of them.
        why = f"what kind {site.kind} asks for {inquiry.word!r}"
        answer = await inquiry.search(site, inquiry.word or NONSENSE, why)
        if answer.status >= FIRST_ERROR:
            inquiry.notes.say("", f"kind {site.kind}: {answer.url} answered {answer.status}")
            return None
        links = extract.links(answer, site)
        if links.lists and not links.urls:
            answer = await inquiry.visitor.ask(links.lists[0].url, "the first list that the index names")
            links = extract.links(answer, site)
    except HeadroomError as error:
        inquiry.notes.say("", f"kind {definition['kind']}: {error}")
        return None
    if not links.urls:
        return None
    read = {}
    url = links.urls[-1 if site.is_list else 0]  # the first page of a sitemap is often the front page
    try:
        page = await inquiry.visitor.ask(url, "a result, to show what the kind reads")
        read[page.url] = extract.fields(page, site)
    except HeadroomError as error:
        if not site.is_list:  # then it is other software; a list is one whatever its pages are
            inquiry.notes.say("", f"kind {site.kind}: {url}: {error}")
            return None
        notes.miss("content", f"{url}: {error}")
    return SiteProposal(write(definition, notes), definition, tuple(notes.unknown), links, read)

"""What a site reads on a page or finds by a search, for a person at a terminal: `scrapy site check`."""

from __future__ import annotations

import contextlib
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from crawler import config, extract
from crawler.base import reasons
from crawler.base.errors import ExtractError, HeadroomError, LacksError
from crawler.base.urls import split_route
from crawler.cli.page_browser import PageBrowser
from crawler.cli.page_fetcher import PageFetcher
from crawler.cli.request_errors import CrawlRefusesError
from crawler.cli.site_search import SearchTrial
from crawler.extract.words import CombinationSearch, text_of_page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.settings import Settings

    from crawler.base.models import Fetched
    from crawler.extract import Fields
    from crawler.sites import Site


async def page(url: str, site: Site, settings: Settings, *, renders: bool, words: str) -> dict[str, Any]:
    """Returns what a site reads on a page, or why a crawl would not ask for it.

    Args:
        settings: The project's.
        renders: Whether a browser renders it, though a crawl might not have it rendered.
        words: What steps fill in for `{keywords}`.

    Raises:
        HeadroomError: The page can't be had, rendered or read.
    """
    async with _Reader.open(site, settings) as reader:
        try:
            page = await reader.fetcher.page_of(url, renders=renders)
            return await (reader.rendered(page, words, tries_plain=True) if renders else reader.as_crawled(page, words))
        except CrawlRefusesError as error:
            return _refused(site, error)


async def search(site: Site, settings: Settings, words: list[str]) -> dict[str, Any]:
    """Returns the results that a search has, what the first of them holds, and how the search ends.

    Raises:
        HeadroomError: The site can't be searched so, or a page can't be had or read.
    """
    async with _Reader.open(site, settings) as reader:
        trial = SearchTrial(site, reader.fetcher, reader.browser, words)
        try:
            first = await trial.first_page()
            links, unmatched = trial.matching(first)
            shown = {
                "site": site.name,
                "base": site.base,
                "searches": [asdict(first.target)],
                "rendered": first.page.rendered,
                "links": asdict(links) | {"unmatched": unmatched},
                "past_the_end": await trial.end(first),
            }
        except CrawlRefusesError as error:
            return _refused(site, error)
        for url in links.urls[:1]:
            try:
                result = await reader.as_crawled(await reader.fetcher.page_of(url), " ".join(words))
                if site.results.match_text and "fields" in result:
                    result["has_words"] = _has_words(result["fields"], words)
                shown["result"] = result
            except HeadroomError as error:
                shown["result"] = {"url": url, "refused": str(error)}
        return shown


def _has_words(fields: dict[str, Any], words: Sequence[str]) -> bool:
    """Returns whether a page with these fields has all words in its text."""
    comments = (comment["text"] for comment in fields["comments"])
    return bool(CombinationSearch([tuple(words)]).found_in(text_of_page(fields["title"], fields["content"], comments)))


def unread(shown: dict[str, Any]) -> str:
    """Returns why a page that was to be read wasn't; empty: it was, and so was the first result of a search."""
    if why := str(shown.get("refused", "")):
        return why if shown["url"] in why else f"{shown['url']}: {why}"
    if "fails" in shown and "links" not in shown and "follows" not in shown:  # else it has what a crawl goes on with
        return f"{shown['url']}: {shown['fails']}"
    return unread(shown["result"]) if "result" in shown else ""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads pages of a site.

    Attributes:
        settings: The project's.
        fetcher: Asks for further pages of an item.
        browser: Renders pages.
    """

    site: Site
    settings: Settings
    fetcher: PageFetcher
    browser: PageBrowser

    @classmethod
    @asynccontextmanager
    async def open(cls, site: Site, settings: Settings) -> AsyncIterator[Self]:
        """Gives a reader, and ends its connections and its browser."""
        async with (
            PageFetcher.open(settings, site) as fetcher,
            PageBrowser.open(settings, site, fetcher) as browser,
        ):
            yield cls(site, settings, fetcher, browser)

    async def as_crawled(self, page: Fetched, words: str) -> dict[str, Any]:
        """Returns what is read on a page that has come: rendered, where a crawl would have it rendered."""
        when = self.site.render.content.when
        lacked = ""
        if when == "auto":
            lacked = "it is the same for all routes" if split_route(page.url)[1] else self._lacked(page)
        if not self.browser.takes(page) or not (when == "always" or lacked):
            return await self._read(page)
        return await self.rendered(page, words) | {"rendered_for": lacked}

    async def rendered(self, page: Fetched, words: str, *, tries_plain: bool = False) -> dict[str, Any]:
        """Returns what is read on a page once a browser has rendered it, or why nothing is; and what it loaded."""
        render = self.site.render
        rendering = render.results if render.content.when == "never" else render.content
        page, loaded = await self.browser.render(page, rendering, words, tries_plain=tries_plain)
        try:
            return await self._read(page) | loaded
        except ExtractError as error:
            why = str(error) if error.reason == reasons.NO_XHR else error.reason
            return {"site": self.site.name, "base": self.site.base, "url": page.url, "fails": why} | loaded

    def _lacked(self, page: Fetched) -> str:
        """Returns what a page lacks as it came, for which a crawl would have a browser render it; empty: nothing."""
        try:
            extract.read(replace(page, is_trial=True), self.site, max_links=0, parser_modules=self._parser_modules)
        except (LacksError, ExtractError) as error:
            return str(error)
        return ""

    async def _read(self, page: Fetched) -> dict[str, Any]:
        """Returns what is read on a page: the results that it has, the fields, and the links that are followed.

        The fields are with those of further requests for the same item (`content.joined`), which are made.
        """
        site = self.site
        shown = {
            "site": site.name,
            "base": site.base,
            "url": page.url,
            "status": page.status,
            "content_type": page.content_type,
            "refused": "",
        }
        try:
            links = extract.links(page, site)
        except ExtractError:
            links = extract.Links()
        if links.urls or links.routes:
            shown["links"] = asdict(links)
        follows = {}
        with contextlib.suppress(ExtractError):  # `extract.fields` raises it below, too
            follows = {"follows": asdict(extract.followed(page, site))} if site.follow else {}
        try:
            fields = extract.fields(page, site, parser_modules=self._parser_modules)
            fields, joined = await _with_joined(fields, site, self.fetcher, page)
            more = {"joined": joined} if joined else {}
            return shown | {"fields": asdict(fields)} | more | follows
        except ExtractError as error:
            if links.empty and site.results.empty:
                shown["links"] = asdict(links)
            if "links" in shown or follows:  # the page is no item, but leads to others, or says that there are none
                return shown | {"fails": error.reason} | follows
            if site.searchable:
                detail = str(error).removeprefix(f"{error.reason}: ")
                raise ExtractError(error.reason, f"{detail}; nor does `results.links` find any on it") from None
            raise

    @property
    def _parser_modules(self) -> tuple[str, ...]:
        return config.PARSER_MODULES.of(self.settings)


def _refused(site: Site, error: CrawlRefusesError) -> dict[str, Any]:
    return {"site": site.name, "base": site.base, "url": error.address, "refused": str(error)}


async def _with_joined(
    fields: Fields, site: Site, fetcher: PageFetcher, page: Fetched
) -> tuple[Fields, list[dict[str, Any]]]:
    """Returns a page's fields with those of its site's `content.joined`, and what each of these requests brought.

    Returns:
        The fields as an item has them; and for each request its `url`, `fails` (why it brings nothing, or empty) and
        `fields`, those that it has. A `url` is empty where the page lacks what the address is made of.
    """
    requests: list[dict[str, Any]] = []
    entries = site.content.joined if site.content else ()
    for url, entry in zip(fields.joined, entries, strict=True):
        request: dict[str, Any] = {"url": url, "fails": "", "fields": {}}
        requests.append(request)
        if not url:
            request["fails"] = "not asked for: the page lacks a value of its address"
            continue
        try:
            further = extract.joined_fields(await fetcher.joined_page(url, page), site, joined=entry)
        except HeadroomError as error:
            request["fails"] = str(error)
            continue
        request["fields"] = {name: value for name, value in asdict(further).items() if value}
        fields = fields.filled(further)
    return fields, requests

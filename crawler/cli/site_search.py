"""Tries a site's search for a person at a terminal: its first page, and the first one past its end.

How a site ends a search is what crawls stumble over: some say so, some answer 404, some repeat the last page for ever.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawler import extract
from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.base.urls import canonical
from crawler.extract import Links
from crawler.extract.rows import Row, found_by
from crawler.extract.words import CombinationSearch
from crawler.worker.visits.outcomes import outcome_of_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.models import Fetched
    from crawler.cli.page_browser import PageBrowser
    from crawler.cli.page_fetcher import PageFetcher
    from crawler.sites import SearchTarget, Site

PER_PAGE = 20  # how many results are asked for, where a site lets itself be asked
LAST_PAGE = 512  # the last page that is looked for; a search behind it has no end, and 18 requests find any before it
# Most pages that are walked of a search whose pages name the next: there is no shorter way to its end.
WALKED_PAGES = 10


@dataclass(frozen=True, slots=True)
class Tried:
    """A page of a search.

    Attributes:
        links: What it has; None where it isn't read as a page of results.
        says: What that means, for a person.
    """

    target: SearchTarget
    page: Fetched
    links: Links | None
    says: str

    def shown(self) -> dict[str, Any]:
        """Returns the page as JSON values."""
        return {"page": self.target.page, "url": self.page.url, "status": self.page.status, "says": self.says}


class SearchTrial:
    """One search of a site, page by page."""

    def __init__(self, site: Site, fetcher: PageFetcher, browser: PageBrowser, words: Sequence[str]) -> None:
        self._site, self._fetcher, self._browser, self._words = site, fetcher, browser, words
        self._seen: dict[str, int] = {}  # results, with the number of the first page that was seen to have them

    async def first_page(self) -> Tried:
        """Returns the first page."""
        tried = await self._try(self._target(1))
        if tried.links is None:
            raise ExtractError(reasons.NOT_RESULTS, f"{tried.page.url}, status {tried.page.status}: {tried.says}")
        return tried

    async def end(self, first: Tried) -> dict[str, Any]:
        """Returns the first page past the end of the search, or why there is none."""
        paging = self._site.search.paging
        if paging is None:
            return {"says": "one page: the site has no `paging`"}
        if not self._has_new(first):
            return first.shown()
        return await self._walk(first) if paging.names_next else await self._bisect(first)

    async def _walk(self, tried: Tried) -> dict[str, Any]:
        """Follows the links to next pages."""
        if tried.links and tried.links.lists:
            return {"says": f"names {len(tried.links.lists)} further pages of results"}
        for number in range(2, WALKED_PAGES + 1):
            following = tried.links.next if tried.links else None
            if following is None:
                return {"says": f"ends with page {number - 1}, which names no next one"}
            tried = await self._try(following)
            if not self._has_new(tried):
                return tried.shown()
        return {"says": f"no end within {WALKED_PAGES} pages"}

    async def _bisect(self, first: Tried) -> dict[str, Any]:
        """Looks for the end among numbered pages: at 2, 4, 8 ..., then between the last two of them."""
        tried = {1: first}
        number = 1
        while self._has_new(tried[number]):
            if number >= LAST_PAGE:
                return {"says": f"no end within {LAST_PAGE} pages"}
            number *= 2
            tried[number] = await self._try(self._target(number))
        behind = tried[number].links
        repeated = behind.urls if behind else ()  # by a site that shows its last page again, or its first
        is_first = first.links is not None and repeated == first.links.urls

        def has_ended(page: Tried) -> bool:
            return not page.links or (page.links.urls in ((), repeated) and not (is_first and page is first))

        past = min(number for number, page in tried.items() if has_ended(page))
        last = max((number for number in tried if number < past), default=0)
        while past - last > 1:
            middle = (last + past) // 2
            tried[middle] = await self._try(self._target(middle))
            last, past = (last, middle) if has_ended(tried[middle]) else (middle, past)
        if not repeated or is_first:
            return tried[past].shown()
        again = tried.get(past + 1) or await self._try(self._target(past + 1))
        return again.shown() | {"says": f"results of page {past} once more"}

    def _target(self, number: int) -> SearchTarget:
        return self._site.search_target(self._words, page=number, per_page=PER_PAGE, sort="newest")

    def _has_new(self, tried: Tried) -> bool:
        """Returns whether the page has results that no page before it was seen to have."""
        urls = tried.links.urls if tried.links else ()
        return any(self._seen[url] >= tried.target.page for url in urls)

    async def _try(self, target: SearchTarget) -> Tried:
        page = await self._fetcher.get(
            target.url, body=target.body, content_type=self._site.request_content_type if target.body else ""
        )
        outcome = outcome_of_status(page.status)
        if outcome and page.status not in self._site.results.empty_status:
            return Tried(
                target, page, None, f"a crawl fails it as {outcome.reason}; `results.empty_status` may say more"
            )
        try:
            page, links = await self._read(page, target)
        except ExtractError as error:
            return Tried(target, page, None, f"a crawl fails it as {error.reason}; `results.empty` may say more")
        for url in links.urls:
            self._seen[url] = min(target.page, self._seen.get(url, target.page))
        if links.empty:
            says = "the site says that there are no more results"
        elif not links.urls:
            says = "no results, and no sign that there are none: `results.empty` may say more"
        else:
            first = min(self._seen[url] for url in links.urls)
            says = "results" if first == target.page else f"results of page {first} once more"
        return Tried(target, page, links, says)

    async def _read(self, page: Fetched, target: SearchTarget) -> tuple[Fetched, Links]:
        """Returns a page's results, and the page itself: rendered where a crawl would have it rendered."""

        def links(page: Fetched) -> Links:
            return extract.links(
                page, self._site, asked=canonical(target.url, routes=True), body=target.body, number=target.page
            )

        rendering = self._site.render.results
        if rendering.when == "never" or not self._browser.takes(page):
            return page, links(page)
        if rendering.when == "auto":
            with contextlib.suppress(ExtractError):
                plain = links(page)
                if plain.urls or plain.lists or plain.empty:
                    return page, plain
        rendered, _ = await self._browser.render(page, rendering, " ".join(self._words))
        return rendered, links(rendered)

    def matching(self, tried: Tried) -> tuple[Links, int]:
        """Returns the results that a crawl would take, and how many it would not: their rows lack a word."""
        links = tried.links or Links()
        if self._site.results.match is None:
            return links, 0
        rows = [(url, links.rows.get(url, Row())) for url in links.urls]
        urls = tuple(url for url, _row, _words in found_by(rows, CombinationSearch([tuple(self._words)])))
        return replace(links, urls=urls), len(links.urls) - len(urls)

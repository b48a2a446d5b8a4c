"""Fetches pages for a person at a terminal: `scrapy site check FILE URL`, `scrapy site new URL`, `scrapy plan check`.

Each request passes what a crawl's do: the same downloader middlewares, the same handler, turns with their delays. So
nothing is asked for that a crawl with these settings refuses, and what comes is what a crawl would get.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import HtmlResponse

from crawler import config
from crawler.base import reasons
from crawler.base.errors import HeadroomError, HostBackoffError, UnavailableError, UrlError
from crawler.base.models import Claimed, Seed
from crawler.base.redaction import without_credentials
from crawler.base.urls import canonical, host, origin, redirect_target, split_route
from crawler.cli.local_worker import local_crawler
from crawler.download.page_requests import PageRequests
from crawler.download.script_cache import ScriptCache
from crawler.middlewares.robots import RobotsMiddleware
from crawler.spiders.base import MAX_HOPS, fetched
from crawler.worker.claiming.outcomes import (
    REDIRECT_STATUSES,
    outcome_of_error,
    outcome_of_status,
)
from crawler.worker.claiming.page_request import page_request
from crawler.worker.claiming.request_state import Purpose, RequestState, state_of
from crawler.worker.claiming.visits import FetchFailed, Visit
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Container

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import Settings

    from crawler.base.models import Fetched, Frontier
    from crawler.cli.local_worker import LocalDownloader
    from crawler.sites import Site

PLAN = "check"  # stands for the plan of a seed that no plan has asked for
TURN_SECONDS = 3_600.0  # longest wait for a turn: no delay of a site is longer
# What a crawl with these settings refuses, and by which of them; all else is an error of the page or its host.
REFUSALS = {
    reasons.BAD_URL: "bad-url",
    reasons.NO_SECRET: "no-secret ({cause})",
    reasons.PRIVATE_ADDRESS: "private-address (ALLOW_PRIVATE_ADDRESSES)",
    reasons.ROBOTS: "robots ({origin}/robots.txt forbids it; ROBOTSTXT_OBEY)",
    reasons.ROBOTS_UNREACHABLE: "robots-unreachable ({origin}/robots.txt has no usable answer)",
}
FAILURES = {
    reasons.BAD_REDIRECT: "{url} leads to what isn't fetched",
    reasons.PAGE_TIMEOUT: "{url} took longer than {page_seconds:g} s, with all that it fetches",
    reasons.SCRIPT_ROUTE: "{url} leads to what isn't fetched: only a browser's script knows what is there",
    reasons.TIMEOUT: "{url} took longer than {timeout_seconds:g} s",
    reasons.TOO_LARGE: "{url} is larger than {max_bytes} bytes",
    reasons.TOO_MANY_REDIRECTS: "{url} is one redirect too many",
}


class CrawlRefusesError(HeadroomError):
    """A crawl with these settings would not ask for an address, so nothing was sent there."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(f"a crawl refuses {without_credentials(address)}: {why}")
        self.address = address


class PageFetcher:
    """Fetches pages of sites, each as the visit of a seed."""

    def __init__(self, crawler: Crawler, downloader: LocalDownloader, site: Site) -> None:
        self._crawler, self._downloader, self._site = crawler, downloader, site
        self._worker = Worker.of(crawler)
        self._scripts = ScriptCache()
        self._failed_files: dict[str, FetchFailed] = {}  # robots.txt that could not be had, by authority
        self._worker.events.subscribe(FetchFailed, self._note)

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, *sites: Site, delay_s: float | None = None) -> AsyncIterator[PageFetcher]:
        """Gives a fetcher with the settings of a crawl.

        Args:
            settings: The project's.
            sites: Those whose pages are asked for; the first one where nothing else is said.
            delay_s: Seconds between two starts of requests to a host, if its robots.txt asks for no more; None: as the
                first site says.
        """
        first = sites[0]
        async with local_crawler(settings, sites, first.politeness.delay_s if delay_s is None else delay_s) as crawler:
            yield cls(crawler, crawler.engine, first)  # type: ignore[arg-type]  # `local_crawler` says which it is

    # -- Pages --------------------------------------------------------------------------------------------------------

    async def page_of(self, url: str, *, renders: bool = False) -> Fetched:
        """Returns a content page of the site, or what the site has fetched in its place, with the page's own address.

        Args:
            renders: A browser renders the page, though a crawl might not have it rendered.
        """
        address = canonical(url, routes=renders or self._site.has_routes("content"))
        page = self._checked(await self._get(self._seed(address, "content")), self._site.results.empty_status)
        return page if self._site.address_of(address) == address else replace(page, url=address)

    async def page(self, url: str) -> Fetched:
        """Returns an answer that is a page.

        Raises:
            UnavailableError: It is none by its status; else as `get`.
        """
        return self._checked(await self.get(url))

    async def get(self, url: str, *, body: str = "", content_type: str = "") -> Fetched:
        """Returns the first answer that is no redirect, whatever its status.

        Args:
            url: Absolute, perhaps with the route that a script of the page shows; so is the answer's own.
            body: With one, the request is a POST.
            content_type: Of the body; empty: as the site's searches are asked.

        Raises:
            UrlError: It isn't an http(s) URL.
            CrawlRefusesError: A crawl wouldn't ask for it, or for where it redirects to.
            UnavailableError: There is no answer, or not in time, or it is too large.
        """
        seed = self._seed(canonical(url, routes=True), "nav")
        return await self._get(replace(seed, method="POST" if body else "GET", body=body), content_type)

    async def joined_page(self, url: str, page: Fetched) -> Fetched:
        """Returns a page that is joined to another one, as the visit of that one fetches it."""
        async with self._visit(self._seed(page.url, "content")) as visit:
            visit.deadline.start(config.PAGE_SECONDS.of(self._crawler.settings))
            lane = visit.lane if host(url) == visit.lane.host else None
            meta = RequestState(Purpose(visit), lane).meta()
            return self._checked(fetched(await self._answer(Request(url, meta=meta, dont_filter=True))))

    async def refusal(self, url: str, site: Site) -> str:
        """Returns why robots.txt keeps a crawl from a site's page; empty: it doesn't. The page isn't asked for.

        Raises:
            UrlError: It isn't an http(s) URL.
            UnavailableError: The host doesn't answer, or not in time.
        """
        middlewares = self._downloader.middleware.middlewares
        robots = next((part for part in middlewares if isinstance(part, RobotsMiddleware)), None)
        if robots is None:
            return ""
        seed = replace(self._seed(canonical(url, routes=True), "nav"), site=site.name)
        try:
            async with self._visit(seed) as visit:
                await robots.process_request(page_request(visit, site))
        except Exception as error:
            if outcome_of_error(error).reason == reasons.PRIVATE_ADDRESS:
                return ""  # ALLOW_PRIVATE_ADDRESSES is what keeps it from there
            explained = self.explained(error, seed.url)
            if isinstance(explained, CrawlRefusesError):
                return str(explained)
            raise explained from error
        return ""

    @asynccontextmanager
    async def requests_of(self, page: Fetched) -> AsyncIterator[PageRequests]:
        """Gives what fetches for a page while a browser renders it."""
        headers = {"Content-Type": page.content_type} if page.content_type else {}
        response = HtmlResponse(split_route(page.url)[0], page.status, headers, page.body)
        async with self._visit(self._seed(page.url, "content")) as visit:
            yield PageRequests(self._crawler, visit, self._site, page=response, cache=self._scripts)

    def explained(self, error: Exception, url: str) -> HeadroomError:
        """Returns what is said of a request that a crawl refuses, or that got no answer."""
        reason, cause = outcome_of_error(error).reason, error.__cause__
        file = self._failed_files.get(origin(url)) if reason == reasons.ROBOTS_UNREACHABLE else None
        if file is not None:
            is_late = file.reason.endswith(" timeout")
            return UnavailableError(f"{file.url} " + ("takes too long" if is_late else f"can't be fetched: {file.why}"))
        if reason in REFUSALS:
            return CrawlRefusesError(url, REFUSALS[reason].format(origin=origin(url), cause=cause))
        if reason in FAILURES:
            settings = self._crawler.settings
            return UnavailableError(
                FAILURES[reason].format(
                    url=url,
                    timeout_seconds=config.DOWNLOAD_TIMEOUT.of(settings),
                    page_seconds=config.PAGE_SECONDS.of(settings),
                    max_bytes=config.DOWNLOAD_MAXSIZE.of(settings),
                )
            )
        return UnavailableError(f"{url} can't be fetched: {error}")

    # -- Visits -------------------------------------------------------------------------------------------------------

    def _seed(self, url: str, frontier: Frontier) -> Seed:
        return Seed(url, PLAN, self._site.name, frontier)

    async def _get(self, seed: Seed, content_type: str = "") -> Fetched:
        """Returns what is at a seed, or where it redirects to: on another host, that is a new seed."""
        while True:
            async with self._visit(seed) as visit:
                visit.deadline.start(config.PAGE_SECONDS.of(self._crawler.settings))
                request = page_request(visit, self._site)
                if content_type:
                    request.headers["Content-Type"] = content_type
                response = await self._answer(request)
            location = response.headers.get("Location")
            if response.status not in REDIRECT_STATUSES or location is None:
                return fetched(response)
            state = state_of(response.request)
            shown = response.url + (state.route if state else "")
            try:
                routes = self._site.has_routes(seed.frontier)
                target = redirect_target(location.decode("utf-8", "replace"), shown, routes=routes)
            except UrlError as error:
                raise UnavailableError(f"{shown} leads to what isn't fetched: {error}") from None
            if seed.hops == MAX_HOPS:
                raise UnavailableError(f"{target} is one redirect too many")
            seed, content_type = replace(seed, url=target, method="GET", body="", hops=seed.hops + 1), ""

    @asynccontextmanager
    async def _visit(self, seed: Seed) -> AsyncIterator[Visit]:
        """Gives a visit of a seed, on a turn of its host, and ends it."""
        turns, lane = self._worker.turns, None
        try:
            while lane is None:
                lane, _wait_s = await turns.acquire_within(seed.host, seed.site, TURN_SECONDS)
        except HostBackoffError as error:
            raise UnavailableError(f"{seed.host} asks to be left alone for now ({error})") from error
        owner = self._worker.life.session.leases[lane.partition].owner
        claimed = Claimed(seed, seed.fingerprint, lane.partition, f"{owner}#0", lane.token, 0, 0, lane.delay_s)
        visit = Visit(claimed, lane, self._worker.events)
        turns.note_use(lane, visit)
        try:
            yield visit
        finally:
            visit.abandon()
            turns.release(lane)

    async def _answer(self, request: Request) -> Response:
        """Returns the answer to a request of a visit, or to where it redirects to on the same host."""
        while True:
            try:
                answer = await self._downloader.download_hop(request)
            except Exception as error:
                raise self.explained(error, request.url) from error
            if not isinstance(answer, Request):
                return answer
            request = answer

    def _checked(self, page: Fetched, statuses: Container[int] = ()) -> Fetched:
        """Returns an answer if it is a page.

        Args:
            statuses: Those that count as a page's, though they say that there is none.
        """
        if outcome_of_status(page.status) is not None and page.status not in statuses:
            raise UnavailableError(f"{page.url} answered {page.status}")
        return page

    def _note(self, event: FetchFailed) -> None:
        if event.reason.startswith("robots.txt "):
            self._failed_files[origin(event.url)] = event

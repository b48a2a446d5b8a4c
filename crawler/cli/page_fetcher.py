"""Fetches pages for a person at a terminal: `scrapy site check FILE URL`, `scrapy site new URL`, `scrapy plan check`.

Each request passes what a crawl's do: the same downloader middlewares, the same handler, turns with their delays. So
nothing is asked for that a crawl with these settings refuses, and what comes is what a crawl would get.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from scrapy import Request
from scrapy.http import HtmlResponse

from crawler import config
from crawler.base import reasons
from crawler.base.errors import HostBackoffError, UnavailableError, UrlError
from crawler.base.models import Claimed, Seed
from crawler.base.urls import canonical, host, redirect_target, split_route
from crawler.cli.local_crawl import local_crawl
from crawler.cli.request_errors import CrawlRefusesError, RequestErrors
from crawler.download.page_requests import PageRequests
from crawler.download.script_cache import ScriptCache
from crawler.middlewares.robots import RobotsMiddleware
from crawler.spiders.base import MAX_HOPS, fetched
from crawler.worker.visits.outcomes import REDIRECT_STATUSES, outcome_of_error, outcome_of_status
from crawler.worker.visits.page_request import page_request
from crawler.worker.visits.request_state import Purpose, RequestState, state_of
from crawler.worker.visits.visit import Visit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Container

    from scrapy.http import Response
    from scrapy.settings import Settings

    from crawler.base.models import Fetched, Frontier
    from crawler.cli.local_crawl import LocalCrawl
    from crawler.sites import Site

PLAN = "check"  # stands for the plan of a seed that no plan has asked for
TURN_SECONDS = 3_600.0  # the longest wait for a turn: no delay of a site is longer


class PageFetcher:
    """Fetches pages of sites, each as the visit of a seed.

    Args:
        site: Whose pages are asked for where nothing else is said.

    Attributes:
        errors: Explains what becomes of requests.
    """

    def __init__(self, crawl: LocalCrawl, site: Site) -> None:
        self._crawl, self._site = crawl, site
        self._page_seconds = config.PAGE_SECONDS.of(crawl.crawler.settings)
        self.errors = RequestErrors(crawl.crawler.settings, crawl.worker.events)
        self._scripts = ScriptCache()

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, *sites: Site, delay_s: float | None = None) -> AsyncIterator[Self]:
        """Gives a fetcher with the settings of a crawl.

        Args:
            settings: The project's.
            sites: Those whose pages are asked for; the first one where nothing else is said.
            delay_s: Seconds between two starts of requests to a host, if its robots.txt asks for no more; None: as the
                first site says.
        """
        first = sites[0]
        async with local_crawl(settings, sites, first.politeness.delay_s if delay_s is None else delay_s) as crawl:
            yield cls(crawl, first)

    async def page_of(self, url: str, *, renders: bool = False) -> Fetched:
        """Returns a content page of the site, or what the site has fetched in its place, with the page's own address.

        Args:
            renders: A browser renders the page, though a crawl might not have it rendered.
        """
        address = canonical(url, routes=renders or self._site.has_routes("content"))
        page = _checked(await self._get(self._seed(address, "content")), self._site.results.empty_status)
        return page if self._site.address_of(address) == address else replace(page, url=address)

    async def page(self, url: str) -> Fetched:
        """Returns an answer that is a page.

        Raises:
            UnavailableError: It is none by its status; else as `get`.
        """
        return _checked(await self.get(url))

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
            visit.deadline.start(self._page_seconds)
            lane = visit.lane if host(url) == visit.lane.host else None
            meta = RequestState(Purpose(visit, lane)).meta()
            return _checked(fetched(await self._answer(Request(url, meta=meta, dont_filter=True))))

    async def refusal(self, url: str, site: Site) -> str:
        """Returns why robots.txt keeps a crawl from a site's page; empty: it doesn't. The page isn't asked for.

        Raises:
            UrlError: It isn't an http(s) URL.
            UnavailableError: The host doesn't answer, or not in time.
        """
        middlewares = self._crawl.downloader.middleware.middlewares
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
            explained = self.errors.explained(error, seed.url)
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
            yield PageRequests(self._crawl.crawler, visit, self._site, page=response, cache=self._scripts)

    def _seed(self, url: str, frontier: Frontier) -> Seed:
        return Seed(url, PLAN, self._site.name, frontier)

    @asynccontextmanager
    async def _visit(self, seed: Seed) -> AsyncIterator[Visit]:
        """Gives a visit of a seed that nobody has claimed, on a turn of its host, and ends it.

        Raises:
            UnavailableError: The host asks for a pause.
        """
        worker, lane = self._crawl.worker, None
        try:
            while lane is None:
                lane, _wait_s = await worker.turns.acquire_within(seed.host, seed.site, TURN_SECONDS)
        except HostBackoffError as error:
            raise UnavailableError(f"{seed.host} asks to be left alone for now ({error})") from error
        claimed = Claimed(
            seed=seed,
            fingerprint=seed.fingerprint,
            partition=lane.partition,
            claim=f"{worker.life.session.leases[lane.partition].owner}#0",
            turn=lane.token,
            due_ms=0,
            tries=0,
            delay_s=lane.delay_s,
        )
        visit = Visit(claimed, lane, worker.events)
        worker.turns.note_use(lane, visit)
        try:
            yield visit
        finally:
            visit.abandon()
            worker.turns.release(lane)

    async def _answer(self, request: Request) -> Response:
        """Returns the answer to a request of a visit, or to where it redirects to on the same host.

        Raises:
            HeadroomError: A crawl refuses it, or there is no answer: as `RequestErrors.explained` says.
        """
        while True:
            try:
                answer = await self._crawl.downloader.download_hop(request)
            except Exception as error:
                raise self.errors.explained(error, request.url) from error
            if not isinstance(answer, Request):
                return answer
            request = answer

    async def _get(self, seed: Seed, content_type: str = "") -> Fetched:
        """Returns what is at a seed, or where it redirects to: on another host, that is a new seed."""
        while True:
            async with self._visit(seed) as visit:
                visit.deadline.start(self._page_seconds)
                request = page_request(visit, self._site)
                if content_type:
                    request.headers["Content-Type"] = content_type
                response = await self._answer(request)
            location = response.headers.get("Location")
            if response.status not in REDIRECT_STATUSES or location is None:
                return fetched(response)
            state = state_of(response.request)
            address = response.url + (state.route if state else "")
            try:
                routes = self._site.has_routes(seed.frontier)
                target = redirect_target(location.decode("utf-8", "replace"), address, routes=routes)
            except UrlError as error:
                raise UnavailableError(f"{address} leads to what isn't fetched: {error}") from None
            if seed.hops == MAX_HOPS:
                raise UnavailableError(f"{target} is one redirect too many")
            came_from = seed.stands_for or seed.url
            seed = replace(seed, url=target, method="GET", body="", hops=seed.hops + 1, stands_for=came_from)
            content_type = ""


def _checked(page: Fetched, statuses: Container[int] = ()) -> Fetched:
    """Returns an answer if it is a page.

    Args:
        statuses: Those that count as a page's, though they say that there is none.
    """
    if outcome_of_status(page.status) is not None and page.status not in statuses:
        raise UnavailableError(f"{page.url} answered {page.status}")
    return page

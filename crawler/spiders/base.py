"""What producer and consumer share: they differ in what they read from a page only."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider

from crawler import config, urls
from crawler.download.other_handlers import warn_of_other_handlers
from crawler.errors import ExtractError, UnavailableError, UrlError
from crawler.models import Fetched, Frontier
from crawler.worker.outcomes import REDIRECTS, Outcome, backoff_ms, of_exception, of_status, reason_of
from crawler.worker.request_state import RequestState, state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from crawler.sites import Site
    from crawler.worker.visits import Visit

MAX_HOPS = 5  # redirects to other hosts that one seed may lead through


class FrontierSpider(Spider, metaclass=ABCMeta):  # not ABC itself: zope marks it, which Scrapy's feeds stumble over
    """A spider whose requests come from the frontier. Subclasses say which one, and read pages in `read`.

    Attributes:
        retry_base_s: RETRY_BASE_SECONDS.
        retry_max_s: RETRY_MAX_SECONDS.
    """

    frontier: Frontier
    retry_base_s: float
    retry_max_s: float

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Builds the spider.

        Raises:
            ConfigError: A setting is wrong.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        warn_of_other_handlers(crawler.settings)
        spider.retry_base_s = config.number(crawler.settings, "RETRY_BASE_SECONDS", 0, 3_600)
        spider.retry_max_s = config.number(crawler.settings, "RETRY_MAX_SECONDS", 0, 86_400)
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Adds CONTACT to the User-Agent, unless the command line names one of its own."""
        super().update_settings(settings)
        if contact := str(settings["CONTACT"] or "").strip():
            settings.set("USER_AGENT", f"{settings['USER_AGENT']} (+{contact})", priority="spider")

    @cached_property
    def worker(self) -> Worker:
        """This process's share in the cluster; Scrapy builds spiders before extensions."""
        return Worker.of(self.crawler)

    async def start(self) -> AsyncIterator[Any]:
        """Yields nothing: seeds come from the frontier."""
        return
        yield  # makes this a generator, as Scrapy wants it

    @abstractmethod
    async def read(self, page: Fetched, visit: Visit, site: Site) -> Sequence[Any]:
        """Reads a page: returns its items, offers seeds.

        Raises:
            ExtractError: The page yields nothing; the seed fails with its reason.
        """

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        """Decides what an answer means for its seed, and reads it when it is a page."""
        visit = _visit_of(response.request)
        if visit.ended:
            return
        if response.status in REDIRECTS:
            await self._redirected(response, visit)
            return
        if outcome := of_status(response.status):
            self.settle(visit, outcome)
            return
        site = self.worker.sites.get(visit.seed.site)
        if site is None:
            visit.decide("fail", "unknown-site")
            return
        try:
            for item in await self.read(fetched(response), visit, site):
                yield item
        except ExtractError as error:
            self.logger.info("%s: %s", error, visit.seed.url)
            visit.decide("fail", reason_of(error.reason, "no-page"))
        except UnavailableError as error:
            self._give_up(visit, error)

    def errback(self, failure: Failure) -> None:
        """Ends the visit of a request that brought no answer."""
        visit = _visit_of(failure.request)  # type: ignore[attr-defined]  # Scrapy sets the request
        assert failure.value is not None  # it never is, but for Twisted's types
        outcome = of_exception(failure.value)
        self.logger.info("%s: %s (%s)", outcome.reason, visit.seed.url, failure.value)
        self.settle(visit, outcome, at_least_s=getattr(failure.value, "wait_s", 0.0))
        visit.fetch_ends()
        visit.part_ends()

    def settle(self, visit: Visit, outcome: Outcome, at_least_s: float = 0.0) -> None:
        """Decides a visit's end; a retry waits longer each time, and at least as long as the host asked."""
        wait_ms = backoff_ms(visit.claimed.tries, self.retry_base_s, self.retry_max_s)
        visit.decide(outcome.operation, outcome.reason, max(wait_ms, int(max(at_least_s, visit.lane.backoff_s) * 1000)))

    async def fetch(self, url: str, visit: Visit) -> Response:
        """Fetches a further page of the visit from the page's own host, on the turn it holds.

        Raises:
            Exception: What the download raised.
        """
        engine = self.crawler.engine
        assert engine is not None  # it runs us
        return await engine.download_async(Request(url, meta=RequestState(visit, visit.lane).meta(), dont_filter=True))

    async def _redirected(self, response: Response, visit: Visit) -> None:
        """Finishes the seed as `redirected`; the target, on another host, waits there for its own turn."""
        seed = visit.seed
        location = response.headers.get("Location")
        try:
            if not location:
                raise UrlError("a redirect without a target")  # noqa: TRY301 -- fares as one that leads nowhere
            target = urls.canonical(location.decode("utf-8", "replace"), response.url)
        except UrlError:
            visit.decide("fail", "bad-redirect")
            return
        if seed.hops >= MAX_HOPS:
            visit.decide("fail", "too-many-redirects")
            return
        moved = replace(seed, url=target, method="GET", body="", hops=seed.hops + 1)  # GET, as browsers do
        try:
            await self.worker.offers.offer([moved], seed.frontier)
        except UnavailableError as error:
            self._give_up(visit, error)
        visit.note = "redirected"

    def _give_up(self, visit: Visit, error: UnavailableError) -> None:
        """Hands a seed back whose page can't be done with here, by no fault of its own."""
        self.logger.info("%s: %s", error, visit.seed.url)
        visit.decide("release", "unavailable")


def _visit_of(request: Request | None) -> Visit:
    state = state_of(request)
    assert state is not None  # every request of these spiders comes from the scheduler or from `fetch`
    return state.visit


def fetched(response: Response) -> Fetched:
    """Returns a response as extraction sees it."""
    return Fetched(
        url=response.url,
        status=response.status,
        content_type=(response.headers.get("Content-Type") or b"").decode("latin-1"),
        body=response.body,
    )

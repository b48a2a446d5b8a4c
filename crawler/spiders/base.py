"""The base of producer and consumer, which differ only in what they read from a page.

What the annotations of callbacks and errbacks name is imported at run time: add-ons such as scrapy-poet look them up to
learn what a callback asks for, and a name that only type checkers see would fail every request.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import AsyncIterator  # noqa: TC003 -- a callback's annotation
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider
from scrapy.http import Response  # noqa: TC002 -- a callback's annotation
from twisted.python.failure import Failure  # noqa: TC002 -- a callback's annotation

from crawler import config
from crawler.base import log_events, reasons, urls
from crawler.base.errors import ExtractError, UnavailableError, UrlError
from crawler.base.models import Fetched, Frontier, SentOn
from crawler.base.reasons import Reason
from crawler.config import crawl_settings
from crawler.config.check import check, complete
from crawler.download.other_handlers import warn_of_other_handlers
from crawler.scope.scope import check_settings
from crawler.spiders.trial import Trial
from crawler.worker.life.required import refuse_command, require_parts
from crawler.worker.visits.moved_page import SharedTargets, has_moved
from crawler.worker.visits.outcomes import (
    MOVED_FOR_GOOD,
    OUT_OF_MEMORY,
    REDIRECT_STATUSES,
    Outcome,
    outcome_of_error,
    outcome_of_extract_error,
    outcome_of_redirect_error,
    outcome_of_status,
    retry_delay_ms,
)
from crawler.worker.visits.request_state import NOT_RENDERED, Purpose, RequestState, state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.base.models import Seed
    from crawler.extract import Links
    from crawler.sites import Site
    from crawler.worker.claiming.claiming import Claiming
    from crawler.worker.visits.visit import Visit

MAX_HOPS = 5  # most pages that one seed may lead through, each of which redirects to the next


class FrontierSpider(Spider, metaclass=ABCMeta):  # not ABC itself: zope marks it, which Scrapy's feeds stumble over
    """A spider whose requests come from the frontier. Subclasses read pages in `read`.

    Attributes:
        frontier: Which of the two frontiers; set by subclasses.
    """

    frontier: Frontier
    retry_base_s: float
    retry_max_s: float
    max_links: int
    shared_targets: SharedTargets

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Builds the spider."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        warn_of_other_handlers(crawler.settings)
        spider.retry_base_s = config.RETRY_BASE_SECONDS.of(crawler.settings)
        spider.retry_max_s = config.RETRY_MAX_SECONDS.of(crawler.settings)
        spider.max_links = config.MAX_LINKS_PER_PAGE.of(crawler.settings)
        spider.shared_targets = SharedTargets()
        return spider

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Switches on all that belongs to the crawl, checks all settings, and adds CONTACT to the User-Agent.

        Here alone: what a project switches on for all spiders would have any spider, and `scrapy shell`, take part in
        the crawl. What the command line says stays.

        Raises:
            HeadroomError: A setting has a value that it can't have, or a name that is none.
            SystemExit: A command such as `scrapy fetch --spider consumer` has put a request of its own in the place of
                the spider's.
        """
        if cls.start.__module__.startswith("scrapy.commands"):
            refuse_command(cls.name)
        super().update_settings(settings)
        crawl_settings.set_for_frontier(settings, cls.custom_settings)
        check(settings)
        require_parts(settings)
        check_settings(settings)
        complete(settings)
        if contact := config.CONTACT.of(settings):
            settings.set("USER_AGENT", f"{settings['USER_AGENT']} (+{contact})", priority="spider")

    @cached_property
    def worker(self) -> Worker:
        """The process's worker. Looked up when first needed: Scrapy builds extensions after spiders."""
        return Worker.of(self.crawler)

    @property
    def claiming(self) -> Claiming:
        """What the worker claims, settles and offers."""
        return self.worker.claiming

    async def start(self) -> AsyncIterator[Any]:
        """Yields nothing: seeds come from the frontier."""
        return
        yield  # makes this a generator, as Scrapy wants it

    @abstractmethod
    async def read(self, page: Fetched, visit: Visit, site: Site) -> Sequence[Any]:
        """Reads a page: returns its items, and offers the seeds that it leads to.

        Raises:
            ExtractError: The page yields nothing; the seed fails with the error's reason, or is tried again if the
                answer was empty.
            UnavailableError: The worker stops, or lacks what reading needs; the seed is released.
        """

    def is_answer(self, status: int, site: Site) -> bool:  # noqa: ARG002 -- for subclasses
        """Returns whether a page with a status that says that there is none is read all the same."""
        return False

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        """Reads an answer that is a page; decides the visit's outcome for any other."""
        visit = _state_of(response.request).visit
        if visit.ended:
            return
        if response.status in REDIRECT_STATUSES:
            await self._redirected(response, visit)
            return
        site = self.claiming.sites.get(visit.seed.site)
        assert site is not None  # KnownSiteMiddleware sends no request before it is known
        if (outcome := outcome_of_status(response.status)) and not self.is_answer(response.status, site):
            self.decide_outcome(visit, outcome)
            return
        page = fetched(response)
        if page.sent_on and not visit.seed.hops and has_moved(visit.seed, page.url, site):
            await self._hand_on(visit, page.url, site)  # behind what has set cookies on the way
            return
        try:
            for item in await self._read(page, response, visit, site):
                yield item
        except ExtractError as error:
            visit.error_text = str(error)
            outcome = outcome_of_extract_error(error, response.status)
            if page.gaps:  # what it lacks may be what was to be read
                outcome = Outcome("retry", outcome.reason)
            self.decide_outcome(visit, outcome)
        except UnavailableError as error:
            self._release(visit, error)
        except MemoryError:
            self.logger.warning(log_events.MEMORY_SHORT, visit.seed.url)
            self.decide_outcome(visit, OUT_OF_MEMORY)

    def errback(self, failure: Failure) -> None:
        """Decides the outcome of a visit whose request brought no answer, and ends its first part."""
        purpose = _state_of(failure.request).purpose  # type: ignore[attr-defined]  # Scrapy sets the request
        assert failure.value is not None  # it is never None, though Twisted's types allow it
        self._decide_by(failure.value, purpose.visit)
        if purpose.part is not None:
            purpose.part.end()

    async def _read(self, page: Fetched, response: Response, visit: Visit, site: Site) -> Sequence[Any]:
        """Reads a page; where its site leaves rendering to what a page lacks, as it came or rendered."""
        state = _state_of(response.request)
        if state.render is None:
            return await self.read(page, visit, site)
        read = partial(self.read, visit=visit, site=site)
        trial = Trial(self.worker.render_choice, site, visit.seed.frontier, read, page)
        if (outputs := await trial.as_it_came()) is not None:
            return outputs
        try:
            rendered = await state.render()
        except Exception as error:  # noqa: BLE001 -- whatever a download raises has an outcome
            if trial.does_without(error):
                return await self.read(page, visit, site)
            self._decide_by(error, visit)
            return ()
        rendered.request = response.request
        if rendered.status in REDIRECT_STATUSES:
            await self._redirected(rendered, visit)
            return ()
        return await trial.rendered(fetched(rendered))

    def _decide_by(self, error: BaseException, visit: Visit) -> None:
        """Decides a visit's outcome by what was raised while its page was fetched or rendered."""
        visit.error_text = str(error)
        self.decide_outcome(visit, outcome_of_error(error), at_least_s=getattr(error, "wait_s", 0.0))

    def decide_outcome(self, visit: Visit, outcome: Outcome, at_least_s: float = 0.0) -> None:
        """Decides a visit's outcome, and tells `given_up` where that ends its seed without a page.

        Args:
            at_least_s: The shortest delay until the seed is due again. A further lower bound is the host's backoff, and
                for a retry a delay that grows with each try.
        """
        delay_ms = int(max(at_least_s, visit.lane.backoff_s) * 1000)
        if outcome.operation == "retry":
            delay_ms = max(delay_ms, retry_delay_ms(visit.claimed.tries, self.retry_base_s, self.retry_max_s))
        if visit.end_as(outcome.operation, outcome.reason, delay_ms) and self.is_final(outcome, visit):
            self.given_up(visit)

    def is_final(self, outcome: Outcome, visit: Visit) -> bool:
        """Returns whether a visit with this outcome is its seed's last try."""
        if outcome.operation == "retry":
            return visit.claimed.tries + 1 >= self.worker.config.frontier.max_attempts
        return outcome.operation == "fail"

    def given_up(self, visit: Visit) -> None:
        """Called when it is decided that a visit's page can't be had."""

    async def fetch(self, url: str, visit: Visit, *, may_render: bool = False) -> Response:
        """Fetches a further page of the visit: from its own host on the visit's lane, from another on a turn of that.

        Args:
            url: Canonical.
            may_render: A browser renders it, where the site has its pages rendered.

        Raises:
            Exception: What the download raised.
        """
        engine = self.crawler.engine
        assert engine is not None  # visits exist only while the engine runs
        url, route = urls.split_route(url)
        lane = visit.lane if urls.host(url) == visit.lane.host else None
        meta = RequestState(Purpose(visit, lane, may_render=may_render), route).meta()
        return await engine.download_async(Request(url, meta=meta, dont_filter=True))

    async def count_left_out(self, links: Links, seed: Seed) -> None:
        """Counts the links of a page that aren't offered, in the crawl's statistics; some in the ledger.

        Raises:
            UnavailableError: The worker stops, and Redis is away.
        """
        assert self.crawler.stats is not None  # Scrapy makes the statistics before its spiders
        for stat, number in links.stats().items():
            self.crawler.stats.inc_value(stat, number)
        if links.routes:
            await self.claiming.offers.refuse(seed, reasons.UNOPENED_SCRIPT_ROUTES, links.routes)
        if links.nofollow:
            await self.claiming.offers.refuse(seed, reasons.NOFOLLOW, links.nofollow)

    async def count_out_of_scope(self, seed: Seed, refused: Mapping[str, int]) -> None:
        """Counts addresses that a plan's scope refuses, by filter: in the ledger, and in the crawl's statistics.

        Raises:
            UnavailableError: As `count_left_out`.
        """
        assert self.crawler.stats is not None  # as in `count_left_out`
        for name, number in refused.items():
            self.crawler.stats.inc_value(f"links/{reasons.SCOPE}{name}", number)
            await self.claiming.offers.refuse(seed, reasons.scope_note(name), number)

    async def _redirected(self, response: Response, visit: Visit) -> None:
        """Ends a visit whose page redirects to another one, and hands it on."""
        location = response.headers.get("Location")
        site = self.claiming.sites.get(visit.seed.site)
        assert site is not None  # as in `parse`
        try:
            if not location:
                raise UrlError("a redirect without a target")  # noqa: TRY301 -- fails as one to a wrong URL does
            routes = site.has_routes(visit.seed.frontier)
            url = response.url + _state_of(response.request).route
            target = urls.redirect_target(location.decode("utf-8", "replace"), url, routes=routes)
        except UrlError as error:
            self.decide_outcome(visit, outcome_of_redirect_error(error))
            return
        await self._hand_on(visit, target, site, for_good=response.status in MOVED_FOR_GOOD)

    async def _hand_on(self, visit: Visit, target: str, site: Site, *, for_good: bool = False) -> None:
        """Ends a visit as `redirected` to another host, or `moved` on its own; offers the page that it has led to."""
        is_own = urls.host(target) == visit.seed.host and visit.seed.frontier == "content"
        if is_own and not for_good and self.shared_targets.has_too_many(target):
            self.decide_outcome(visit, Outcome("retry", reasons.ALL_TO_ONE))
            return
        try:
            answers = [await self._moved(seed, target, site) for seed in visit.seeds]
        except UnavailableError as error:
            self._release(visit, error)
            return
        targets = [seed for seed in answers if not isinstance(seed, Reason)]
        if not targets:
            whys = {seed: why for seed, why in zip(visit.seeds, answers, strict=True) if isinstance(why, Reason)}
            self.decide_outcome(visit, Outcome("fail", visit.agree(whys)))
            return
        moved = [
            # GET, as browsers do
            replace(to, method="GET", body="", hops=to.hops + 1, stands_for=to.stands_for or visit.seed.url)
            for to in targets
            if to.hops < MAX_HOPS
        ]
        if not moved:
            self.decide_outcome(visit, Outcome("fail", reasons.TOO_MANY_REDIRECTS))
            return
        try:
            going_back = [seed for seed in moved if seed.named_by == seed.url]
            for seed in going_back:
                await self.claiming.offers.ask(seed, again=True)
            going_on = [seed for seed in moved if seed not in going_back]
            await self.claiming.offers.offer(going_on, visit.seed.frontier, edition=visit.seed.edition)
        except UnavailableError as error:
            self._release(visit, error)
        else:
            visit.note = reasons.MOVED if moved[0].host == visit.seed.host else reasons.REDIRECTED
            visit.moved_to = moved[0].url
            going = {seed.plan for seed in moved}
            visit.leave_out(*(seed for seed in visit.seeds if seed.plan not in going))

    async def _moved(self, seed: Seed, target: str, site: Site) -> Seed | Reason:
        """Returns the seed of a page at the address that it has moved to, or why its plan may not have it there.

        Raises:
            UnavailableError: What the plan says can't be had now.
        """
        if seed.general and seed.frontier == "content":
            crawl = await self.claiming.plan_crawls.of(seed)
            return crawl.redirect_refusal(seed, target, site) or crawl.moved(seed, target) or reasons.OUT_OF_SCOPE
        return replace(seed, url=target) if site.may_redirect(seed, target) else reasons.OUT_OF_SCOPE

    def _release(self, visit: Visit, error: UnavailableError) -> None:
        """Decides that a seed is released: it can't be finished here now, by no fault of its own."""
        visit.error_text = str(error)
        visit.end_as("release", reasons.UNAVAILABLE)


def _state_of(request: Request | None) -> RequestState:
    state = state_of(request)
    assert state is not None  # every request of these spiders comes from the scheduler or from `fetch`
    return state


def fetched(response: Response) -> Fetched:
    """Returns of a response what extraction reads."""
    state, request = state_of(response.request), response.request
    rendered = state.rendered if state else NOT_RENDERED
    asked = request.meta.get("redirect_urls", [request.url])[0] if request else response.url
    return Fetched(
        url=response.url + state.route if state else response.url,
        status=response.status,
        content_type=(response.headers.get("Content-Type") or b"").decode("latin-1"),
        body=response.body,
        sent_on=SentOn(asked, response.url) if asked != response.url else None,
        rendered=rendered.settled,
        gaps=rendered.gaps,
        loaded=rendered.loaded,
        robots_tags=tuple(value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")),
    )

"""Spider middleware that begins a part of the visit for each item and request that a callback yields."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.spider import iterate_spider_output

from crawler import config
from crawler.base import urls
from crawler.base.errors import UrlError
from crawler.base.item import Item, item_id
from crawler.middlewares import replaced_requests
from crawler.worker.visits.outcomes import outcome_of_callback_error, outcome_of_error, retry_delay_ms
from crawler.worker.visits.page_request import VERBATIM_URL
from crawler.worker.visits.request_part import RequestPart
from crawler.worker.visits.request_state import META_KEY, Purpose, RequestState, part_of, state_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from crawler.worker.visits.visit import Visit


class VisitSpiderMiddleware:
    """Begins a part for every item and request that a callback yields, and ends the callback's own part.

    `Delivery` ends the parts of items. No other spider middleware may stand between this one and the engine: what it
    dropped there would be waited for, and what it added would end the parts of others.

    Args:
        media: Whether the media of items are fetched; the visit's lane waits for them.
        retry_base_s: RETRY_BASE_SECONDS, for follow-up requests that fail.
        retry_max_s: RETRY_MAX_SECONDS, for the same.
    """

    def __init__(self, *, media: bool, retry_base_s: float, retry_max_s: float) -> None:
        self._media = media
        self._retry_base_s = retry_base_s
        self._retry_max_s = retry_max_s

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware."""
        settings = crawler.settings
        middleware = cls(
            media=bool(config.FILES_STORE.of(settings)),
            retry_base_s=config.RETRY_BASE_SECONDS.of(settings),
            retry_max_s=config.RETRY_MAX_SECONDS.of(settings),
        )
        crawler.signals.connect(middleware.raised, signal=signals.spider_error)
        crawler.signals.connect(middleware.scheduled, signal=signals.request_scheduled)

        def watch_downloader() -> None:
            assert crawler.engine is not None  # it opens the spider
            replaced_requests.watch(crawler.engine.downloader)

        crawler.signals.connect(watch_downloader, signal=signals.spider_opened, weak=False)
        return middleware

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Passes on what a callback yields, with a part begun for each; drops all after the visit has ended."""
        state = state_of(response.request)
        if state is None:
            async for output in result:
                yield output
            return
        visit, part = state.visit, state.purpose.part
        try:
            async for output in result:
                if visit.ended:
                    return
                if (begun := self._begin_part(output, visit)) is not None:
                    yield begun
        except (Exception, asyncio.CancelledError) as error:  # before the part ends: Scrapy tells of it only afterwards
            visit.end_as(*outcome_of_callback_error(error))
            raise
        finally:
            if part is not None:
                part.end()

    def raised(self, response: Response | Failure) -> None:
        """Ends the part of a callback that raised before it returned anything to iterate over."""
        if (part := part_of(getattr(response, "request", None))) is not None:
            part.end()

    def scheduled(self, request: Request) -> None:
        """Ends the part of a request that the scheduler isn't given, or doesn't take, for whatever reason."""
        if (part := part_of(request)) is not None:
            part.expect_queued()

    def _begin_part(self, output: Any, visit: Visit) -> Any:
        """Begins a part for an output; returns it. For None, which Scrapy ignores, no part would end."""
        if isinstance(output, Request):
            visit.leads_on = True
            return self._follow(output, visit)
        if output is not None:
            if isinstance(output, Item) and output.id == item_id(visit.claimed.fingerprint.hex()):
                visit.items += 1
            else:
                visit.leads_on = True
            visit.begin_part(fetches=self._media and isinstance(output, Item))
        return output

    def _follow(self, request: Request, visit: Visit) -> Request:
        """Ties a request of a user's callback to the visit: on the visit's lane, or on a turn acquired of another host.

        A request to another host doesn't keep the visit's lane: two visits could wait for each other's turns.

        Returns:
            The request, or a copy of one that has a state already: it may be yielded a second time, or be the one whose
            answer the callback reads, and each part of a visit ends by a state of its own.
        """
        if META_KEY in request.meta:
            request = request.copy()
        request.meta.pop(VERBATIM_URL, None)  # users copy the meta of one request to the next
        try:
            same_host = urls.host(urls.canonical(request.url)) == visit.lane.host
        except UrlError:
            same_host = True  # it fails on this lane, before anything is sent
        lane = visit.lane if same_host else None
        part = RequestPart(visit, keeps_lane=same_host)
        request.meta[META_KEY] = RequestState(Purpose(visit, lane, part=part))
        visit.begin_part(fetches=same_host)
        if getattr(request.errback, "func", None) != self._failed:  # a copy has it already
            request.errback = partial(self._failed, request.errback)
        return request

    async def _failed(self, errback: Callable[[Failure], Any] | None, failure: Failure) -> AsyncIterator[Any]:
        """Calls the request's own errback; without one, decides the visit's outcome as if its page had failed."""
        state = state_of(failure.request)  # type: ignore[attr-defined]  # Scrapy sets it
        assert state is not None and state.purpose.part is not None  # noqa: PT018 -- set by `_follow`
        visit = state.visit
        try:
            if errback is None:
                assert failure.value is not None  # it is never None, though Twisted's types allow it
                outcome = outcome_of_error(failure.value)
                delay_ms = retry_delay_ms(visit.claimed.tries, self._retry_base_s, self._retry_max_s)
                visit.end_as(outcome.operation, outcome.reason, delay_ms)
                return
            outputs = await ensure_awaitable(iterate_spider_output(errback(failure)))
            async for output in as_async_generator(outputs):
                if visit.ended:
                    return
                if (begun := self._begin_part(output, visit)) is not None:
                    yield begun
        finally:
            state.purpose.part.end()

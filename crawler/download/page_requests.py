"""What a page asks for while a browser renders it: requests of its visit like any other, by the crawl's own client.

They pass the downloader middlewares, so that turns and delays of hosts, robots.txt, scope, private addresses, sizes and
times hold for each of them, and for each hop of a redirect, since the browser asks for each hop by itself. What goes to
the page's own host runs on the visit's lane; for another host a turn is acquired, and released when the page asks that
host for nothing more. Meanwhile the visit holds its own lane, and another visit may hold the two the other way round:
so a turn is waited for no longer than OTHER_TURN_SECONDS, and then the page does without.
What a page may ask for, page_rules.py says.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from crawler.base import reasons, urls
from crawler.base.errors import UrlError
from crawler.download.page_rules import DATA, DOCUMENTS, may_ask, sent_headers
from crawler.download.script_cache import ScriptKey
from crawler.download.web_sockets import WebSocketRequest, WebSocketResponse
from crawler.render.exchange import PageAnswer, PageRequest
from crawler.worker.visits.outcomes import (
    PAGE_TIMEOUT,
    REDIRECT_STATUSES,
    Outcome,
    outcome_of_error,
    outcome_of_status,
)
from crawler.worker.visits.page_request import VERBATIM_URL
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import Purpose, RequestState
from crawler.worker.visits.visit import FetchFailed
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from contextlib import AbstractAsyncContextManager

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.download.script_cache import ScriptCache
    from crawler.download.web_sockets import CurlWebSocket
    from crawler.sites import Site
    from crawler.worker.visits.visit import Lane, Visit

T = TypeVar("T")
# Longest wait for a turn of another host, random so that of two pages one gives up first.
OTHER_TURN_SECONDS = (10.0, 20.0)
MAX_PAGE_BYTES = 64 * 1024 * 1024  # the most of all answers to one page: ten times what heavy applications load
CACHED = frozenset({"Script", "Stylesheet", "Font", "Image"})
NEEDED = DOCUMENTS | DATA | {"Script", "WebSocket"}  # a page that lacks one of these may lack text
NO_WEB_SOCKET = Outcome("fail", reasons.BAD_RESPONSE)
NOT_ASKED_BY_PAGES = Outcome("fail", reasons.NOT_ASKED_BY_PAGES)


class PageRequests:
    """Fetches for one page, which its visit has fetched already. It is a `crawler.render.exchange.Fetch`.

    Args:
        page: The answer that the browser is given for the page itself.
        cache: Of scripts and styles, for all pages of this process.

    Attributes:
        gaps: What the page lacks that another visit may have: why, by address.
        own_gap: The first of them that its own site should have given; None: there is none.
        leads_to: The page of another host, or out of its site's scope, that the page leads to by itself; empty: none.
    """

    def __init__(self, crawler: Crawler, visit: Visit, site: Site, *, page: Response, cache: ScriptCache) -> None:
        self._crawler, self._worker, self._visit, self._site = crawler, Worker.of(crawler), visit, site
        self._page: Response | None = page
        self._page_host = urls.host(urls.canonical(page.url))
        self._cache = cache
        self._lanes = _OtherLanes(self._worker, visit)
        self._bytes = 0
        self._fatal: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.gaps: dict[str, Outcome] = {}
        self.own_gap: Outcome | None = None
        self.leads_to = ""

    async def run(self, render: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Returns what the page's rendering returns, which ends with the first error that isn't the page's.

        Raises:
            Exception: That error, or what the rendering raised.
        """
        task = asyncio.ensure_future(render())
        ends: set[asyncio.Future[Any]] = {task, self._fatal}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if self._fatal.done():
                self._fatal.result()
            return task.result()
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def __call__(self, request: PageRequest) -> PageAnswer:
        """Returns the answer to one request of the page, or the page itself where it asks for that.

        Raises:
            RefusedError: The page may not ask for it, or may not have it now.
            Exception: What the download raised.
        """
        if self._page is not None and request.is_page:
            page, self._page = self._page, None  # asked for again, as by a reload, it is fetched again
            return _answer(page)
        try:
            self._check(request)
            response = await self._response(request)
            self._bytes += len(response.body)
        except Exception as error:
            self._note(request, outcome_of_error(error), error)
            raise
        if response.status not in REDIRECT_STATUSES and (outcome := outcome_of_status(response.status)):
            self._note(request, outcome)
        return _answer(response)

    @contextlib.asynccontextmanager
    async def connect(self, request: PageRequest) -> AsyncIterator[CurlWebSocket]:
        """Gives a WebSocket of the page, and closes it. Another host's turn is held as long as it is open.

        Raises:
            RefusedError: The page may not have it, or the server doesn't agree.
            Exception: What the download raised.
        """
        try:
            self._check(request)
            async with self._lane_of(urls.host(urls.canonical(request.url))) as lane:
                response = await self._download_on(request, lane)
                if not isinstance(response, WebSocketResponse):
                    raise RefusedError(outcome_of_status(response.status) or NO_WEB_SOCKET)  # noqa: TRY301 -- noted below
                try:
                    yield response.socket
                finally:
                    response.socket.close()
        except Exception as error:
            self._note(request, outcome_of_error(error), error)
            raise

    # -- What a page may ask ------------------------------------------------------------------------------------------

    def _check(self, asked: PageRequest) -> None:
        """Raises unless the page may ask for this.

        Raises:
            RefusedError: It may not.
        """
        try:
            url = urls.canonical(asked.url)
            shown = urls.canonical(asked.url + asked.fragment, routes=True)
        except UrlError:
            raise RefusedError(Outcome("fail", reasons.BAD_URL)) from None
        is_own = self._is_own(url)
        if asked.is_page and not (is_own and self._site.may_redirect(self._visit.seed, shown)):
            self.leads_to = shown
        if self.leads_to or not may_ask(asked, url, is_own=is_own):
            raise RefusedError(NOT_ASKED_BY_PAGES)
        if self._bytes > MAX_PAGE_BYTES:
            raise RefusedError(Outcome("fail", reasons.TOO_LARGE))

    def _is_own(self, url: str) -> bool:
        host = urls.host(url)
        return host == self._page_host or host in self._site.own_hosts

    # -- How it is had ------------------------------------------------------------------------------------------------

    async def _response(self, asked: PageRequest) -> Response:
        if asked.resource_type not in CACHED or asked.method != "GET":
            return await self._download(asked)
        has_own = bool(self._site.headers or self._site.cookies)
        key = ScriptKey(asked.url, self._site.name if has_own else "", asked.header("origin"))
        return await self._cache.get(key, lambda: self._download(asked))

    async def _download(self, asked: PageRequest) -> Response:
        async with self._lane_of(urls.host(urls.canonical(asked.url))) as lane:
            return await self._download_on(asked, lane)

    def _lane_of(self, host: str) -> AbstractAsyncContextManager[Lane]:
        """Gives the lane of a host: the visit's own, or one that is acquired."""
        own = self._visit.lane
        return contextlib.nullcontext(own) if host == own.host else self._lanes.lane_of(host)

    async def _download_on(self, asked: PageRequest, lane: Lane) -> Response:
        engine = self._crawler.engine
        assert engine is not None  # visits exist only while the engine runs
        state = RequestState(Purpose(self._visit, lane, page_cookies=asked.header("cookie")))
        meta = state.meta(dont_redirect=True)
        if urls.is_canonical(asked.url):
            meta[VERBATIM_URL] = True
        request_class = WebSocketRequest if asked.resource_type == "WebSocket" else Request
        request = request_class(
            asked.url,
            method=asked.method,
            headers=sent_headers(asked),
            body=asked.body,
            callback=NO_CALLBACK,
            meta=meta,
            dont_filter=True,
        )
        try:
            return await engine.download_async(request)
        except asyncio.CancelledError:  # the browser has died, or the page has gone on: middlewares aren't told of it
            if state.turn_use is not None:
                state.turn_use.lane.mark_start()  # the host may have got the request as late as now
            self._worker.turns.end_request(state)  # the visit may go on, and its lane with others
            raise

    # -- What becomes of it -------------------------------------------------------------------------------------------

    def _note(self, asked: PageRequest, outcome: Outcome, error: Exception | None = None) -> None:
        """Notes what the page doesn't get, and why."""
        if error is not None and (outcome.operation in ("release", "postpone") or outcome == PAGE_TIMEOUT):
            if not self._fatal.done():
                self._fatal.set_exception(error)
                self._fatal.exception()  # whoever renders the page may be gone: then nobody needs it
            return
        if outcome.operation == "fail" and outcome.reason in (reasons.NOT_ASKED_BY_PAGES, reasons.BAD_URL):
            return
        url = urls.canonical(asked.url)
        if outcome.leaves_gap and asked.resource_type in NEEDED:
            self.gaps.setdefault(url, outcome)
            if self._is_own(url):
                self.own_gap = self.own_gap or outcome
        failed = FetchFailed(urls.host(url), "rendering", outcome.reason, url, str(error) if error else "")
        self._worker.events.publish(failed)


class _OtherLanes:
    """The turns of other hosts that one page holds: one for each host, while the page has requests there."""

    def __init__(self, worker: Worker, visit: Visit) -> None:
        self._worker, self._visit = worker, visit
        self._held: dict[str, Lane] = {}
        self._users: dict[str, int] = {}
        self._acquiring: dict[str, asyncio.Lock] = {}
        self._refused: dict[str, RefusedError] = {}  # by host: the page waits for a turn there once

    @contextlib.asynccontextmanager
    async def lane_of(self, host: str) -> AsyncIterator[Lane]:
        """Gives the lane of a host.

        Raises:
            RefusedError: No turn was free in time.
            HostBackoffError: The host has a long backoff.
            HeadroomError: The worker stops, or the visit may fetch no more.
        """
        self._users[host] = self._users.get(host, 0) + 1
        try:
            async with self._acquiring.setdefault(host, asyncio.Lock()):
                if host in self._refused:
                    raise self._refused[host]
                if host not in self._held:
                    self._held[host] = await self._visit.run(self._acquire(host))
            yield self._held[host]
        finally:
            self._users[host] -= 1
            if not self._users[host] and (lane := self._held.pop(host, None)):
                self._worker.turns.release(lane)

    async def _acquire(self, host: str) -> Lane:
        turns, seconds = self._worker.turns, random.uniform(*OTHER_TURN_SECONDS)
        lane, wait_s = await turns.acquire_within(host, self._visit.seed.site, seconds)
        if lane is None:
            self._refused[host] = RefusedError(Outcome("retry", reasons.NO_TURN), wait_s)
            raise self._refused[host]
        turns.note_use(lane, self._visit)
        return lane


def _answer(response: Response) -> PageAnswer:
    headers = tuple((name, value) for name, values in response.headers.items() for value in values)
    return PageAnswer(response.status, headers, response.body)

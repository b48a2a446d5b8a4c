"""Downloader middleware that has a browser render the pages of sites that say so.

It stands before all others, so that it is the last to see an answer: the page has come by then, by the crawl's own
client, under all of its rules, and whatever was wrong with it is known. A browser is given the page, runs its scripts,
and asks for all that they want through `crawler/download/page_requests.py`. The spider gets the document as scripts
have left it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.http import HtmlResponse, Response

from crawler import config
from crawler.base import reasons
from crawler.base.models import LoadedJson
from crawler.download.page_requests import PageRequests
from crawler.download.script_cache import ScriptCache
from crawler.render import evidence
from crawler.render.errors import BrowserDiedError, BrowserMissingError, StepFailedError
from crawler.render.wish import Wish
from crawler.sites.steps import StepValues
from crawler.worker.rendering.render_slots import RenderSlots
from crawler.worker.visits.outcomes import (
    BROWSER_DIED,
    NO_BROWSER,
    NO_BROWSER_SECONDS,
    Outcome,
    outcome_of_status,
)
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import RenderedPage, state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.render.rendered import Rendered
    from crawler.render.renderer import Renderer
    from crawler.sites import Site
    from crawler.sites.render_rules import Rendering
    from crawler.worker.visits.request_state import RequestState
    from crawler.worker.visits.visit import Visit

HTML_TYPES = (b"text/html", b"application/xhtml+xml")
RESOURCE_TYPES = {"images": "Image", "fonts": "Font", "media": "Media"}  # the browser's names of what a site wants


class RenderMiddleware:
    """Puts the rendered document in the place of the page that came."""

    def __init__(self, crawler: Crawler, worker: Worker, pages_at_once: int) -> None:
        self._crawler, self._sites = crawler, worker.claiming.sites
        self._browser, self._choice = worker.browser, worker.render_choice
        self._max_attempts = worker.config.frontier.max_attempts
        self._evidence_folder = config.BROWSER_EVIDENCE_DIR.of(crawler.settings)
        self._renderer: Renderer | None = None  # made for the first page that needs it
        self._slots = RenderSlots(pages_at_once)
        self._cache = ScriptCache()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the middleware."""
        middleware = cls(crawler, Worker.of(crawler), config.BROWSER_PAGES_AT_ONCE.of(crawler.settings))
        crawler.signals.connect(middleware.close, signal=signals.spider_closed)
        return middleware

    async def close(self) -> None:
        """Ends the browser."""
        if self._renderer is not None:
            await self._renderer.close()

    def process_request(self, request: Request) -> None:
        """Lets requests pass, unless their answer is to be rendered and can't be here: then nothing is sent.

        Raises:
            RefusedError: There is no browser here; or the page is a script's route, and its site, by now, has no
                browser render it.
        """
        state = state_of(request)
        if state is None or not state.purpose.may_render:
            return
        frontier = state.visit.seed.frontier
        site = self._sites.get(state.visit.seed.site)
        if site is None:  # KnownSiteMiddleware refuses the request
            return
        when = site.render.of(frontier).when
        if state.route and when == "never":
            raise RefusedError(Outcome("fail", reasons.SCRIPT_ROUTE))
        if when != "never" and (when == "always" or state.route or self._choice.needs_browser(site, frontier)):
            self._check_browser()

    async def process_response(self, request: Request, response: Response) -> Response:
        """Returns the answer as it came, or the rendered page.

        Where a site leaves it to what a page lacks whether it is rendered, the spider finds that out, and has
        `state.render` for it.

        Raises:
            RefusedError: There is no browser here; or it died, which is no try of the page; or the page lacks what
                another visit may have.
            RenderError: The page can't be rendered, by its own fault.
            HeadroomError: The visit may fetch no more, or the session was lost.
        """
        state = state_of(request)
        if (
            state is None
            or not state.purpose.may_render
            or outcome_of_status(response.status)
            or not _is_html(response)
        ):
            return response
        site = self._sites.get(state.visit.seed.site)
        assert site is not None  # KnownSiteMiddleware sends no request before it is known
        rendering = site.render.of(state.visit.seed.frontier)
        if rendering.when == "never":
            return response
        if rendering.when == "auto" and self._is_read_first(state, site):
            state.render = partial(self._rendered, state, site, response)
            return response
        return await self._rendered(state, site, response)

    def _is_read_first(self, state: RequestState, site: Site) -> bool:
        """Returns whether a page is read as it came, of a site that leaves it to the crawl which are rendered."""
        if state.route:  # a page as it came is the same for all routes
            return False
        choice, frontier = self._choice, state.visit.seed.frontier
        return choice.reads_plain(site, frontier) if state.purpose.is_page else not choice.needs_browser(site, frontier)

    def _check_browser(self) -> None:
        """Raises `RefusedError` unless this worker has a browser, or may have one as far as is known."""
        if self._browser.why_no_browser:
            self._browser.is_wanted = True
            raise RefusedError(NO_BROWSER, NO_BROWSER_SECONDS)

    async def _rendered(self, state: RequestState, site: Site, response: Response) -> Response:
        """Returns the rendered page, or the redirect that its scripts make; `response`: the page as it came."""
        self._check_browser()
        visit = state.visit
        requests = PageRequests(self._crawler, visit, site, page=response, cache=self._cache)
        rendered = await self._render(visit, site, requests, response.url + state.route)
        if rendered is None:
            return _redirect(response, requests.leads_to)
        self._refuse_gaps(visit, requests)
        reads_json = site.xhr_of(visit.seed.frontier)
        loaded = LoadedJson.of(rendered.answers, rendered.left_out) if reads_json else None
        state.rendered = RenderedPage(rendered.settled, len(requests.gaps), loaded)
        return _response(rendered, response)

    async def _render(self, visit: Visit, site: Site, requests: PageRequests, url: str) -> Rendered | None:
        """Returns the rendered page; None: its scripts lead to another one, which `requests.leads_to` names."""
        fingerprint = visit.claimed.fingerprint
        # Other pages may have the browser first; then the renderer has a time limit of its own, and knows when it has
        # passed whether the page or the browser is at fault.
        with visit.deadline.paused():
            is_alone = await visit.run(self._slots.acquire(fingerprint))
            return await self._render_in_turn(visit, site, requests, url, is_alone=is_alone)

    async def _render_in_turn(
        self, visit: Visit, site: Site, requests: PageRequests, url: str, *, is_alone: bool
    ) -> Rendered | None:
        """Returns what `_render` does, once the page has its turn, and gives that back.

        Args:
            is_alone: No other page is in the browser: if that dies, it was this page.
        """
        fingerprint = visit.claimed.fingerprint
        try:
            renderer = self._renderer = self._renderer or _renderer(self._crawler.settings)
            frontier, step_values = visit.seed.frontier, StepValues(site.base, " ".join(visit.seed.keywords))
            xhr = site.xhr_of(frontier)
            wish = wish_of(site.render.of(frontier), step_values, xhr.found_in if xhr else None)
            connect = requests.connect if "websockets" in site.render.of(frontier).wants else None
            render = partial(renderer.render, url, wish=wish, fetch=requests, connect=connect)
            rendered = await visit.run(requests.run(render))
        except BrowserMissingError as error:
            self._browser.note_failed(str(error))
            raise RefusedError(NO_BROWSER, NO_BROWSER_SECONDS) from error
        except BrowserDiedError as error:
            if is_alone:
                raise RefusedError(Outcome("retry", reasons.BROWSER_DIED)) from error
            self._slots.suspect(fingerprint)
            raise RefusedError(BROWSER_DIED) from error
        except Exception as error:
            if requests.leads_to:
                return None
            if isinstance(error, StepFailedError):
                name = f"{visit.seed.site}-{'results' if visit.seed.frontier == 'nav' else 'content'}"
                await asyncio.to_thread(evidence.save, error, self._evidence_folder, name)
            raise
        finally:
            self._slots.release()
        self._slots.clear(fingerprint)
        return rendered

    def _refuse_gaps(self, visit: Visit, requests: PageRequests) -> None:
        """Leaves a page to a later try that lacks something of its own site, unless this is its last one."""
        is_last = visit.claimed.tries + 1 >= self._max_attempts
        if requests.own_gap and not is_last:
            raise RefusedError(requests.own_gap)


def _renderer(settings: BaseSettings) -> Renderer:
    """Returns what renders pages. Who renders none need not have Playwright, nor load it."""
    from crawler.render.renderer import Renderer

    return Renderer.from_settings(settings)


def wish_of(rendering: Rendering, step_values: StepValues, wants_json: Callable[[str], bool] | None = None) -> Wish:
    """Returns what the browser is told of how a site has its pages rendered.

    Args:
        step_values: What stands for the placeholders of its steps.
        wants_json: Of which addresses JSON is read; None: the page is read from its document alone.
    """
    settle = rendering.settle
    return Wish(
        selector=settle.selector.text.partition(":")[2].strip() if settle.selector else "",
        quiet_seconds=settle.quiet,
        cap_seconds=settle.cap,
        extra_types=frozenset(RESOURCE_TYPES[name] for name in rendering.wants if name in RESOURCE_TYPES),
        steps=tuple(step.played(step_values) for step in rendering.steps),
        page_seconds=rendering.seconds or 0.0,
        wants_json=wants_json,
    )


def _is_html(response: Response) -> bool:
    media_type = (response.headers.get("Content-Type") or b"text/html").partition(b";")[0]
    return media_type.strip().lower() in HTML_TYPES


def _response(rendered: Rendered, response: Response) -> Response:
    """Returns the document as scripts have left it, as an answer of the page's own address."""
    return HtmlResponse(
        response.url,
        status=rendered.status,
        headers={
            "Content-Type": "text/html; charset=utf-8",
            "X-Robots-Tag": response.headers.getlist("X-Robots-Tag"),
        },
        body=rendered.html.encode("utf-8", "replace"),  # scripts may write half a surrogate pair
        encoding="utf-8",
        flags=[*response.flags, "rendered"],
        ip_address=response.ip_address,
    )


def _redirect(response: Response, target: str) -> Response:
    target = target if "#" in target else f"{target}#"  # or else the page's own route would hold there, too
    return Response(response.url, status=302, headers={"Location": target}, ip_address=response.ip_address)

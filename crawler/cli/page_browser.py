"""Renders and explores pages for a person at a terminal: `scrapy site check --render`, `scrapy site explore`.

What pages load passes what a crawl's pages load by: `crawler/download/page_requests.py`.
"""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import orjson

from crawler import config
from crawler.base import page_json
from crawler.base.errors import HeadroomError, UnavailableError
from crawler.base.models import LoadedJson
from crawler.cli.json_outline import outline
from crawler.cli.page_fetcher import PageFetcher
from crawler.middlewares.rendering import HTML_TYPES, wish_of
from crawler.render import evidence
from crawler.render.chromium import why_no_browser
from crawler.render.errors import StepFailedError
from crawler.render.wish import Wish
from crawler.sites.steps import StepValues

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from scrapy.settings import Settings

    from crawler.base.models import Fetched, JsonAnswer
    from crawler.download.page_requests import PageRequests
    from crawler.download.web_sockets import CurlWebSocket
    from crawler.render.exchange import PageAnswer, PageRequest
    from crawler.render.exploration import ExplorationLimits
    from crawler.render.rendered import Rendered
    from crawler.render.renderer import Renderer
    from crawler.sites import Site
    from crawler.sites.render_rules import Rendering

PLAIN_TRIED = 5  # most answers of a page that are asked for once more, those first that its site names
MAX_UNANSWERED = 10  # most addresses that are shown; a page that lacks more lacks them for one reason


class PageBrowser:
    """A browser for pages of one site."""

    def __init__(self, settings: Settings, site: Site, fetcher: PageFetcher) -> None:
        self._settings, self._site, self._fetcher = settings, site, fetcher
        self._renderer: Renderer | None = None  # None until the first page: many a site never needs it

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings, site: Site, fetcher: PageFetcher) -> AsyncIterator[Self]:
        """Gives the browser, and ends it."""
        browser = cls(settings, site, fetcher)
        try:
            yield browser
        finally:
            if browser._renderer is not None:
                await browser._renderer.close()

    @staticmethod
    def takes(page: Fetched) -> bool:
        """Returns whether a page is one that browsers render; others are read as they come."""
        return (page.content_type.encode().partition(b";")[0].strip().lower() or b"text/html") in HTML_TYPES

    async def render(
        self, page: Fetched, rendering: Rendering, words: str = "", *, tries_plain: bool = False
    ) -> tuple[Fetched, dict[str, Any]]:
        """Returns a page as the browser has rendered it, and what it loaded meanwhile.

        Args:
            page: As it came.
            rendering: What its site says of that.
            words: What steps fill in for `{keywords}`.
            tries_plain: Asks for the JSON that the page loaded once more, to see whether that needs a browser.

        Returns:
            The page; and `rendered` (what it was complete by), `steps` (each that was played on it), `answers` (the
            JSON that it loaded, in order: `url`, `method`, `status`, whether it `is_read` by the site's `from`,
            `bytes`, what each `holds`, by JMESPath path, and whether it `is_plain`, to be had without a browser) and
            `unanswered` (what it didn't get, and why).

        Raises:
            HeadroomError: There is no browser, the page can't be rendered, or a step fails.
        """
        named = [xhr for xhr in (self._site.xhr_of("content"), self._site.xhr_of("nav")) if xhr]

        def is_read(url: str) -> bool:
            return any(xhr.found_in(url) for xhr in named)

        wish = wish_of(rendering, StepValues(self._site.base, words), is_read if named else None)
        has_sockets = "websockets" in rendering.wants
        rendered, unanswered = await self._rendered(page, wish, has_sockets=has_sockets)
        answers = _answers(rendered)
        if tries_plain:
            await self.note_plain(answers, rendered.answers)
        shown = {
            "rendered": rendered.settled,
            "steps": [asdict(step) for step in rendered.steps],
            "answers": answers,
            "unanswered": unanswered,
        }
        return _page(page, rendered, reads_loaded=bool(named)), shown

    async def note_plain(self, answers: list[dict[str, Any]], loaded: Sequence[JsonAnswer]) -> None:
        """Notes of the first answers that a page loaded whether the crawl gets them without a browser: `is_plain`."""
        gotten = [(shown, json) for shown, json in zip(answers, loaded, strict=True) if json.method == "GET"]
        for shown, json in sorted(gotten, key=lambda pair: not pair[1].is_wanted)[:PLAIN_TRIED]:
            try:
                plain = await self._fetcher.page(json.url)
            except HeadroomError:
                shown["is_plain"] = False
            else:
                shown["is_plain"] = page_json.is_alike(plain.body, json.body)

    async def all_of(self, page: Fetched, wish: Wish) -> Fetched:
        """Returns a page as the browser has rendered it, with all JSON that it loaded, whoever may read that."""
        rendered, _ = await self._rendered(page, replace(wish, wants_json=lambda _url: True))
        return _page(page, rendered, reads_loaded=True)

    async def _rendered(
        self, page: Fetched, wish: Wish, *, has_sockets: bool = False
    ) -> tuple[Rendered, dict[str, str]]:
        """Returns a rendered page, and what it didn't get, with the reason."""
        renderer = self._renderer = self._renderer or _renderer(self._settings)
        async with self._fetcher.requests_of(page) as requests:
            fetch = _NotingFetch(requests, self._fetcher)
            render = partial(renderer.render, page.url, wish=wish, fetch=fetch)
            try:
                rendered = await requests.run(partial(render, connect=fetch.connect if has_sockets else None))
            except StepFailedError as error:
                picture = evidence.save(error, config.BROWSER_EVIDENCE_DIR.of(self._settings), self._site.name)
                raise HeadroomError(f"{page.url}: {error}{picture and f'; what it looked like: {picture}'}") from error
            except Exception as error:
                if requests.leads_to:
                    raise UnavailableError(f"{page.url} leads by a script to {requests.leads_to}") from error
                if isinstance(error, HeadroomError):
                    raise
                raise self._fetcher.errors.explained(error, page.url) from error
        return rendered, fetch.unanswered


def _page(page: Fetched, rendered: Rendered, *, reads_loaded: bool) -> Fetched:
    """Returns a page with the document that scripts have left, and what it loaded, if that is read."""
    return replace(
        page,
        content_type="text/html; charset=utf-8",
        body=rendered.html.encode("utf-8", "replace"),
        rendered=rendered.settled,
        loaded=LoadedJson.of(rendered.answers, rendered.left_out) if reads_loaded else None,
    )


def _renderer(settings: Settings) -> Renderer:
    """Returns what starts a browser for its first page."""
    if why := why_no_browser(config.BROWSER_PATH.of(settings)):
        raise UnavailableError(why)
    from crawler.render.renderer import Renderer  # which imports what may be missing

    return Renderer.from_settings(settings)


async def explore(url: str, settings: Settings, site: Site, limits: ExplorationLimits) -> dict[str, Any]:
    """Returns what a page shows only once something is clicked, and by which steps.

    Returns:
        `url`; `states`, each with its `steps` as a site's file has them, and the `texts` and `links` that no state
        before it showed; how many `clicks` were tried, what was `passed_by` since it may change something, the
        `seconds` that it took, and whether it `is_whole`: nothing was left to click.

    Raises:
        HeadroomError: The page can't be fetched, as `PageFetcher.page_of` says, or not be rendered.
    """
    renderer = _renderer(settings)
    try:
        async with PageFetcher.open(settings, site) as fetcher:
            page = await fetcher.page_of(url, renders=True)
            async with fetcher.requests_of(page) as requests:
                exploration = await renderer.explore(page.url, wish=Wish(), fetch=requests, limits=limits)
    finally:
        await renderer.close()
    states = [
        {
            "steps": [{step.action: str(step.target)} for step in state.steps],
            "texts": state.texts,
            "links": state.links,
        }
        for state in exploration.states
    ]
    return {"url": page.url, "states": states} | {
        "clicks": exploration.clicks,
        "passed_by": exploration.passed_by,
        "seconds": round(exploration.seconds, 1),
        "is_whole": exploration.is_whole,
    }


class _NotingFetch:
    """What a page loads while it is rendered, of which it notes what gets no answer, and why."""

    def __init__(self, requests: PageRequests, fetcher: PageFetcher) -> None:
        self._requests, self._fetcher = requests, fetcher
        self.unanswered: dict[str, str] = {}

    async def __call__(self, request: PageRequest) -> PageAnswer:
        """Returns the answer to one request of the page, as `PageRequests` does."""
        with self._noting(request):
            return await self._requests(request)

    @asynccontextmanager
    async def connect(self, request: PageRequest) -> AsyncIterator[CurlWebSocket]:
        """Gives a WebSocket of the page, as `PageRequests` does."""
        with self._noting(request):
            async with self._requests.connect(request) as socket:
                yield socket

    @contextmanager
    def _noting(self, request: PageRequest) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if len(self.unanswered) < MAX_UNANSWERED:
                self.unanswered[request.url] = str(self._fetcher.errors.explained(error, request.url))
            raise


def _answers(rendered: Rendered) -> list[dict[str, Any]]:
    answers = []
    for answer in rendered.answers:
        try:
            holds = outline(page_json.loads(answer.body))
        except orjson.JSONDecodeError:
            holds = {}
        answers.append(
            {
                "url": answer.url,
                "method": answer.method,
                "status": answer.status,
                "is_read": answer.is_wanted,
                "is_plain": None,
                "bytes": len(answer.body),
                "holds": holds,
            }
        )
    return answers

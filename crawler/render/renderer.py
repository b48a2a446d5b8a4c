"""Renders pages in one browser of this worker, which starts when it is first needed and is replaced when it is worn."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from playwright.async_api import Error as PlaywrightError

from crawler import config
from crawler.base import log_events
from crawler.base.errors import UrlError
from crawler.render import chromium
from crawler.render.browser import Browser, died_error
from crawler.render.chromium import Guards
from crawler.render.errors import RenderError, RenderTimeoutError
from crawler.render.exploration import Explorer, ExplorerFetch
from crawler.render.open_page import OpenPage
from crawler.render.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from crawler.base.log_events import EventLogger
    from crawler.render.exchange import Connect, Fetch
    from crawler.render.exploration import Exploration, ExplorationLimits
    from crawler.render.rendered import Rendered
    from crawler.render.wish import Wish

T = TypeVar("T")
logger: EventLogger = logging.getLogger(__name__)

CLOSE_PAGE_SECONDS = 5.0  # how long a page may take to close, which takes 0.02 s; then its browser is ended


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """What a page, and a browser, may take.

    Attributes:
        page_seconds: From a page's start in the browser to its HTML, with all that it fetches.
        page_memory_bytes: Of the process that a page runs in.
        browser_pages: After which a browser is replaced by a new one.
        browser_seconds: Likewise, its age.
        browser_memory_bytes: Likewise, of all its processes.
    """

    page_seconds: float
    page_memory_bytes: int
    browser_pages: int
    browser_seconds: float
    browser_memory_bytes: int


class Renderer:
    """Renders pages; each sees nothing of the others, and has no way to the network but `fetch`.

    How many are open at once, its user decides: `crawler/worker/rendering/render_slots.py` in the crawl.

    Args:
        path: The setting BROWSER_PATH; empty: Chromium has one of its usual names on PATH.
        limits: What a page, and a browser, may take.
        guards: None: all that this machine allows.
    """

    def __init__(self, path: str, limits: RenderLimits, guards: Guards | None = None) -> None:
        self._path = path
        self._limits = limits
        self._guards = guards
        self._starting = asyncio.Lock()
        self._browser: Browser | None = None
        self._watches: dict[Browser, Watch] = {}
        # Tasks that close pages: a visit that is cancelled doesn't wait for them.
        self._closing: set[asyncio.Task[None]] = set()

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Renderer:
        """Returns the renderer of a worker with these settings; nothing is started."""
        limits = RenderLimits(
            page_seconds=config.PAGE_SECONDS.of(settings),
            page_memory_bytes=config.BROWSER_PAGE_MAX_BYTES.of(settings),
            browser_pages=config.BROWSER_RECYCLE_PAGES.of(settings),
            browser_seconds=config.BROWSER_RECYCLE_SECONDS.of(settings),
            browser_memory_bytes=config.BROWSER_RECYCLE_BYTES.of(settings),
        )
        return cls(config.BROWSER_PATH.of(settings), limits)

    async def render(self, url: str, *, wish: Wish, fetch: Fetch, connect: Connect | None = None) -> Rendered:
        """Returns a page as it is when it has settled.

        Args:
            connect: Opens the page's WebSockets; None: they fail.

        Raises:
            UrlError: The URL is none of http or https.
            RenderError: The page isn't rendered; its subclass says what ended it, where that is known.
            Exception: What `fetch` raised for the page itself.
        """
        return await self._with_page(url, wish, fetch, lambda page: page.render(url, connect))

    async def explore(self, url: str, *, wish: Wish, fetch: Fetch, limits: ExplorationLimits) -> Exploration:
        """Returns what a page shows only once something is clicked; only GETs are asked for, and no other page.

        Raises:
            UrlError: The URL is none of http or https.
            RenderError: The page can't be opened, or ends.
            Exception: What `fetch` raised for the page itself.
        """
        wish = replace(wish, page_seconds=limits.seconds + self._limits.page_seconds)
        return await self._with_page(url, wish, ExplorerFetch(fetch), lambda page: Explorer(page, limits).explore(url))

    async def _with_page(
        self, url: str, wish: Wish, fetch: Fetch, work: Callable[[OpenPage], Coroutine[Any, Any, T]]
    ) -> T:
        """Returns what some work makes of a page, which is closed then."""
        if not url.startswith(("http://", "https://")):
            raise UrlError(f"{url[:200]}: not http or https")
        browser = await self._usable_browser()
        browser.open_pages += 1
        browser.rendered += 1
        page = OpenPage(browser, wish, fetch)
        try:
            return await self._finish(page, browser, work(page), wish.page_seconds or self._limits.page_seconds)
        finally:
            closing = asyncio.create_task(self._close(page, browser), name="closing of a page")
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            await asyncio.shield(closing)

    async def close(self) -> None:
        """Ends the browser; pages that are being rendered fail with BrowserDiedError. Nothing of it is left behind."""
        async with self._starting:
            self._browser = None
            for browser in tuple(self._watches):
                await self._end(browser)
            await asyncio.gather(*self._closing, return_exceptions=True)

    async def _finish(self, page: OpenPage, browser: Browser, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """Returns what is made of the page, or raises what came first: its end, the browser's, the deadline."""
        rendering = asyncio.create_task(work, name="rendering of a page")
        try:
            ends: set[asyncio.Future[Any]] = {rendering, page.traffic.ended, browser.died}
            await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if page.traffic.ended.done():
                await page.traffic.ended
            if rendering.done():
                return rendering.result()
        except PlaywrightError as error:
            await _check_alive(browser, error)
            raise RenderError(f"the browser fails at it: {error.message.splitlines()[0]}") from error
        finally:
            rendering.cancel()
            await asyncio.gather(rendering, return_exceptions=True)
        await _check_alive(browser)
        at = f", at {page.at}" if page.at else ""
        raise RenderTimeoutError(f"the page wasn't ready within {seconds:g} s{at}")

    async def _usable_browser(self) -> Browser:
        """Returns the browser for a page, a new one if there is none or it is worn."""
        async with self._starting:
            if self._browser is not None and self._is_worn(self._browser):
                worn, self._browser = self._browser, None
                await self._end_if_unused(worn)
            if self._browser is None:
                path = chromium.find(self._path)
                guards = self._guards or Guards(has_namespace=await chromium.may_have_namespace())
                self._browser = await Browser.start(path, guards)
                self._watches[self._browser] = Watch(self._browser, self._limits.page_memory_bytes)
            return self._browser

    def _is_worn(self, browser: Browser) -> bool:
        limits = self._limits
        return (
            browser.died.done()
            or browser.rendered >= limits.browser_pages
            or browser.age_seconds >= limits.browser_seconds
            or self._watches[browser].memory_bytes >= limits.browser_memory_bytes
        )

    async def _close(self, page: OpenPage, browser: Browser) -> None:
        try:
            async with asyncio.timeout(CLOSE_PAGE_SECONDS):
                await page.close()
        except TimeoutError:
            logger.warning(log_events.BROWSER_ENDED)
            browser.kill()
        finally:
            browser.open_pages -= 1
            if browser is not self._browser:
                await self._end_if_unused(browser)

    async def _end_if_unused(self, browser: Browser) -> None:
        if not browser.open_pages and browser in self._watches:
            await self._end(browser)

    async def _end(self, browser: Browser) -> None:
        if watch := self._watches.pop(browser, None):  # None: its last page's closing has come first
            await watch.stop()
            await browser.close()


async def _check_alive(browser: Browser, error: Exception | None = None) -> None:
    """Ends a browser that answers no more.

    Args:
        error: What made one look.

    Raises:
        BrowserDiedError: The browser has ended, or answers no more.
    """
    if browser.died.done():
        raise died_error("has ended") from error
    if not await browser.answers():
        browser.kill()
        raise died_error("answers no more") from error

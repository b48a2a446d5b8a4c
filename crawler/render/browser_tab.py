"""Tabs of a browser, each in a context of its own, which go to a further page of the same origin once they are empty.

A new context costs a second of processor time, most of it for the process that its first page runs in. So a tab whose
page was rendered well is emptied and kept: the document goes, and so do cookies, whatever its origins have stored, what
the tab itself remembers, and its history. The next page finds nothing of the last one. A tab is closed instead if
anything of its page may be left: if documents of other origins came, steps were played, WebSockets were open, or
rendering failed.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Self

from playwright.async_api import Error as PlaywrightError

from crawler.render.errors import PageCrashedError, RenderError
from crawler.render.exchange import PageAnswer
from crawler.render.page_view import PageView

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import BrowserContext, Page, Request, ViewportSize

    from crawler.render.interception import Interception
    from crawler.render.page_sockets import PageSockets
    from crawler.render.traffic import PageTraffic

MAX_PAGES = 25  # most pages of one tab: what its process leaks goes with it, and a 25th of a new one's cost is little
MAX_KEPT = 8  # most tabs without a page, of all origins together: each is a process of some 30 MB
VIEWPORT: ViewportSize = {"width": 1_280, "height": 720}  # the window, in pixels
EMPTY_SECONDS = 2.0  # how long a tab may take to become empty: it takes 20 ms, and one that isn't by then is closed
# The page of an empty tab. It stands at the address of the page before, for what is remembered by origin, and for the
# process to stay: another page may get one of its own. It asks for nothing, not even an icon.
EMPTY = PageAnswer(
    200, ((b"Content-Type", b"text/html"),), b"<!DOCTYPE html><link rel=icon href=data:,><title>empty</title>"
)
# The path of the empty page, which is no page's: to an address that differs by what stands behind its # alone, the
# browser would not load anything.
EMPTY_PATH = "/.well-known/headroom-empty-tab"
FORGET = "() => { localStorage.clear(); sessionStorage.clear(); window.name = ''; }"


class BrowserTab:
    """A tab, alone in its context.

    Attributes:
        context: Playwright's.
        page: Likewise.
        session: The protocol's, with the tab.
        pages: How many it has had.
        has_crashed: Its process has ended, be it between two pages.
    """

    def __init__(self, context: BrowserContext, page: Page, session: Any, interception: Interception) -> None:
        self.context, self.page, self.session = context, page, session
        self.pages = 0
        self.has_crashed = False
        self._interception = interception
        self._traffic: PageTraffic | None = None
        self._has_opened = False
        self._frame = self._context_id = ""

    @classmethod
    async def open(
        cls,
        browser: PlaywrightBrowser,
        interception: Interception,
        sockets: PageSockets | None,
        opened: Callable[[Page], Awaitable[None]],
    ) -> Self:
        """Returns a new tab.

        Args:
            sockets: Carry the WebSockets of its page; None: they fail.
            opened: Called with each tab that its pages open.
        """
        context = await browser.new_context(
            accept_downloads=False,
            service_workers="block",  # they would answer for pages of their origin that come later
            viewport=VIEWPORT,
        )
        try:
            if sockets is not None:
                await sockets.attend(context)
            page = await context.new_page()
            tab = cls(context, page, await context.new_cdp_session(page), interception)
            context.on("page", tab._note_opened)
            context.on("page", opened)
            page.on("crash", tab._crashed)
            for ending in ("requestfinished", "requestfailed"):
                page.on(ending, tab._delivered)
            tab.session.on("Page.frameAttached", tab._frame_attached)
            await tab.session.send("Page.enable")
            target = (await tab.session.send("Target.getTargetInfo"))["targetInfo"]
            tab._frame, tab._context_id = target["targetId"], target["browserContextId"]
        except BaseException:  # if its page's time is over, say, the context would stay with nobody to close it
            with contextlib.suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(EMPTY_SECONDS):
                    await context.close()
            raise
        return tab

    async def give(self, traffic: PageTraffic) -> PageView:
        """Returns the tab for a page, whose requests are answered from now on."""
        self.pages += 1
        self._traffic = traffic
        self._interception.add(traffic, context=self._context_id, frame=self._frame)
        for frame in frames_in((await self.session.send("Page.getFrameTree"))["frameTree"]):
            self._interception.add_frame(traffic, frame)
        return self._view()

    async def try_to_empty(self, origin: str) -> bool:
        """Empties the tab; returns whether nothing of its page is left in it. If not, it must be closed."""
        self._traffic = None
        try:
            async with asyncio.timeout(EMPTY_SECONDS):
                self._interception.answer_with(self._frame, EMPTY)
                await self.page.goto(origin + EMPTY_PATH, wait_until="commit")
                await self._view().ask(FORGET)
                await self.session.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
                await self.context.clear_cookies()
                await self.session.send("Page.resetNavigationHistory")
                return not (self._has_opened or self.has_crashed)
        except (PlaywrightError, RenderError, TimeoutError):
            return False
        finally:
            self._interception.answer_no_more(self._frame)

    async def close(self) -> None:
        """Closes it with all that it has opened and stored; waits for as long as that takes."""
        with contextlib.suppress(PlaywrightError):  # the browser has ended, and the context with it
            await self.context.close()

    def _view(self) -> PageView:
        return PageView(self.page, self.page.main_frame, self.session, self._frame)

    # -- Told by the browser ------------------------------------------------------------------------------------------

    def _crashed(self, _page: Page) -> None:
        self.has_crashed = True
        if self._traffic is not None:
            self._traffic.end(PageCrashedError("the page's process has ended"))

    def _note_opened(self, _page: Page) -> None:
        self._has_opened = True

    def _delivered(self, request: Request) -> None:
        if self._traffic is not None:
            self._traffic.note_delivered(request.url)

    def _frame_attached(self, event: dict[str, Any]) -> None:
        if self._traffic is not None:
            self._interception.add_frame(self._traffic, event["frameId"])


class KeptTabs:
    """Empty tabs of one browser, for further pages of their origins."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, BrowserTab]] = []  # each with its origin; the tab that was left first stands first

    def take(self, origin: str) -> BrowserTab | None:
        """Returns a tab for a page of an origin, which is kept no more; None: there is none.

        Its process may have ended.
        """
        at = next((at for at, (own_origin, _tab) in enumerate(self._kept) if own_origin == origin), None)
        return None if at is None else self._kept.pop(at)[1]

    def keep(self, origin: str, tab: BrowserTab) -> BrowserTab | None:
        """Keeps an empty tab; returns the oldest one, to be closed, where there are too many."""
        self._kept.append((origin, tab))
        return self._kept.pop(0)[1] if len(self._kept) > MAX_KEPT else None


async def close_at_once(page: Page) -> None:
    """Closes a tab that a page opens: nobody reads it."""
    with contextlib.suppress(PlaywrightError):
        await page.close()


def frames_in(tree: dict[str, Any]) -> Iterator[str]:
    """Yields the protocol's ids of a frame and of all frames in it."""
    yield tree["frame"]["id"]
    for inner in tree.get("childFrames", ()):
        yield from frames_in(inner)

"""One page on its way through a browser: given a tab, settled, read, and its tab left empty or closed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from crawler.base.urls import origin_as_written
from crawler.render.browser_tab import MAX_PAGES, BrowserTab, close_at_once, frames_in
from crawler.render.errors import NoDocumentError, PageCrashedError, RenderError
from crawler.render.page_sockets import PageSockets
from crawler.render.page_view import POLL_SECONDS, PageView
from crawler.render.player import Player
from crawler.render.rendered import Rendered
from crawler.render.traffic import PageTraffic, is_attachment

if TYPE_CHECKING:
    from playwright.async_api import Page

    from crawler.base.models import Settled
    from crawler.render.browser import Browser
    from crawler.render.exchange import Connect, Fetch
    from crawler.render.wish import Wish

MAX_HTML_CHARACTERS = 32 * 1024 * 1024  # the longest HTML of a rendered page: as long as one answer may be
# The beginning of addresses of the browser's own pages, such as "This site can't be reached".
OWN_ERRORS = "chrome-error:"
# After how long a page that asks for nothing counts as quiet, though it changes for ever, as a clock does.
DOM_SECONDS = 2.0
MAX_TABS = 5  # most tabs that a page may open where a step leads to one; more are closed
STATE = """(selector) => {
  if (!self.watched || self.watched.document !== document) {
    const watched = self.watched = {document, changed: performance.now()};
    new MutationObserver(() => { watched.changed = performance.now(); })
      .observe(document, {subtree: true, childList: true, characterData: true});
  }
  return {
    found: selector !== "" && document.querySelector(selector) !== null,
    loaded: document.readyState === "complete",
    quiet: (performance.now() - self.watched.changed) / 1000,
  };
}"""
# What was kept stands before what is there now, unless it is still there. The copy of the document runs nothing. Open
# shadow roots are written as those that a page declares, in a <template>, which `crawler/extract/markup.py` opens.
HTML = """({most, kept}) => {
  let root = document.documentElement, inner = "";
  const shadowRoots = [];
  const look = (tree) => {
    for (const {shadowRoot} of tree.querySelectorAll("*")) {
      if (shadowRoot) look((shadowRoots.push(shadowRoot), shadowRoot));
    }
  };
  if (root) look(document);
  if (shadowRoots.length && root.getHTML) inner = root.getHTML({shadowRoots});
  if (root && (kept.length || inner)) {
    const copy = document.implementation.createHTMLDocument();
    root = copy.importNode(root, !inner);
    if (inner) root.innerHTML = inner;
    copy.replaceChild(root, copy.documentElement);
    for (const {css, html} of kept) {
      const found = [...copy.querySelectorAll(css)], there = new Set(found.map((element) => element.outerHTML));
      const lacking = html.filter((one) => !there.has(one)).join("");
      if (found.length) found[0].insertAdjacentHTML("beforebegin", lacking);
      else (copy.body || root).insertAdjacentHTML("beforeend", lacking);
    }
  }
  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
  const html = root ? root.outerHTML : "";
  return html.length > most ? null : doctype + html;
}"""


class OpenPage:
    """One page in a browser, and what it opens. No page finds what another has stored: see browser_tab.py.

    Attributes:
        traffic: What it asks for.
        quiet_seconds: For how long it must be quiet to count as settled.
    """

    def __init__(self, browser: Browser, wish: Wish, fetch: Fetch) -> None:
        self.traffic = PageTraffic(wish, fetch)
        self.quiet_seconds = wish.quiet_seconds
        self._browser = browser
        self._wish = wish
        self._tab: BrowserTab | None = None
        self._kept_for = ""  # the origin whose pages may have its tab then; empty: the tab goes with the page
        self._player: Player | None = None
        self._sockets: PageSockets | None = None
        self._opened: list[PageView] = []  # tabs that no step has led to
        self._number_opened = 0

    @property
    def at(self) -> str:
        """The step that is being done, in a line; empty: none."""
        return self._player.at if self._player else ""

    async def render(self, url: str, connect: Connect | None = None) -> Rendered:
        """Returns the page, once its steps are done and it has settled.

        Args:
            connect: Opens its WebSockets; None: they fail.

        Raises:
            NoDocumentError: There is none at this address.
            StepFailedError: A step can't be done.
            RenderError: The browser can't show it.
            PlaywrightError: The page, or the browser, has ended meanwhile.
        """
        self._sockets = PageSockets(url, connect, self.traffic) if connect else None
        place = await self._start(url)
        player = self._player = Player(self, place)
        if self._wish.steps:
            place.page.on("dialog", player.answer)
            await self._become_quiet(place)
            await player.play(self._wish.steps)
        settled = await self._settle(player.view, self._wish.selector)
        kept_parts = [{"css": css, "html": list(html)} for css, html in player.kept.items()]
        html = await player.view.ask(HTML, {"most": MAX_HTML_CHARACTERS, "kept": kept_parts})
        document = self.traffic.document
        if document is None:
            raise NoDocumentError("no document came")
        if player.view.frame.url.startswith(OWN_ERRORS):
            raise RenderError("the browser shows an error of its own: the page, or its frame, led to what it refuses")
        if html is None:
            raise PageCrashedError(f"the page has more than {MAX_HTML_CHARACTERS} characters of HTML")
        if not (self._wish.steps or self._sockets) and self.traffic.origins == {origin_as_written(url)}:
            self._kept_for = origin_as_written(url)
        return Rendered(
            player.view.frame.url,
            document.status,
            document.headers,
            html,
            settled,
            self.traffic.json.answers,
            self.traffic.json.left_out,
            tuple(player.played.values()),
        )

    async def open(self, url: str) -> PageView:
        """Returns the page once it is quiet, to be explored.

        Raises:
            RenderError: The browser can't show it.
        """
        view = await self._start(url)
        await self._become_quiet(view)
        return view

    async def reopen(self, view: PageView, url: str) -> None:
        """Loads the page anew, and waits until it is quiet."""
        self.traffic.begin_again()
        if "#" in url:  # where only that differs, the browser would stay at the document
            await view.page.goto("about:blank")
        await self._go(view.page, url)
        await self._become_quiet(view)

    async def close(self) -> None:
        """Ends the page with all that it has opened and stored; waits for as long as that takes."""
        self.traffic.stop()
        try:
            if self._sockets is not None:
                await self._sockets.close()
        finally:
            self._browser.interception.remove(self.traffic)
            if self._tab is not None:
                await self._leave(self._tab)

    def has_ended(self, error: Exception) -> bool:
        """Returns whether an error of Playwright's says that the page, or the browser, has ended."""
        # Below its first line stands what was tried, with words of the page and of its site.
        message = str(error).partition("\n")[0]
        return self.traffic.ended.done() or "has been closed" in message or "crashed" in message

    def next_opened(self) -> PageView | None:
        """Returns a tab that the page has opened and no step has led to, the oldest one; None: there is none."""
        return self._opened.pop(0) if self._opened else None

    async def is_quiet(self, place: PageView, enough_seconds: float) -> bool:
        """Returns whether a document is complete, has no request under way, and doesn't change.

        One that has had no request under way for `DOM_SECONDS` longer is quiet, even if it changes.

        Args:
            enough_seconds: For how long that must have been so.
        """
        state, traffic = await place.ask(STATE, ""), self.traffic.quiet_seconds()
        is_still = state["quiet"] >= enough_seconds or traffic >= enough_seconds + DOM_SECONDS
        return bool(state["loaded"] and traffic >= enough_seconds and is_still)

    # -- Its way ------------------------------------------------------------------------------------------------------

    async def _start(self, url: str) -> PageView:
        browser, origin = self._browser, origin_as_written(url)
        is_plain = not (self._wish.steps or self._sockets)
        tab = browser.kept.take(origin) if is_plain else None
        while tab is not None and tab.has_crashed:
            await tab.close()
            tab = browser.kept.take(origin)
        if tab is None:
            opened = self._keep_opened if self._wish.takes_tabs else close_at_once
            tab = await BrowserTab.open(browser.connection, browser.interception, self._sockets, opened)
        self._tab = tab
        view = await tab.give(self.traffic)
        await self._go(view.page, url)
        return view

    async def _leave(self, tab: BrowserTab) -> None:
        """Leaves a tab to a further page if nothing of this one is left in it; else it is closed."""
        origin = self._kept_for
        if self.traffic.ended.done() or not origin or tab.pages >= MAX_PAGES or not await tab.try_to_empty(origin):
            await tab.close()
        elif surplus := self._browser.kept.keep(origin, tab):
            await surplus.close()

    async def _attend(self, page: Page) -> tuple[Any, dict[str, Any]]:
        """Has the requests of a further tab answered; returns the protocol's session with it, and what it is there."""
        assert self._tab is not None
        for ending in ("requestfinished", "requestfailed"):
            page.on(ending, lambda request: self.traffic.note_delivered(request.url))
        session: Any = await self._tab.context.new_cdp_session(page)  # its methods take and give any JSON
        session.on("Page.frameAttached", self._add_frame)
        await session.send("Page.enable")
        for frame in frames_in((await session.send("Page.getFrameTree"))["frameTree"]):
            self._browser.interception.add_frame(self.traffic, frame)
        return session, (await session.send("Target.getTargetInfo"))["targetInfo"]

    def _add_frame(self, event: dict[str, Any]) -> None:
        self._browser.interception.add_frame(self.traffic, event["frameId"])

    async def _keep_opened(self, page: Page) -> None:
        """Keeps a tab that the page opens, for the step that leads there."""
        self._number_opened += 1
        if self._number_opened > MAX_TABS:
            await close_at_once(page)
            return
        with contextlib.suppress(PlaywrightError):  # the page has closed it again
            session, target = await self._attend(page)
            if self._player is not None:
                page.on("dialog", self._player.answer)
            self._opened.append(PageView(page, page.main_frame, session, target["targetId"]))

    async def _go(self, page: Page, url: str) -> None:
        try:
            await page.goto(url, wait_until="commit", timeout=0)  # who renders the page sets the deadline
        except PlaywrightError as error:
            if self.traffic.ended.done():
                raise
            if answer := self.traffic.document:  # it came, and the browser shows none: a download, or status 204
                what = "sent as an attachment" if is_attachment(answer) else f"of status {answer.status}"
                raise NoDocumentError(f"the answer is no document that a browser shows: it is {what}") from error
            raise RenderError(f"the browser can't open it: {error.message.splitlines()[0]}") from error

    async def _become_quiet(self, place: PageView) -> None:
        """Waits until something can be done on a page, or until it had its time to settle."""
        until = time.monotonic() + self._wish.cap_seconds
        while time.monotonic() < until:
            if await self.is_quiet(place, self.quiet_seconds):
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _settle(self, place: PageView, selector: str) -> Settled:
        """Waits until a document has settled, and returns what ended the wait."""
        wish, until = self._wish, time.monotonic() + self._wish.cap_seconds
        while time.monotonic() < until:
            state = await place.ask(STATE, selector)
            quiet = min(state["quiet"], self.traffic.quiet_seconds())
            is_quiet = state["loaded"] and quiet >= wish.quiet_seconds
            if state["found"] and (is_quiet or self.traffic.has_wanted_json):
                return "selector"
            if not selector and is_quiet:
                return "quiet"
            await asyncio.sleep(POLL_SECONDS)
        return "cap"

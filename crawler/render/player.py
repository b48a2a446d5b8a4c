"""Plays the steps of a site's file on a page: what a person would do there to see what is to be read.

Steps are selectors, keys and texts; nothing of them is run as a script. Elements are found and acted on by Playwright,
as a mouse and a keyboard would. After each step the page has time to become quiet, so that the next one finds what this
one has set off.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol
from urllib.parse import urljoin

from playwright.async_api import Error as PlaywrightError

from crawler.base.errors import short
from crawler.render.errors import StepFailedError
from crawler.render.page_view import POLL_SECONDS
from crawler.sites.render_step import PlayedStep

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Dialog, Locator

    from crawler.render.page_view import PageView
    from crawler.render.traffic import PageTraffic
    from crawler.sites.render_step import RenderStep, StepTarget

# How long past its timeout a step may go on: Playwright keeps that itself unless the page's process hangs.
HUNG_SECONDS = 2.0
PICTURE_SECONDS = 3.0  # how long a picture may take, which takes 0.1 s
MAX_PICTURE_BYTES = 1_000_000  # the largest picture; one of a window at this quality has some 60 kB
PICTURE_QUALITY = 50  # the pictures' quality in percent, at which text stays readable
GONE_SECONDS = 1.0  # how long a repetition waits for its element in a page that is quiet by then; without it, it ends
MAX_KEPT_CHARACTERS = 16 * 1024 * 1024  # the most that `keep` keeps, which is half of what a page may have
MAX_NEWS = 50_000  # most texts and links by which one document is told from another

# Numbers for the texts and the links of a document.
NEWS = """(most) => {
  const found = new Set();
  const add = (text) => {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    found.add(hash);
  };
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  while (found.size < most && walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    if (text) add(text);
  }
  for (const link of document.links) if (found.size < most) add(link.href);
  return [...found];
}"""
SCROLL = """() => {
  const area = document.scrollingElement || document.documentElement;
  if (area) area.scrollTo(0, area.scrollHeight);
}"""
KEEP = """({css, room}) => {
  const found = [...document.querySelectorAll(css)].map((element) => element.outerHTML);
  return found.reduce((sum, html) => sum + html.length, 0) > room ? null : found;
}"""


class _Gone(Exception):  # noqa: N818 -- no error: a repetition has come to its end
    """What a repeated step is about isn't there any more."""


class SteppedPage(Protocol):
    """What a player must know of the page that it plays steps on.

    Attributes:
        quiet_seconds: How long nothing may happen on the page until it counts as quiet.
        traffic: What the page asked for.
    """

    quiet_seconds: float
    traffic: PageTraffic

    def has_ended(self, error: Exception) -> bool:
        """Returns whether an error of Playwright's says that the page, or the browser, has ended."""

    def next_opened(self) -> PageView | None:
        """Returns a tab that the page has opened and no step has led to; None: there is none."""

    async def is_quiet(self, view: PageView, seconds: float) -> bool:
        """Returns whether nothing has happened in a document for so long."""


class Player:
    """Plays steps on one page.

    Attributes:
        view: The document that the next step is about.
        kept: What `keep` has kept: by selector, the HTML of elements, each once.
        played: The steps that were done.
        at: The step that is being done, in a line; empty: none.
    """

    def __init__(self, page: SteppedPage, view: PageView) -> None:
        self.view = self._top = view
        self.kept: dict[str, dict[str, None]] = {}
        self.played: dict[str, PlayedStep] = {}
        self.at = ""
        self._page = page
        self._first = view
        self._dialogs: RenderStep | None = None
        self._kept_characters = 0

    async def play(self, steps: tuple[RenderStep, ...]) -> None:
        """Plays all steps.

        Raises:
            StepFailedError: One can't be done.
            PlaywrightError: The page, or the browser, has ended meanwhile.
        """
        for number, step in enumerate(steps, 1):
            await self._play(step, str(number))
        self.at = ""

    async def answer(self, dialog: Dialog) -> None:
        """Answers a dialog of the page, as the last step about them says; without one it is dismissed.

        One that asks whether the page is really to be left is accepted: a step leads on.
        """
        with contextlib.suppress(PlaywrightError):  # the page is gone, and the dialog with it
            if dialog.type == "beforeunload":
                await dialog.accept()
            elif self._dialogs is not None and self._dialogs.name == "accept":
                await dialog.accept(self._dialogs.text)
            else:
                await dialog.dismiss()

    async def _play(self, step: RenderStep, number: str, *, is_repeated: bool = False) -> None:
        self.at = f"step {number}, {step}"
        started = time.monotonic()
        if step.action == "repeat":
            await self._repeat(step, number)
        else:
            self._leave_gone_frame()
            await self._do(step, number, is_repeated=is_repeated)
            if step.action in self._SETTING_OFF:
                await self._until_quiet(step.timeout_seconds)
        before = self.played.get(number)
        took, times = time.monotonic() - started, 1
        if before is not None:
            took, times = took + before.seconds, times + before.times
        self.played[number] = PlayedStep(number, str(step), took, times)

    async def _do(self, step: RenderStep, number: str, *, is_repeated: bool) -> None:
        try:
            async with asyncio.timeout(step.timeout_seconds + HUNG_SECONDS):
                if is_repeated and step.target and step.action in self._TO_ELEMENTS:
                    await self._expect(step.target)
                await self._ACTIONS[step.action](self, step)
        except (TimeoutError, PlaywrightError) as error:
            if self._page.has_ended(error):
                raise
            raise await self._failure(step, number, error) from error

    async def _repeat(self, repeat: RenderStep, number: str) -> None:
        """Plays steps again and again, until that brings nothing new, or one of them has nothing to act on."""
        seen = await self._news()
        for _ in range(repeat.times):
            try:
                for inner, step in enumerate(repeat.steps, 1):
                    await self._play(step, f"{number}.{inner}", is_repeated=True)
            except _Gone:
                return
            news = await self._news()
            if news <= seen:
                return
            seen |= news

    async def _news(self) -> set[object]:
        """Returns what tells the page from what it was before: texts and links that it shows, and wanted JSON."""
        return {*await self.view.ask(NEWS, MAX_NEWS), *self._page.traffic.json.wanted}

    # -- What is done -------------------------------------------------------------------------------------------------

    async def _goto(self, step: RenderStep) -> None:
        url = urljoin(self.view.page.url, step.text)
        if not url.startswith(("http://", "https://")):
            raise _refused("an address of http or https")
        self.view = self._top
        await self._top.page.goto(url, wait_until="commit", timeout=_ms(step))

    async def _wait(self, step: RenderStep) -> None:
        if step.target is not None:
            await self._element(step.target).wait_for(timeout=_ms(step))
        elif step.text == "quiet":
            if not await self._until_quiet(step.timeout_seconds, step.seconds):
                raise TimeoutError
        else:
            await asyncio.sleep(step.seconds)

    async def _act(self, step: RenderStep) -> None:
        """Does something to an element, or presses a key wherever the page has its focus."""
        if step.target is None:
            await self.view.page.keyboard.press(step.text)
        else:
            await self._TO_ELEMENTS[step.action](self._element(step.target), step, _ms(step))

    async def _scroll(self, step: RenderStep) -> None:
        """Scrolls to the end until an element is there, or else until that brings nothing new."""
        until = time.monotonic() + step.timeout_seconds
        seen: set[object] = set()
        for _ in range(step.times):
            if await self._is_there(step.target):
                return
            news = await self._news()
            if step.target is None and news <= seen:
                return
            seen |= news
            await self.view.ask(SCROLL)
            await self._until_quiet(until - time.monotonic())
        if step.target is not None and not await self._is_there(step.target):
            raise _refused(f"to find it by scrolling {step.times} times")

    async def _dialog(self, step: RenderStep) -> None:
        self._dialogs = step

    async def _frame(self, step: RenderStep) -> None:
        if step.target is None:
            self.view = self._top
        else:
            self.view = await self._until_there(step, partial(self.view.within, step.target.css))

    async def _switch_tab(self, step: RenderStep) -> None:
        async def opened() -> PageView | None:
            return self._page.next_opened()

        self.view = self._top = self._first if step.text == "first" else await self._until_there(step, opened)

    async def _until_there(self, step: RenderStep, look: Callable[[], Awaitable[PageView | None]]) -> PageView:
        """Returns the document that a look finds within the step's time.

        Raises:
            TimeoutError: It finds none.
        """
        until = time.monotonic() + step.timeout_seconds
        while time.monotonic() < until:
            if (view := await look()) is not None:
                return view
            await asyncio.sleep(POLL_SECONDS)
        raise TimeoutError

    async def _set_cookie(self, step: RenderStep) -> None:
        page = self.view.page
        await page.context.add_cookies([{"name": step.name, "value": step.text, "url": page.url}])

    async def _keep(self, step: RenderStep) -> None:
        assert step.target is not None
        room = MAX_KEPT_CHARACTERS - self._kept_characters
        parts = await self.view.ask(KEEP, {"css": step.target.css, "room": room})
        if parts is None:
            raise _refused(f"no more than {MAX_KEPT_CHARACTERS} characters in all")
        parts_of_selector = self.kept.setdefault(step.target.css, {})
        self._kept_characters += sum(len(html) for html in parts if html not in parts_of_selector)
        parts_of_selector.update(dict.fromkeys(parts))

    _TO_ELEMENTS: ClassVar[dict[str, Callable[[Locator, RenderStep, float], Awaitable[object]]]] = {
        "click": lambda element, _step, ms: element.click(timeout=ms),
        "hover": lambda element, _step, ms: element.hover(timeout=ms),
        "fill": lambda element, step, ms: element.fill(step.text, timeout=ms),
        "press": lambda element, step, ms: element.press(step.text, timeout=ms),
        "select": lambda element, step, ms: element.select_option(step.text, timeout=ms),
        "check": lambda element, step, ms: element.set_checked(step.is_checked, timeout=ms),
    }
    _ACTIONS: ClassVar[dict[str, Callable[[Player, RenderStep], Awaitable[None]]]] = {
        **dict.fromkeys(_TO_ELEMENTS, _act),
        "goto": _goto,
        "wait": _wait,
        "scroll": _scroll,
        "dialog": _dialog,
        "frame": _frame,
        "tab": _switch_tab,
        "cookie": _set_cookie,
        "keep": _keep,
    }
    _SETTING_OFF: ClassVar[frozenset[str]] = frozenset(_TO_ELEMENTS) | {"goto"}

    # -- On what ------------------------------------------------------------------------------------------------------

    def _element(self, target: StepTarget) -> Locator:
        return self._all(target).filter(visible=True).first

    def _all(self, target: StepTarget) -> Locator:
        frame = self.view.frame
        return frame.locator(f"css={target.css}") if target.css else frame.get_by_text(target.text)

    async def _is_there(self, target: StepTarget | None) -> bool:
        """Returns whether an element is there, seen or not."""
        return target is not None and await self._all(target).count() > 0

    async def _expect(self, target: StepTarget) -> None:
        """Waits for what a repeated step is about.

        Raises:
            _Gone: It isn't there, or can't be used.
        """
        element = self._element(target)
        try:
            await element.wait_for(timeout=GONE_SECONDS * 1_000)
            is_enabled = await element.is_enabled(timeout=GONE_SECONDS * 1_000)
        except PlaywrightError as error:
            if self._page.has_ended(error):
                raise
            raise _Gone from error
        if not is_enabled:
            raise _Gone

    def _leave_gone_frame(self) -> None:
        """Goes back to the page where its frame is gone, as on the next document."""
        if self.view.frame.is_detached():
            self.view = self._top

    # -- What follows -------------------------------------------------------------------------------------------------

    async def _until_quiet(self, seconds: float, quiet_seconds: float = 0.0) -> bool:
        """Returns whether the page, from now on, was quiet for some time within these seconds.

        Args:
            quiet_seconds: For how long; 0: as its site has it.
        """
        enough = quiet_seconds or self._page.quiet_seconds
        until = time.monotonic() + seconds
        await asyncio.sleep(min(enough, seconds))
        while time.monotonic() < until:
            if await self._page.is_quiet(self.view, enough):
                return True
            await asyncio.sleep(POLL_SECONDS)
        return False

    async def _failure(self, step: RenderStep, number: str, error: Exception) -> StepFailedError:
        """Returns the error that names a step, and why it can't be done, with a picture of the page."""
        why, picture = f"not done within {step.timeout_seconds:g} s", b""
        with contextlib.suppress(TimeoutError, PlaywrightError):
            async with asyncio.timeout(PICTURE_SECONDS):
                why = await self._why(step, error)
                picture = await self.view.page.screenshot(type="jpeg", quality=PICTURE_QUALITY)
        is_small = len(picture) <= MAX_PICTURE_BYTES
        return StepFailedError(number, f"{step}: {why}", picture if is_small else b"")

    async def _why(self, step: RenderStep, error: Exception) -> str:
        message = str(error).splitlines()[0] if str(error) else ""
        is_late = isinstance(error, TimeoutError) or "Timeout" in message
        if not is_late:
            return short(message.rpartition("Error: ")[2])
        within = f"within {step.timeout_seconds:g} s"
        if step.action == "tab":
            return f"no new tab {within}"
        if step.target is None:
            return f"not done {within}"
        matches = await self._all(step.target).count()
        if not matches:
            return f"nothing on the page matches {within}"
        return (
            f"{matches} on the page match, and none can be used {within}: hidden, covered, disabled or of another kind"
        )


def _ms(step: RenderStep) -> float:
    return step.timeout_seconds * 1_000


def _refused(expected: str) -> PlaywrightError:
    return PlaywrightError(f"expected {expected}")

"""One Chromium with what drives it, from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from crawler.render import chromium
from crawler.render.browser_tab import KeptTabs
from crawler.render.errors import BrowserDiedError, BrowserMissingError
from crawler.render.interception import Interception
from crawler.render.processes import BrowserProcesses
from crawler.render.profile import ProfileFolder

if TYPE_CHECKING:
    from playwright.async_api import Browser as PlaywrightBrowser
    from playwright.async_api import CDPSession, Playwright

    from crawler.render.chromium import Guards

logger = logging.getLogger(__name__)

START_SECONDS = 30.0  # how long a browser may take to start: half a second, or more where the processors are busy
ANSWER_SECONDS = 5.0  # how long a browser may take to answer: it does within ms, and one that takes longer is hung
CLOSE_SECONDS = 5.0  # how long a browser may take to end, which it does within 0.1 s; then it is killed


class Browser:
    """One Chromium.

    Attributes:
        connection: Playwright's, with it.
        session: The protocol's session with the browser itself.
        interception: Answers what its pages ask for.
        processes: Its processes.
        open_pages: How many are being rendered.
        rendered: How many were, or are, since its start.
        kept: Empty tabs for further pages.
        died: Done when it has ended, whatever ended it.
    """

    def __init__(
        self,
        driver: Playwright,
        connection: PlaywrightBrowser,
        session: CDPSession,
        folder: ProfileFolder,
        interception: Interception,
    ) -> None:
        self.connection = connection
        self.session = session
        self.interception = interception
        self.processes = BrowserProcesses(str(folder.path))
        self.open_pages = self.rendered = 0
        self.kept = KeptTabs()
        self.died: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._driver = driver
        self._folder = folder
        self._started_at = time.monotonic()
        connection.once("disconnected", lambda _: self._end())

    @classmethod
    async def start(cls, path: str, guards: Guards) -> Browser:
        """Returns a browser that has started and whose requests pause.

        Raises:
            BrowserMissingError: It doesn't start on this node; what it left is removed.
        """
        async with contextlib.AsyncExitStack() as undo:
            folder = await asyncio.to_thread(ProfileFolder)
            undo.push_async_callback(asyncio.to_thread, folder.remove)
            command = chromium.command(path, folder.path, guards)
            try:
                driver = await async_playwright().start()
                undo.push_async_callback(driver.stop)
                # With a profile of its own, Playwright makes no folder that it would leave if it is killed.
                first = await driver.chromium.launch_persistent_context(
                    folder.path / "profile",
                    executable_path=command[0],
                    args=command[1:],
                    ignore_default_args=True,
                    env=chromium.environment(folder.path),
                    artifacts_dir=folder.path,
                    handle_sigint=False,  # the worker decides how it ends
                    handle_sigterm=False,
                    handle_sighup=False,
                    timeout=START_SECONDS * 1_000,
                )
                browser = first.browser
                assert browser is not None
                session = await browser.new_browser_cdp_session()
                interception = Interception(session)
                await interception.start()
            except PlaywrightError as error:
                why = folder.lacks_room() or _reason(error)
                raise BrowserMissingError(f"{path} doesn't start: {why}") from error
            undo.pop_all()
            return cls(driver, browser, session, folder, interception)

    @property
    def age_seconds(self) -> float:
        """For how long it has been running."""
        return time.monotonic() - self._started_at

    async def answers(self) -> bool:
        """Returns whether it answers: if not, it has ended or is hung."""
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                await self.session.send("Browser.getVersion")
                return True
        return False

    def kill(self) -> None:
        """Ends it at once: the renderings of its pages fail with BrowserDiedError."""
        self._end()
        self.processes.kill()

    async def close(self) -> None:
        """Ends it, and removes what it left."""
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.connection.close()
        except (PlaywrightError, TimeoutError):
            self.kill()
        self._end()
        with contextlib.suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._driver.stop()
        await asyncio.to_thread(self._folder.remove)

    def _end(self) -> None:
        if not self.died.done():
            self.died.set_result(None)


def _reason(error: PlaywrightError) -> str:
    """Returns the line of a failed start's report that says most: Chromium's own last words, if there are any."""
    lines = [line.strip() for line in error.message.splitlines() if line.strip()]
    chromium_lines = [line for line in lines if "[err]" in line]
    return (chromium_lines or lines)[-1] if lines else "no reason given"


def died_error(how: str) -> BrowserDiedError:
    """Returns the error of a page whose browser is lost.

    Args:
        how: What the browser did, such as `has ended`.
    """
    return BrowserDiedError(f"the browser {how}; its pages are rendered again")

"""A document that is looked at: that of a tab, or of a frame in it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from crawler.render.errors import PageCrashedError, RenderError
from crawler.render.traffic import MAX_DOCUMENTS

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

# How often a page is asked whether it has settled, which takes some 0.5 ms; it waits for half of it.
POLL_SECONDS = 0.05
# Pages are asked in a world of its own, which doesn't see what their scripts make of `document` or of the clock.
WORLD = "headroom"
# What the protocol says where the page has gone on to another document, which has another such world.
LEFT = ("Cannot find context", "No frame for given id", "Inspected target navigated", "context was destroyed")


class PageView:
    """A tab's document, or a frame's, whichever that has by now.

    Args:
        session: The protocol's, with the tab.
        frame_id: The frame's, by the protocol.

    Attributes:
        page: The tab.
        frame: The frame; that of the tab itself where it is none of its frames.
    """

    def __init__(self, page: Page, frame: Frame, session: Any, frame_id: str) -> None:
        self.page = page
        self.frame = frame
        self._session = session
        self._frame_id = frame_id
        self._world = 0

    async def ask(self, function: str, argument: object = None) -> Any:
        """Returns what a function of JavaScript returns about the document.

        Raises:
            RenderError: The function raises, or the page never stays at a document.
            PlaywrightError: The tab is closed.
        """
        result = await self._evaluate(f"({function})({json.dumps(argument)})", returnByValue=True)
        return result.get("value")

    async def within(self, css: str) -> PageView | None:
        """Returns the frame that a selector finds; None: it finds none."""
        quoted = json.dumps(css)
        owner = await self._evaluate(f"document.querySelector({quoted})")
        handle = await self.frame.query_selector(f"css={css}")
        frame = await handle.content_frame() if handle else None
        if frame is None or "objectId" not in owner:
            return None
        node = (await self._session.send("DOM.describeNode", {"objectId": owner["objectId"]}))["node"]
        return PageView(self.page, frame, self._session, node["frameId"]) if "frameId" in node else None

    async def _evaluate(self, expression: str, **options: object) -> dict[str, Any]:
        for _ in range(MAX_DOCUMENTS):
            try:
                return await self._evaluate_once(expression, options)
            except PlaywrightError as error:
                if not any(words in error.message for words in LEFT):
                    raise
                self._world = 0
                await asyncio.sleep(POLL_SECONDS)
        raise PageCrashedError("the page never stays at a document")

    async def _evaluate_once(self, expression: str, options: dict[str, object]) -> dict[str, Any]:
        if not self._world:
            world = await self._session.send(
                "Page.createIsolatedWorld", {"frameId": self._frame_id, "worldName": WORLD}
            )
            self._world = world["executionContextId"]
        answer = await self._session.send(
            "Runtime.evaluate", {"expression": expression, "contextId": self._world, **options}
        )
        if "exceptionDetails" in answer:
            raise RenderError(f"the page can't be asked: {answer['exceptionDetails']['exception']['description']}")
        result: dict[str, Any] = answer["result"]
        return result

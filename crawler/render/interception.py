"""Every request of a browser pauses here, and is answered by what fetches for its page.

The protocol's Fetch domain, asked for on a session with the browser itself, pauses documents, every hop of a redirect,
frames, scripts of workers of all kinds and what these ask for. (Sessions with pages miss shared and service workers;
Playwright's routes miss redirects.) A request names its frame, or its worker; which page that belongs to, the browser
says. One that belongs to no page fails.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from crawler.render.exchange import PageAnswer, PageRequest

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

    from crawler.render.traffic import PageTraffic

logger = logging.getLogger(__name__)

NEW_TAB_SECONDS = 2.0  # how long it may take until a tab is known: some 20 ms after its document has come
WORKERS = frozenset({"worker", "shared_worker", "service_worker"})  # the protocol's names of workers
# The body reaches the browser decoded.
LEFT_OUT = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


class Interception:
    """Answers what a browser's pages ask for.

    Args:
        session: With the browser itself.
    """

    def __init__(self, session: CDPSession) -> None:
        self._session: Any = session  # its methods take and give any JSON
        self._by_context: dict[str, PageTraffic] = {}
        self._by_frame: dict[str, PageTraffic] = {}
        self._page_frames: set[str] = set()
        self._empty: dict[str, PageAnswer] = {}  # by frame: the document of a tab without a page
        self._awaited: dict[str, asyncio.Event] = {}  # by frame: requests that wait until it is known whose it is
        self._answering: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Has every request pause, from now on."""
        self._session.on("Fetch.requestPaused", self._paused)
        await self._session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    def add(self, traffic: PageTraffic, *, context: str, frame: str) -> None:
        """Has the requests of a page answered. Its context, by the protocol's id, has no other page."""
        self._by_context[context] = traffic
        self._by_frame[frame] = traffic
        self._page_frames.add(frame)

    def add_frame(self, traffic: PageTraffic, frame: str) -> None:
        """Has the requests of a frame answered as those of its page."""
        self._by_frame[frame] = traffic
        if added := self._awaited.pop(frame, None):
            added.set()

    def remove(self, traffic: PageTraffic) -> None:
        """Answers no more requests of a page."""
        self._by_context = {context: other for context, other in self._by_context.items() if other is not traffic}
        self._by_frame = {frame: other for frame, other in self._by_frame.items() if other is not traffic}
        self._page_frames &= self._by_frame.keys()

    def answer_with(self, frame: str, document: PageAnswer) -> None:
        """Has every document of a tab without a page answered by this one; all else that it asks for fails."""
        self._empty[frame] = document

    def answer_no_more(self, frame: str) -> None:
        """Takes `answer_with` back."""
        self._empty.pop(frame, None)

    def _paused(self, event: dict[str, Any]) -> None:
        task = asyncio.create_task(self._answer(event), name="answer to a rendered page")
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(PlaywrightError):  # the page, or the browser, is gone: nobody waits for the answer
            frame = event.get("frameId", "")
            if (empty := self._empty.get(frame)) and event.get("resourceType") == "Document":
                await self._fulfil(event["requestId"], empty)
                return
            traffic = self._by_frame.get(frame) or await self._traffic_of(frame)
            request = _request(event, is_of_page_frame=frame in self._page_frames)
            answer = await traffic.ask(request) if traffic and request else None
            if answer is None or not await self._fulfil(event["requestId"], answer):
                await self._fail(event)

    async def _traffic_of(self, frame: str) -> PageTraffic | None:
        """Returns the page that a worker belongs to, or a tab that the page has opened and may keep."""
        targets = (await self._session.send("Target.getTargets"))["targetInfos"]
        for target in targets:
            if target["targetId"] == frame:
                traffic = self._by_context.get(target.get("browserContextId", ""))
                if target["type"] in WORKERS or (traffic and traffic.takes_tabs and target["type"] == "page"):
                    return traffic
        if any(traffic.takes_tabs for traffic in self._by_context.values()):
            await self._until_added(frame)
        return self._by_frame.get(frame)  # by now it may have been added

    async def _until_added(self, frame: str) -> None:
        """Waits for the frame of a tab that a page has opened, of which its page hears last."""
        added = self._awaited.setdefault(frame, asyncio.Event())
        try:
            async with asyncio.timeout(NEW_TAB_SECONDS):
                await added.wait()
        except TimeoutError:
            self._awaited.pop(frame, None)

    async def _fulfil(self, request_id: str, answer: PageAnswer) -> bool:
        """Returns whether the browser has taken the answer; it refuses what is no HTTP."""
        headers = b"\0".join(
            name + b": " + value
            for name, value in answer.headers
            if name.lower() not in LEFT_OUT and not set(name + value) & set(b"\0\r\n")
        )
        try:
            await self._session.send(
                "Fetch.fulfillRequest",
                {
                    "requestId": request_id,
                    "responseCode": answer.status,
                    "binaryResponseHeaders": base64.b64encode(headers).decode(),
                    "body": base64.b64encode(answer.body).decode(),
                },
            )
        except PlaywrightError as error:
            logger.debug("The browser takes no answer of status %s: %s", answer.status, error)
            return False
        return True

    async def _fail(self, event: dict[str, Any]) -> None:
        # A document that is aborted leaves the page as it was; other reasons put a page of the browser's in its place.
        reason = "Aborted" if event.get("resourceType") == "Document" else "BlockedByClient"
        await self._session.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": reason})


def _request(event: dict[str, Any], *, is_of_page_frame: bool) -> PageRequest | None:
    """Returns a request as the browser tells of it; None: it is none of HTTP, or its body isn't told."""
    request = event["request"]
    entries = request.get("postDataEntries", [])
    body = b"".join(base64.b64decode(entry.get("bytes", "")) for entry in entries)
    if not request["url"].startswith(("http://", "https://")) or (request.get("hasPostData") and not body):
        return None
    resource_type = event.get("resourceType", "Other")
    return PageRequest(
        url=request["url"],
        method=request["method"],
        headers=tuple(request["headers"].items()),
        body=body,
        resource_type=resource_type,
        is_page=resource_type == "Document" and is_of_page_frame,
        fragment=request.get("urlFragment", ""),
    )

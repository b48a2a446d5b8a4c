"""WebSockets of a page, where its site wants them: each is opened by what fetches for the page, and carried to it.

The browser has no network, so that a WebSocket of its own fails. Playwright puts another class in its place in the page
and its frames, before any script runs; what that sends and gets passes here. Workers keep the browser's class.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from functools import partial
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

from crawler.base.urls import origin_as_written
from crawler.render.exchange import PageRequest

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, WebSocketRoute

    from crawler.render.exchange import Connect, PageSocket
    from crawler.render.traffic import PageTraffic

logger = logging.getLogger(__name__)

MAX_SOCKETS = 20  # most sockets that a page opens in all; chats and dashboards have one or two
MAX_BYTES = 16 * 1024 * 1024  # the most that all messages of a page take, both ways: as much as the JSON that it loads
# Codes with which a page's socket is closed (RFC 6455, 7.4): at its end, and two of those that applications may choose.
ENDED, REFUSED, TOO_MUCH = 1000, 3000, 3009
ANY_ADDRESS = "**/*"


class PageSockets:
    """The WebSockets of one page.

    Args:
        url: Of the page, which the server is told the origin of.
        connect: Opens each.
        traffic: Told when one is being opened, and of each message, so that the page doesn't count as quiet.
    """

    def __init__(self, url: str, connect: Connect, traffic: PageTraffic) -> None:
        self._origin = origin_as_written(url)
        self._connect = connect
        self._traffic = traffic
        self._carrying: set[asyncio.Task[None]] = set()
        self._opened = self._bytes = 0

    async def attend(self, context: BrowserContext) -> None:
        """Has all WebSockets of a context's pages carried that are made from now on."""
        await context.route_web_socket(ANY_ADDRESS, partial(self._open, context))

    async def close(self) -> None:
        """Ends them all."""
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)

    async def _open(self, context: BrowserContext, route: WebSocketRoute) -> None:
        """Returns when a socket is open, or has failed: only then does its page hear of it."""
        self._opened += 1
        if self._opened > MAX_SOCKETS or not route.url.startswith(("ws://", "wss://")):
            await route.close(code=REFUSED)
            return
        is_decided = asyncio.Event()
        task = asyncio.create_task(self._carry(context, route, is_decided), name="WebSocket of a rendered page")
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)
        await is_decided.wait()

    async def _carry(self, context: BrowserContext, route: WebSocketRoute, is_decided: asyncio.Event) -> None:
        """Opens a socket, and carries its messages until either side ends it."""
        sent: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        # Ends with the closing code once the page has closed the socket, or used up what it may.
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def take(message: str | bytes) -> None:
            if self._has_room(message):
                sent.put_nowait(message)
            elif not ended.done():  # what waits for a slow server counts, too
                ended.set_result(TOO_MUCH)

        route.on_message(take)
        route.on_close(lambda _code, _reason: sent.put_nowait(None))
        code = REFUSED
        try:
            async with contextlib.AsyncExitStack() as stack:
                with self._traffic.waiting():
                    socket = await stack.enter_async_context(self._connect(await self._request(context, route)))
                is_decided.set()
                code = await self._relay(route, socket, sent, ended)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the page has a socket that failed
            logger.debug("A page's WebSocket at %s: %s", route.url, error)
        finally:
            is_decided.set()
        with contextlib.suppress(PlaywrightError):  # the page is gone
            await route.close(code=code)

    async def _request(self, context: BrowserContext, route: WebSocketRoute) -> PageRequest:
        url = "http" + route.url.removeprefix("ws")
        cookies = await context.cookies(url)
        headers = [("Origin", self._origin)]
        if protocols := route.protocols:
            headers.append(("Sec-WebSocket-Protocol", ", ".join(protocols)))
        if cookies:
            headers.append(("Cookie", "; ".join(f"{cookie.get('name')}={cookie.get('value')}" for cookie in cookies)))
        return PageRequest(url, "GET", tuple(headers), b"", "WebSocket", is_page=False)

    async def _relay(
        self,
        route: WebSocketRoute,
        socket: PageSocket,
        sent: asyncio.Queue[str | bytes | None],
        ended: asyncio.Future[int],
    ) -> int:
        """Carries messages both ways; returns the code by which the page's socket is to be closed."""

        async def to_page() -> int:
            while (message := await socket.receive()) is not None:
                if not self._has_room(message):
                    return TOO_MUCH
                route.send(message)
            return ENDED

        async def to_server() -> int:
            while (message := await sent.get()) is not None:
                await socket.send(message)
            return ENDED

        tasks = [asyncio.create_task(to_page()), asyncio.create_task(to_server())]
        try:
            done, _ = await asyncio.wait([*tasks, ended], return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _has_room(self, message: str | bytes) -> bool:
        """Notes a message; returns whether the page may have it."""
        self._traffic.note_message()
        self._bytes += len(message if isinstance(message, bytes) else message.encode("utf-8", "surrogatepass"))
        return self._bytes <= MAX_BYTES

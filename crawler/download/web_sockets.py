"""WebSockets over libcurl: opened as any request is, under all rules of the crawl.

Whoever wants one sends a `WebSocketRequest` through the engine, with the http(s) address that stands for the socket's:
turns, robots.txt, scope, headers and private addresses are judged as for any request. `CurlDownloadHandler` opens the
socket, and the answer has it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

import pycurl
from scrapy import Request
from scrapy.http import Response

from crawler.base import reasons
from crawler.base.errors import AnswerError

if TYPE_CHECKING:
    from crawler.download.curl_loop import CurlLoop
    from crawler.download.transfer import Transfer

OPENED = 101  # the status of an answer that makes a connection a WebSocket (RFC 6455, 4.2.2)
READ_BYTES = 64 * 1024
MAX_MESSAGE_BYTES = 4 * 1024 * 1024  # the longest message; what chat servers and dashboards send has kilobytes


class WebSocketRequest(Request):
    """Asks for a WebSocket at an http(s) address; its headers may name `Sec-WebSocket-Protocol`."""


class WebSocketResponse(Response):
    """The answer to a `WebSocketRequest` whose server agreed.

    Attributes:
        socket: Open; whoever gets the answer closes it.
    """

    attributes = (*Response.attributes, "socket")

    def __init__(self, url: str, *, socket: CurlWebSocket, **options: Any) -> None:
        super().__init__(url, **{"status": OPENED, **options})
        self.socket = socket


class CurlWebSocket:
    """An open WebSocket.

    Whoever closes it must have ended what receives and sends.

    Args:
        transfer: Of the request that opened it. It has the connection, and ends with the socket.
    """

    def __init__(self, curl_loop: CurlLoop, transfer: Transfer) -> None:
        self._curl_loop, self._curl = curl_loop, transfer.curl
        self._transfer = transfer  # its callbacks may still be called
        self._sending = asyncio.Lock()
        self._is_closed = False

    async def receive(self) -> str | bytes | None:
        """Returns the next message; None: the server has closed the socket, or the connection is lost.

        Raises:
            AnswerError: The message has more than `MAX_MESSAGE_BYTES`, or is no UTF-8 though it says so.
        """
        pieces: list[bytes] = []
        size, receive = 0, partial(self._curl.ws_recv, READ_BYTES)
        while not self._is_closed:
            try:
                data, frame = await self._curl_loop.when_ready(self._curl, receive, writes=False)
            except pycurl.error:
                return None
            if frame.flags & pycurl.WS_CLOSE:
                return None
            if frame.flags & (pycurl.WS_PING | pycurl.WS_PONG):  # libcurl has answered
                continue
            pieces.append(bytes(data))
            size += len(data)
            if size > MAX_MESSAGE_BYTES:
                raise AnswerError(reasons.TOO_LARGE, f"a WebSocket's message has more than {MAX_MESSAGE_BYTES} bytes")
            if frame.bytesleft or frame.flags & pycurl.WS_CONT:
                continue
            return _message(b"".join(pieces), is_text=bool(frame.flags & pycurl.WS_TEXT))
        return None

    async def send(self, message: str | bytes) -> None:
        """Sends a message; one that the connection takes no more is dropped, and `receive` tells that it is lost."""
        flags = pycurl.WS_TEXT if isinstance(message, str) else pycurl.WS_BINARY
        data = message.encode("utf-8", "replace") if isinstance(message, str) else message
        async with self._sending:
            try:
                while not self._is_closed:
                    send = partial(self._curl.ws_send, data, flags)
                    sent = await self._curl_loop.when_ready(self._curl, send, writes=True)
                    data = data[sent:]
                    if not data:
                        return
            except pycurl.error:
                return

    def close(self) -> None:
        """Ends the connection; it may be closed before."""
        if not self._is_closed:
            self._is_closed = True
            self._curl_loop.stop(self._curl)
            self._curl.close()


def _message(data: bytes, *, is_text: bool) -> str | bytes:
    """Returns a message as its frames say it.

    Raises:
        AnswerError: It is no UTF-8 though it says so.
    """
    if not is_text:
        return data
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise AnswerError(reasons.BAD_RESPONSE, "a WebSocket's text is no UTF-8") from None

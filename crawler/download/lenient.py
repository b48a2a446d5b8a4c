"""Reads answers that libcurl refuses for a line in their head, and browsers don't.

libcurl has no option for that, so a head is filtered before its parser sees it. A first handle opens the connection as
for any request, with the same addresses, proxy, TLS and errors, and then only carries bytes (CONNECT_ONLY). A second
handle makes the request and parses the answer, in HTTP/1.1 over one end of a pair of sockets, under the same bounds as
for any request. The code here moves the bytes between the two:

    parsing handle <-> pair of sockets <-> HeadFilter on answers <-> connecting handle <-> server
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pycurl

from crawler.base.errors import AnswerError
from crawler.download.curl_errors import error_of
from crawler.download.curl_loop import TransferEnd
from crawler.download.curl_options import set_timeout
from crawler.download.head_filter import HeadFilter
from crawler.download.transfer import SocketForCurl

if TYPE_CHECKING:
    from crawler.download.curl_loop import CurlLoop
    from crawler.download.transfer import Transfer

READ_BYTES = 64 * 1024
_CUT_OFF = (pycurl.E_GOT_NOTHING, pycurl.E_PARTIAL_FILE)  # what libcurl says when a connection ends too early


async def run_filtered(loop: CurlLoop, connecting: Transfer, parsing: Transfer, deadline_s: float) -> TransferEnd:
    """Runs a transfer over a connection that another handle opens. Returns how it ended; `parsing` has the answer.

    Args:
        connecting: Its handle is set to connect only.
        parsing: Its handle is set to the request as it goes over that connection.
        deadline_s: When all of it ends at the latest, by `time.monotonic()`.
    """
    set_timeout(connecting.curl, deadline_s)
    try:
        end = await loop.start(connecting.curl, connect_only=True)
        if end.code:
            parsing.error = connecting.error or error_of(end, connecting)
            return end
        set_timeout(parsing.curl, deadline_s)
        end = await _Relay(loop, connecting.curl, parsing).run()
        parsing.address = connecting.address
        return end
    finally:
        loop.stop(connecting.curl)


class _Relay:
    """Moves bytes between an open connection and the handle that parses what comes."""

    def __init__(self, curl_loop: CurlLoop, connection: pycurl.Curl, parsing: Transfer) -> None:
        self._curl_loop = curl_loop
        self._loop = asyncio.get_running_loop()
        self._connection = connection
        self._parsing = parsing
        self._failure: TransferEnd | None = None  # how the connection failed

    async def run(self) -> TransferEnd:
        """Returns how the transfer ended: by the connection's error, where the parser saw no more than an end."""
        curl, (ours, theirs) = self._parsing.curl, socket.socketpair()
        curl.setopt(pycurl.RESOLVER_START_FUNCTION, lambda: 0)  # its URL has an address, which isn't connected to
        curl.setopt(pycurl.OPENSOCKETFUNCTION, lambda _purpose, _address: SocketForCurl(theirs))
        curl.setopt(pycurl.SOCKOPTFUNCTION, lambda _socket, _purpose: pycurl.SOCKOPT_ALREADY_CONNECTED)
        ours.setblocking(False)  # noqa: FBT003 -- Python's signature
        with ours, theirs:
            try:
                async with asyncio.TaskGroup() as relays:
                    tasks = [relays.create_task(relay(ours)) for relay in (self._send_request, self._receive_answer)]
                    end = await self._curl_loop.start(curl)
                    for task in tasks:
                        task.cancel()
            finally:
                self._curl_loop.stop(curl)
        head = self._parsing.head
        cut_off = end.code in _CUT_OFF if end.code else head is None or not head.delimited
        return self._failure if self._failure is not None and cut_off else end

    async def _send_request(self, ours: socket.socket) -> None:
        connection = self._connection
        while data := await self._loop.sock_recv(ours, READ_BYTES):
            while data:
                try:
                    sent = await self._curl_loop.when_ready(connection, partial(connection.send, data), writes=True)
                except pycurl.error:  # the server wants no more of it; its answer may say why
                    return
                data = data[sent:]

    async def _receive_answer(self, ours: socket.socket) -> None:
        head, connection = HeadFilter(), self._connection
        receive = partial(connection.recv, READ_BYTES)
        try:
            while data := await self._curl_loop.when_ready(connection, receive, writes=False):
                await self._loop.sock_sendall(ours, head.feed(data))
        except pycurl.error as error:
            self._failure = TransferEnd(*error.args)
        except AnswerError as error:
            self._parsing.error = error
        except OSError:  # the parser wants no more, and has closed its end
            return
        with suppress(OSError):  # the parser has closed its end
            ours.shutdown(socket.SHUT_WR)

"""Scrapy's download handler over libcurl: HTTP/1.1 and HTTP/2 at a small part of the CPU of Scrapy's own over Twisted.

Exceptions, signals and the keys of `meta` are those of Scrapy's handlers. Two things differ: `response.certificate` is
None; and a request that was lost with a kept connection, or that a server of HTTP/2 refused, is sent again no sooner
than its host's turn allows.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pycurl
from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no types
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    StopDownload,
)
from scrapy.utils.datatypes import LocalCache

from crawler import config
from crawler.base import reasons
from crawler.base.errors import AnswerError
from crawler.base.scrapy_private import check_stop_download, get_maxsize_msg, get_warnsize_msg
from crawler.base.urls import canonical, hostname
from crawler.download import curl_options
from crawler.download.curl_errors import OddHeadError, error_of, is_whole
from crawler.download.curl_loop import CurlLoop
from crawler.download.curl_options import CurlOptions, is_safe
from crawler.download.lenient import run_filtered
from crawler.download.response import make_response
from crawler.download.targets import Targets, scheme_and_authority, url_to_send
from crawler.download.transfer import TooLargeError, Transfer
from crawler.download.web_sockets import CurlWebSocket, WebSocketRequest, WebSocketResponse
from crawler.worker.visits.outcomes import PAGE_STATUSES
from crawler.worker.visits.request_state import state_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.download.curl_loop import TransferEnd
    from crawler.download.response import Head
    from crawler.download.targets import Target
    from crawler.worker.visits.request_state import RequestState

T = TypeVar("T")

logger = logging.getLogger(__name__)
# The time of a request without `download_timeout`, as in Scrapy's handlers; DOWNLOAD_TIMEOUT sets that.
TIMEOUT_SECONDS = 10.0
# Most hosts whose heads libcurl refuses, or who refuse HTTP/2, that are known: some 200 bytes each.
HOSTS_REMEMBERED = 10_000


class CurlDownloadHandler(BaseDownloadHandler):
    """Downloads what Scrapy asks for. A download for a visit ends with it: the seed may be somebody else's by then.

    Where libcurl refuses a head for a line that browsers skip, the request is sent once more, when its turn allows, and
    the answer read leniently (lenient.py); so are all later answers of that host.
    """

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._targets = Targets.from_settings(settings)
        self._options = CurlOptions.from_settings(settings)
        self._max_bytes = config.DOWNLOAD_MAXSIZE.of(settings)
        self._warn_bytes = config.DOWNLOAD_WARNSIZE.of(settings)
        self._fails_on_loss = config.DOWNLOAD_FAIL_ON_DATALOSS.of(settings)
        self._senders = (id(crawler.signals.sender), id(dispatcher.Any))
        self._idle: list[Transfer] = []  # their handles serve the next simple requests
        # Hosts whose heads libcurl refuses, by scheme and authority.
        self._odd_hosts: LocalCache[str, None] = LocalCache(HOSTS_REMEMBERED)
        # Hosts who refuse HTTP/2, by scheme and authority.
        self._http1_hosts: LocalCache[str, None] = LocalCache(HOSTS_REMEMBERED)
        self._curl_loop: CurlLoop | None = None

    async def close(self) -> None:
        """Ends all connections."""
        if self._curl_loop is not None:
            self._curl_loop.close()
            self._curl_loop = None

    async def download_request(self, request: Request) -> Response:
        """Returns the response.

        Raises:
            SessionLostError: The visit was abandoned or released meanwhile; the connection is closed.
            PageTimeoutError: The time of the request's page was up meanwhile; the connection is closed.
            PrivateAddressError: The host has only private addresses, or one that a proxy must not be asked for.
            AnswerError: What came is no answer that a page could be had from.
            DownloadTimeoutError: Scrapy's, as the following: `download_timeout` was up.
            CannotResolveHostError: The host has no address.
            DownloadConnectionRefusedError: Nobody listens there.
            DownloadCancelledError: The answer is larger than `download_maxsize`.
            NodeError: This node has no file descriptor or memory left; or an OSError that says so.
            DownloadFailedError: libcurl failed in a way that isn't known here.
            UnsupportedURLSchemeError: libcurl can't use the URL or the proxy.
            StopDownload: A receiver of a signal said so, with `fail`; it has the response.
        """
        started_s = time.monotonic()
        if isinstance(request, WebSocketRequest):
            return await self._open_web_socket(request, started_s)
        if self._odd_hosts and scheme_and_authority(request.url) in self._odd_hosts:
            return await self._download(request, started_s, lenient=True)
        try:
            return await self._download(request, started_s)
        except OddHeadError:
            self._odd_hosts[scheme_and_authority(request.url)] = None
            if not is_safe(request):
                raise
        started_s += await self._wait_to_resend(request)
        return await self._download(request, started_s, lenient=True)

    async def _download(self, request: Request, started_s: float, *, lenient: bool = False) -> Response:
        timeout_s: float = request.meta.get("download_timeout") or TIMEOUT_SECONDS
        target = await self._find_target(request, timeout_s)
        loop = self._curl_loop = self._curl_loop or CurlLoop()
        simple = not lenient and curl_options.is_simple(request)
        # A lenient transfer opens no connection of its own: `_run_lenient` does so, with all options.
        options = CurlOptions({}) if lenient else self._options
        transfer = self._idle.pop() if simple and self._idle else Transfer(options.new_handle())
        transfer.begin(
            target,
            max_bytes=request.meta.get("download_maxsize", self._max_bytes),
            to_head=request.method == "HEAD",
            may_send=_may_send(request),
            on_head=partial(self._take_head, request, started_s),
            on_data=partial(self._take_data, request) if self._has_receivers(signals.bytes_received) else None,
        )
        try:
            if lenient:
                end = await self._run_lenient(loop, transfer, request, started_s + timeout_s)
            else:
                self._set_request(transfer, request, simple=simple)
                end = await self._run(loop, transfer, request, started_s + timeout_s)
            _note_traffic(request, transfer)
        except BaseException:
            loop.stop(transfer.curl)
            transfer.curl.close()
            raise
        try:
            response = self._response(transfer, request, end, timeout_s)
            if transfer.head is not None and transfer.head.length is None:  # only now is it known how large it is
                _judge_answer(request, transfer.head, transfer.size)
            return response
        finally:
            transfer.release()
            if simple:
                self._idle.append(transfer)
            else:
                transfer.curl.close()

    async def _open_web_socket(self, request: WebSocketRequest, started_s: float) -> Response:
        """Returns the answer to a request for a WebSocket: that has the socket, or says why the server refuses it."""
        timeout_s: float = request.meta.get("download_timeout") or TIMEOUT_SECONDS
        target = await self._find_target(request, timeout_s)
        loop = self._curl_loop = self._curl_loop or CurlLoop()
        transfer = Transfer(self._options.new_handle())
        on_head, is_open = partial(self._take_head, request, started_s), False
        transfer.begin(target, max_bytes=self._max_bytes, to_upgrade=True, may_send=_may_send(request), on_head=on_head)
        try:
            curl_options.set_upgrade(transfer.curl, request, target)
            curl_options.set_timeout(transfer.curl, started_s + timeout_s)
            end = await _wait_for_visit(request, loop.start(transfer.curl, connect_only=True))
            is_open, head = not end.code, transfer.head
            if is_open and head is not None:
                return WebSocketResponse(request.url, headers=head.headers, socket=CurlWebSocket(loop, transfer))
            if end.code == pycurl.E_HTTP_RETURNED_ERROR and head is not None:
                return make_response(request.url, head, b"", transfer.address)
            raise self._as_scrapy_says(transfer.error or error_of(end, transfer), request, timeout_s)
        finally:
            if not is_open:
                loop.stop(transfer.curl)
                transfer.curl.close()

    async def _find_target(self, request: Request, timeout_s: float) -> Target:
        if state := state_of(request):
            state.visit.check()
        judges = state is not None and state.visit.scope is not None and state.visit.scope.asks("addresses")
        target = self._targets.cached(request)
        if target is not None and not judges:
            return target
        try:
            async with asyncio.timeout(timeout_s):
                if target is None:
                    target = await _run_for_visit(request, self._targets.find(request))
                if judges and state is not None:
                    await self._judge_addresses(state, request, target)
                return target
        except TimeoutError:
            raise _timeout_error(request, timeout_s) from None

    async def _judge_addresses(self, state: RequestState, request: Request, target: Target) -> None:
        """Has the scope of a visit's plans judge the addresses of a host; behind a proxy, as far as they are known.

        Raises:
            RefusedError: They are out of scope.
        """
        url, addresses = canonical(request.url), target.addresses
        if target.proxy is not None:
            addresses = tuple(await _run_for_visit(request, self._targets.addresses_of(hostname(url))))
        _judge(state, url, addresses=addresses)

    # -- The request --------------------------------------------------------------------------------------------------

    def _set_request(self, transfer: Transfer, request: Request, *, simple: bool) -> None:
        curl = transfer.curl
        curl.setopt(pycurl.URL, url_to_send(request.url))
        if request.headers != transfer.sent_headers:
            curl.setopt(pycurl.HTTPHEADER, curl_options.header_lines(request))
            transfer.sent_headers = {name: list(values) for name, values in request.headers.items()}
        if not simple:
            curl_options.set_method(curl, request)
        if self._http1_hosts:
            curl_options.set_http1(curl, on=scheme_and_authority(request.url) in self._http1_hosts)
        curl_options.set_route(curl, request, transfer.target)

    async def _run(self, loop: CurlLoop, transfer: Transfer, request: Request, deadline_s: float) -> TransferEnd:
        """Runs the transfer to its end. A request that was lost or refused is sent once more, on its turn.

        A kept connection lost it, or the server refused its stream (HTTP/2). The second time it goes in HTTP/1.1 over a
        new connection, which has neither; and so do all later requests to a host that refused one on a new connection.
        """
        end = await self._send(loop, transfer.curl, request, deadline_s)
        if transfer.sends <= 1 or not is_safe(request):
            return end
        refused = transfer.curl.getinfo(pycurl.NUM_CONNECTS) > 1  # it wasn't a kept connection that lost it
        deadline_s += await self._wait_to_resend(request)
        transfer.sends = 0
        curl_options.set_resend(transfer.curl, on=True)
        end = await self._send(loop, transfer.curl, request, deadline_s)
        curl_options.set_resend(transfer.curl, on=False)
        if refused and not end.code:
            self._http1_hosts[scheme_and_authority(request.url)] = None
        return end

    async def _send(self, loop: CurlLoop, curl: pycurl.Curl, request: Request, deadline_s: float) -> TransferEnd:
        curl_options.set_timeout(curl, deadline_s)
        return await _wait_for_visit(request, loop.start(curl))

    async def _wait_to_resend(self, request: Request) -> float:
        """Waits until the request may be sent once more; returns the seconds that it waited.

        It counts as another request, and waits for its turns of host and address.

        Raises:
            HeadroomError: The visit may fetch no more, its session was lost, or its host has a backoff by now.
        """
        began_s, state = time.monotonic(), state_of(request)
        if state is not None and state.turn_use is not None:
            await state.turn_use.start_again(request)
        if self.crawler.stats is not None:
            self.crawler.stats.inc_value("download/sent_again")
        return time.monotonic() - began_s

    async def _run_lenient(
        self, loop: CurlLoop, transfer: Transfer, request: Request, deadline_s: float
    ) -> TransferEnd:
        """Runs the transfer over a connection whose answer is filtered."""
        connecting = Transfer(self._options.new_handle())
        connecting.begin(transfer.target, max_bytes=0)
        try:
            curl_options.set_connect_only(connecting.curl, request, transfer.target)
            curl_options.set_connected_request(transfer.curl, request, transfer.target)
            return await _run_for_visit(request, run_filtered(loop, connecting, transfer, deadline_s))
        finally:
            connecting.curl.close()

    # -- The answer ---------------------------------------------------------------------------------------------------

    def _has_receivers(self, signal: object) -> bool:
        """Returns whether anybody may be listening to a signal: to send it to nobody costs 10 us."""
        for sender in self._senders:
            receivers = dispatcher.connections.get(sender)
            if receivers and (receivers.get(signal) or receivers.get(dispatcher.Any)):
                return True
        return False

    def _take_head(self, request: Request, started_s: float, head: Head) -> None:
        request.meta["download_latency"] = time.monotonic() - started_s
        warn_bytes = request.meta.get("download_warnsize", self._warn_bytes)
        if warn_bytes and head.length is not None and head.length > warn_bytes:
            logger.warning(get_warnsize_msg(head.length, warn_bytes, request, expected=True))
        _judge_answer(request, head, head.length or 0)
        if self._has_receivers(signals.headers_received):
            assert self._curl_loop is not None  # it runs the transfer
            with self._curl_loop.out_of_call():
                stop = check_stop_download(
                    signals.headers_received, self.crawler, request, headers=head.headers, body_length=head.length
                )
            if stop is not None:
                raise stop

    def _take_data(self, request: Request, data: bytes) -> None:
        assert self._curl_loop is not None  # it runs the transfer
        with self._curl_loop.out_of_call():
            stop = check_stop_download(signals.bytes_received, self.crawler, request, data=data)
        if stop is not None:
            raise stop

    def _response(self, transfer: Transfer, request: Request, end: TransferEnd, timeout_s: float) -> Response:
        """Returns the response.

        Raises:
            Exception: The transfer ended badly.
        """
        head, error = transfer.head, transfer.error
        flags: list[str] | None = None
        if error is None and end.code and not is_whole(end, transfer):
            error = error_of(end, transfer)
        elif error is None and head is None:
            error = AnswerError(reasons.TRUNCATED, "the connection ended within the headers")
        elif head is not None and not head.delimited and transfer.size and head.protocol.startswith("HTTP/1"):
            flags = ["partial"]
        if isinstance(error, StopDownload):
            flags = ["download_stopped"]
        elif isinstance(error, AnswerError) and error.reason == reasons.TRUNCATED and head is not None:
            if request.meta.get("download_fail_on_dataloss", self._fails_on_loss):
                raise error
            flags = ["dataloss"]
        elif error is not None:
            raise self._as_scrapy_says(error, request, timeout_s)
        assert head is not None  # without one there is an error
        warn_bytes = request.meta.get("download_warnsize", self._warn_bytes)
        if warn_bytes and transfer.size > warn_bytes >= (head.length or 0):
            logger.warning(get_warnsize_msg(transfer.size, warn_bytes, request, expected=False))
        body = b"".join(transfer.pieces)
        response = make_response(request.url.partition("#")[0], head, body, transfer.address, flags)
        if isinstance(error, StopDownload) and error.fail:
            error.response = response
            raise error
        return response

    def _as_scrapy_says(self, error: Exception, request: Request, timeout_s: float) -> Exception:
        """Returns the error as Scrapy's handlers put it, where they know it."""
        if isinstance(error, TooLargeError):
            max_bytes = request.meta.get("download_maxsize", self._max_bytes)
            message = get_maxsize_msg(error.size, max_bytes, request, expected=error.expected)
            logger.warning(message)
            return DownloadCancelledError(message)
        if isinstance(error, DownloadTimeoutError):
            return _timeout_error(request, timeout_s)
        return error


def _note_traffic(request: Request, transfer: Transfer) -> None:
    """Notes what a visit's request cost, in bytes of HTTP/1.1 whatever the protocol is: libcurl counts so."""
    if (state := state_of(request)) is not None:
        state.bytes_in = transfer.curl.getinfo(pycurl.HEADER_SIZE) + transfer.size
        state.bytes_out = transfer.curl.getinfo(pycurl.REQUEST_SIZE) + transfer.curl.getinfo(pycurl.SIZE_UPLOAD_T)


async def _run_for_visit(request: Request, part: Coroutine[Any, Any, T]) -> T:
    """Awaits a part of a download; it is cancelled when the request's visit ends, if the request has one.

    Raises:
        SessionLostError: The request's visit was abandoned or released meanwhile.
        PageTimeoutError: The time of the request's page was up meanwhile.
        Exception: What the part raised.
    """
    state = state_of(request)
    return await (part if state is None else state.visit.run(part))


def _wait_for_visit(request: Request, running: asyncio.Future[TransferEnd]) -> Awaitable[TransferEnd]:
    """Returns what is awaited for a transfer's end; it raises as `_run_for_visit` when the request's visit ends."""
    state = state_of(request)
    return running if state is None else state.visit.wait(running)


def _judge(state: RequestState, url: str, **known: Any) -> None:
    """Has the scope of a visit's plans judge a request of which more is known now.

    Raises:
        RefusedError: It is out of scope.
    """
    if state.visit.scope is not None and (kind := state.purpose.kind):
        state.visit.scope.judge(url, kind, **known)


def _judge_answer(request: Request, head: Head, size_bytes: int) -> None:
    """Does the same with an answer's head, where it is of a page."""
    state = state_of(request)
    if state is None or state.visit.scope is None or not state.visit.scope.asks("head"):
        return
    if head.status in PAGE_STATUSES:
        written = (head.headers.get("Content-Type") or b"").decode("latin-1")
        content_type = written.partition(";")[0].strip().lower()
        _judge(state, canonical(request.url), content_type=content_type, size_bytes=size_bytes)


def _may_send(request: Request) -> Callable[[], bool] | None:
    """Returns what says whether a visit's request may still be sent; None: it is no visit's, and may."""
    state = state_of(request)
    return None if state is None or state.turn_use is None else state.turn_use.may_send


def _timeout_error(request: Request, seconds: float) -> DownloadTimeoutError:
    return DownloadTimeoutError(f"Getting {request.url} took longer than {seconds} seconds.")

"""Scrapy's download handler over libcurl: HTTP/1.1 and HTTP/2 at a small part of the CPU of Scrapy's own over Twisted.

What it says of an answer, in exceptions, signals and the keys of `meta`, is what that one says. Two things differ:
`response.certificate` is None, and a request that a kept connection lost is sent again no sooner than its turn allows.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import TYPE_CHECKING

import pycurl
from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no types
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    StopDownload,
)
from scrapy.utils._download_handlers import check_stop_download, get_maxsize_msg, get_warnsize_msg

from crawler.download import curl_options, responses
from crawler.download.curl_errors import ended_unsaid, error_of
from crawler.download.curl_loop import CurlLoop, Ended
from crawler.download.curl_options import CurlHandles
from crawler.download.exchange import Exchange, TooLargeError
from crawler.download.resend import may_go_again, next_start, part_of
from crawler.download.targets import Targets, wire_url
from crawler.errors import AnswerError
from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.download.heads import Head
    from crawler.download.targets import Target
    from crawler.worker.visits import Visit

logger = logging.getLogger(__name__)
TIMEOUT_SECONDS = 10.0  # of a request that says nothing of it, as in Scrapy's handler; DOWNLOAD_TIMEOUT always does


class CurlDownloadHandler(BaseDownloadHandler):
    """Downloads what Scrapy asks for. Downloads for visits end with them: none runs on for a seed that others have."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._places = Targets.from_settings(settings)
        self._handles = CurlHandles.from_settings(settings)
        self._most_bytes = settings.getint("DOWNLOAD_MAXSIZE")
        self._warn_bytes = settings.getint("DOWNLOAD_WARNSIZE")
        self._whole = settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._senders = (id(crawler.signals.sender), id(dispatcher.Any))
        self._idle: list[Exchange] = []
        self._transfers: CurlLoop | None = None

    async def close(self) -> None:
        """Ends all connections."""
        if self._transfers is not None:
            self._transfers.close()
            self._transfers = None

    async def download_request(self, request: Request) -> Response:
        """Returns the response.

        Raises:
            SessionLostError: The visit was abandoned or handed back meanwhile; the connection is closed.
            PageTimeoutError: The page's time was up; likewise.
            PrivateAddressError: The host has only private addresses, or one that a proxy mustn't be asked for.
            AnswerError: What came is no answer that a page could be had from.
            DownloadTimeoutError: Scrapy's, as the following: `download_timeout` was up.
            CannotResolveHostError: The host has no address.
            DownloadConnectionRefusedError: Nobody listens there.
            DownloadCancelledError: The answer is larger than `download_maxsize`.
            DownloadFailedError: libcurl failed in a way that is unheard of.
            UnsupportedURLSchemeError: It is no URL for libcurl, or no proxy.
            StopDownload: A receiver of a signal said so, with `fail`; it has the response.
        """
        begun = time.monotonic()
        state = state_of(request)
        visit = None if state is None else state.visit
        if visit is not None:
            visit.check()
        timeout_s: float = request.meta.get("download_timeout") or TIMEOUT_SECONDS
        until = begun + timeout_s
        place = self._places.known(request) or await self._find(request, timeout_s)
        plain = curl_options.is_plain(request)
        exchange = self._idle.pop() if plain and self._idle else Exchange(self._handles.new())
        if not plain:
            curl_options.ask_more(exchange.curl, request, place.proxy)
        self._prepare(exchange, request, place, begun)
        ended = await self._run(exchange, request, visit, until)
        try:
            return self._answer(exchange, request, ended, timeout_s)
        finally:
            exchange.end()
            if plain:
                self._idle.append(exchange)
            else:
                exchange.curl.close()

    async def _find(self, request: Request, timeout_s: float) -> Target:
        try:
            async with asyncio.timeout(timeout_s):
                return await part_of(request, self._places.find(request))
        except TimeoutError:
            raise _timeout(request, timeout_s) from None

    def _prepare(self, exchange: Exchange, request: Request, place: Target, begun: float) -> None:
        exchange.begin(
            place,
            most_bytes=request.meta.get("download_maxsize", self._most_bytes),
            on_head=partial(self._head_came, request, begun),
            on_data=partial(self._data_came, request) if self._heard(signals.bytes_received) else None,
        )
        curl = exchange.curl
        curl.setopt(pycurl.URL, wire_url(request.url))
        if request.headers != exchange.sent_headers:
            curl.setopt(pycurl.HTTPHEADER, curl_options.header_lines(request))
            exchange.sent_headers = {name: list(values) for name, values in request.headers.items()}
        if not place.literal:
            curl.setopt(pycurl.RESOLVE, curl_options.resolved(place))

    async def _run(self, exchange: Exchange, request: Request, visit: Visit | None, until: float) -> Ended:
        """Waits for the end of the transfer. A request that a kept connection lost is another start on its turn."""
        curl, begun, again = exchange.curl, time.monotonic(), False
        if self._transfers is None:
            self._transfers = CurlLoop()
        while True:
            curl.setopt(pycurl.TIMEOUT_MS, max(int((until - time.monotonic()) * 1000), 1))
            ending = self._transfers.start(curl)
            try:
                ended = await (ending if visit is None else visit.wait(ending))
                if exchange.starts <= 1 or not may_go_again(request):
                    break
                await next_start(request, self.crawler)
            except BaseException:
                if self._transfers is not None:
                    self._transfers.stop(curl)
                curl.close()
                raise
            exchange.starts, again = 0, True
            curl.setopt(pycurl.FRESH_CONNECT, 1)
            until += time.monotonic() - begun  # it is another request
        if again:
            curl.setopt(pycurl.FRESH_CONNECT, 0)
        return ended

    # -- What comes ---------------------------------------------------------------------------------------------------

    def _heard(self, signal: object) -> bool:
        """Whether anybody may hear a signal; to send it to nobody costs 10 us."""
        for sender in self._senders:
            receivers = dispatcher.connections.get(sender)
            if receivers and (receivers.get(signal) or receivers.get(dispatcher.Any)):
                return True
        return False

    def _head_came(self, request: Request, begun: float, head: Head) -> None:
        request.meta["download_latency"] = time.monotonic() - begun
        warn_bytes = request.meta.get("download_warnsize", self._warn_bytes)
        if warn_bytes and head.length is not None and head.length > warn_bytes:
            logger.warning(get_warnsize_msg(head.length, warn_bytes, request, expected=True))
        if self._heard(signals.headers_received):
            stop = check_stop_download(
                signals.headers_received, self.crawler, request, headers=head.headers, body_length=head.length
            )
            if stop is not None:
                raise stop

    def _data_came(self, request: Request, data: bytes) -> None:
        if stop := check_stop_download(signals.bytes_received, self.crawler, request, data=data):
            raise stop

    def _answer(self, exchange: Exchange, request: Request, ended: Ended, timeout_s: float) -> Response:
        """Returns the response.

        Raises:
            Exception: The transfer ended badly.
        """
        head, error = exchange.head, exchange.error
        flags: list[str] | None = None
        if error is None and ended.code and not ended_unsaid(ended, exchange):
            error = error_of(ended, exchange)
        elif error is None and head is None:
            error = AnswerError("truncated", "the connection ended within the headers")
        elif head is not None and not head.ends and exchange.size and head.protocol.startswith("HTTP/1"):
            flags = ["partial"]
        if isinstance(error, StopDownload):
            flags = ["download_stopped"]
        elif isinstance(error, AnswerError) and error.reason == "truncated" and head is not None:
            if request.meta.get("download_fail_on_dataloss", self._whole):
                raise error
            flags = ["dataloss"]
        elif error is not None:
            raise self._told(error, request, timeout_s)
        assert head is not None  # without one there is an error
        self._warn(exchange, request, head)
        body = b"".join(exchange.pieces)
        response = responses.response(request.url.partition("#")[0], head, body, exchange.address, flags)
        if isinstance(error, StopDownload) and error.fail:
            error.response = response
            raise error
        return response

    def _warn(self, exchange: Exchange, request: Request, head: Head) -> None:
        warn_bytes = request.meta.get("download_warnsize", self._warn_bytes)
        if warn_bytes and exchange.size > warn_bytes >= (head.length or 0):
            logger.warning(get_warnsize_msg(exchange.size, warn_bytes, request, expected=False))

    def _told(self, error: Exception, request: Request, timeout_s: float) -> Exception:
        """Returns the error as Scrapy's handlers put it."""
        if isinstance(error, TooLargeError):
            most_bytes = request.meta.get("download_maxsize", self._most_bytes)
            words = get_maxsize_msg(error.size, most_bytes, request, expected=error.expected)
            logger.warning(words)
            return DownloadCancelledError(words)
        if isinstance(error, DownloadTimeoutError):
            return _timeout(request, timeout_s)
        if isinstance(error, OSError):
            return DownloadFailedError(f"no socket: {error}")
        return error


def _timeout(request: Request, seconds: float) -> DownloadTimeoutError:
    return DownloadTimeoutError(f"Getting {request.url} took longer than {seconds} seconds.")

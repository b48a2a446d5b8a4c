"""What a server may send before and around a body: Scrapy's HTTP/1.1 client over Twisted, with bounds.

Twisted bounds a header line, but neither their number nor the informational answers before the real one: a page could
feed a worker header lines for as long as the timeout lasts. The hook is the one that Scrapy itself uses for its lenient
parser: the pool's factory makes our protocol, which makes our parser the one of each request. Nothing else sees a head
as it comes: Scrapy's signal `headers_received` is sent when all of it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from twisted.web._abnf import _istoken
from twisted.web._newclient import ResponseFailed
from twisted.web.http import _ChunkedTransferDecoder, _DataLoss, _IdentityTransferDecoder

from crawler.download.limits import (
    HIGHEST_STATUS,
    IDLE_SECONDS,
    INFORMATIONAL,
    LOWEST_STATUS,
    MOST_CHUNKS,
    MOST_HEAD_BYTES,
    MOST_HEAD_LINES,
    MOST_INFORMATIONAL,
    SWITCHING_PROTOCOLS,
)
from crawler.errors import AnswerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.interfaces import IAddress
    from twisted.web.client import HTTPConnectionPool

LINGER_SECONDS = 2.0  # for a TLS peer to say goodbye; one that doesn't would keep the connection


def bound(pool: HTTPConnectionPool) -> None:
    """Gives a pool's connections these bounds."""
    pool._factory = _BoundedFactory  # noqa: SLF001 -- as Scrapy does; there is no public way
    pool.cachedConnectionTimeout = IDLE_SECONDS


class _BoundedChunks(_ChunkedTransferDecoder):
    """Hands on all chunks of one read together, since each delivery costs some 30 us; and counts them."""

    def __init__(self, deliver: Callable[[bytes], None], finish: Callable[[bytes], None]) -> None:
        self._deliver = deliver
        self._finish = finish
        self._kept: list[bytes] = []
        self._chunks = 0
        super().__init__(self._kept.append, self._finished)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 -- Twisted's names, here and below
        super().dataReceived(data)
        self._flush()

    def _dataReceived_CHUNK_LENGTH(self) -> bool:  # noqa: N802
        self._chunks += 1
        if self._chunks > MOST_CHUNKS:
            raise AnswerError("bad-response", f"more than {MOST_CHUNKS} chunks")
        return super()._dataReceived_CHUNK_LENGTH()

    def _finished(self, rest: bytes) -> None:
        self._flush()
        self._finish(rest)

    def _flush(self) -> None:
        if self._kept:
            data = b"".join(self._kept)
            self._kept.clear()
            self._deliver(data)


_DECODERS: dict[bytes, type[_ChunkedTransferDecoder]] = {b"chunked": _BoundedChunks}


class _BoundedParser(_LenientHTTPClientParser):
    """Refuses heads that are too long, and statuses that are none.

    It has no `__init__`: a protocol makes its parser one of these after the fact.
    """

    MAX_LENGTH = MOST_HEAD_BYTES  # of one line
    _transferDecoders = _DECODERS  # noqa: N815
    _head_bytes = 0
    _head_lines = 0
    _informational = 0

    def lineReceived(self, line: bytes) -> None:  # noqa: N802
        self._head_bytes += len(line) + 1
        self._head_lines += 1
        if self._head_bytes > MOST_HEAD_BYTES:
            raise AnswerError("bad-headers", f"more than {MOST_HEAD_BYTES} bytes")
        if self._head_lines > MOST_HEAD_LINES:
            raise AnswerError("bad-headers", f"more than {MOST_HEAD_LINES} lines")
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802, ARG002
        raise AnswerError("bad-headers", f"a line of more than {self.MAX_LENGTH} bytes")

    def statusReceived(self, status: bytes) -> None:  # noqa: N802
        super().statusReceived(status)
        if self.response.version[0] != b"HTTP" or not LOWEST_STATUS <= self.response.code <= HIGHEST_STATUS:
            raise AnswerError("bad-response", f"status line {status[:80]!r}")

    def headerReceived(self, name: bytes, value: bytes) -> None:  # noqa: N802
        """Skips a header whose name is none, as browsers do; Twisted would refuse the answer."""
        if _istoken(name):
            super().headerReceived(name, value)

    def allHeadersReceived(self) -> None:  # noqa: N802
        if self.response.code in INFORMATIONAL:
            self._informational += 1
            if self._informational > MOST_INFORMATIONAL:
                raise AnswerError("bad-headers", f"more than {MOST_INFORMATIONAL} informational answers")
            if self.response.code == SWITCHING_PROTOCOLS:
                raise AnswerError("bad-response", "another protocol, which nobody asked for")
        super().allHeadersReceived()

    def connectionLost(self, reason: Failure | None = None) -> None:  # noqa: N802
        """Tells a body without a length that was reset from one that ended.

        Not over TLS: there the end without a goodbye looks the same, and too many servers end so.
        """
        decoder = self.bodyDecoder
        if (
            isinstance(decoder, _IdentityTransferDecoder)
            and decoder.contentLength is None
            and reason is not None
            and reason.check(ConnectionLost)
            and not self.request.absoluteURI.startswith(b"https:")
        ):
            lost = ResponseFailed([reason, Failure(_DataLoss())], self.response)
            self.response._bodyDataFinished(Failure(lost))  # noqa: SLF001
            return
        super().connectionLost(reason)


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    """A connection that ends when it is given up, whatever its peer would like."""

    transport: Any
    _lingering: Any = None

    def request(self, request: Any) -> Any:
        answer = super().request(request)
        self._parser.__class__ = _BoundedParser  # as Scrapy's own class does; request() has no other way
        return answer

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802
        if self._lingering is not None and self._lingering.active():
            self._lingering.cancel()
        super().connectionLost(reason)

    def _giveUp(self, reason: Failure) -> None:  # noqa: N802
        """Twisted only asks for the end: a TLS peer that doesn't agree could go on sending for ever."""
        if reason.check(ConnectionDone):  # all is well, it said `Connection: close`
            from twisted.internet import reactor

            clock: Any = reactor
            self._lingering = clock.callLater(LINGER_SECONDS, self.transport.abortConnection)
            super()._giveUp(reason)
        else:
            self.transport.abortConnection()
            self._disconnectParser(reason)


class _BoundedFactory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: IAddress | None) -> _BoundedProtocol:  # noqa: ARG002, N802
        return _BoundedProtocol(self._quiescentCallback)

"""What libcurl's errors say of an answer: Scrapy's exceptions, or the ledger's words."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pycurl
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)

from crawler.errors import AnswerError, PrivateAddressError

if TYPE_CHECKING:
    from crawler.download.curl_loop import Ended
    from crawler.download.exchange import Exchange

# Of libcurl's numbers pycurl has no names for these.
_WEIRD_REPLY = 8
_TOO_LARGE = 100  # libcurl's own bounds on heads
_HTTP2_STREAM = 92
_REFUSALS = frozenset(
    {
        pycurl.E_UNSUPPORTED_PROTOCOL,  # HTTP/0.9, or none
        _WEIRD_REPLY,
        pycurl.E_BAD_CONTENT_ENCODING,  # also a transfer coding that nobody asked for
    }
)
_TLS = frozenset(
    {
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_INVALIDCERTSTATUS,
    }
)
_CUT = frozenset(
    {
        pycurl.E_GOT_NOTHING,
        pycurl.E_RECV_ERROR,
        pycurl.E_SEND_ERROR,
        pycurl.E_PARTIAL_FILE,
        pycurl.E_HTTP2,
        _HTTP2_STREAM,
    }
)
# What libcurl's numbers don't tell apart, its words do. E_RECV_ERROR: a connection that broke, or these.
_BAD_CHUNKS = ("chunk", "malformed encoding")
_LONG_HEAD = ("too large response headers", "too many response headers")
_ODD_LINES = ("header without colon", "nul byte in header", "carriage return found in header")
_TLS_END = "unexpected eof"
# The same with E_SSL_CONNECT_ERROR: the handshake was cut off, nobody said that it was wrong.
_HANDSHAKE_CUT = ("recv failure", "send failure", "reset by peer", _TLS_END, "ssl_error_syscall")


class OddHeadError(AnswerError):
    """A head with a line that browsers skip, and libcurl refuses the answer for."""


def ended_unsaid(ended: Ended, exchange: Exchange) -> bool:
    """Whether a body without a length ended with its TLS connection, without a goodbye: too many servers end so."""
    head = exchange.head
    return head is not None and not head.ends and ended.code == pycurl.E_RECV_ERROR and _TLS_END in ended.words.lower()


def error_of(ended: Ended, exchange: Exchange) -> Exception:
    """Returns the error that a transfer ended with."""
    code, words = ended
    if code in (pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_ABORTED_BY_CALLBACK):
        return _not_connected(code, words, exchange)
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return DownloadTimeoutError(words)
    if code == pycurl.E_URL_MALFORMAT:
        return UnsupportedURLSchemeError(words)
    if any(sign in words.lower() for sign in _ODD_LINES):
        return OddHeadError("bad-response", words)
    if reason := _reason(code, words.lower(), begun=exchange.head is not None):
        return AnswerError(reason, words)
    return DownloadFailedError(f"{words} (libcurl {code})")


def _reason(code: int, said: str, *, begun: bool) -> str:
    """Returns the ledger's word; empty for an error that is unheard of. `begun`: the head is there."""
    if code == _TOO_LARGE or any(sign in said for sign in _LONG_HEAD):
        return "bad-response" if begun else "bad-headers"
    if code in _REFUSALS or any(sign in said for sign in _BAD_CHUNKS):
        return "bad-response"
    if code in _TLS and not any(sign in said for sign in _HANDSHAKE_CUT):
        return "tls"
    if code in _CUT or code in _TLS:
        return "truncated" if begun else "connection"
    return ""


def _not_connected(code: int, words: str, exchange: Exchange) -> Exception:
    if exchange.refused:
        return PrivateAddressError(f"{exchange.place.host} would be another address")
    if code != pycurl.E_COULDNT_CONNECT:
        return CannotResolveHostError(words)
    if exchange.curl.getinfo(pycurl.OS_ERRNO) == errno.ECONNREFUSED:
        return DownloadConnectionRefusedError(words)
    return AnswerError("connection", words)

"""What libcurl's errors mean: Scrapy's exceptions where it has one, else the ledger's words."""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

import pycurl
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)

from crawler.base import reasons
from crawler.base.errors import AnswerError, NodeError, PrivateAddressError
from crawler.download import codings
from crawler.download.curl_loop import MULTI_FAILED
from crawler.worker.visits.outcomes import node_lacks

if TYPE_CHECKING:
    from crawler.base.reasons import Reason
    from crawler.download.curl_loop import TransferEnd
    from crawler.download.transfer import Transfer

# libcurl's errors that pycurl has no names for.
_WEIRD_SERVER_REPLY = 8
_TOO_LARGE = 100  # the error that libcurl's own bounds on heads raise
_HTTP2_STREAM = 92
_NO_HTTP = frozenset(
    {
        pycurl.E_UNSUPPORTED_PROTOCOL,  # HTTP/0.9, or no HTTP at all
        _WEIRD_SERVER_REPLY,
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
_OF_SCRAPY: dict[int, type[Exception]] = {
    pycurl.E_OPERATION_TIMEDOUT: DownloadTimeoutError,
    pycurl.E_URL_MALFORMAT: UnsupportedURLSchemeError,
}
# What libcurl says of this node, whoever was to be asked.
_LACKS = {
    pycurl.E_OUT_OF_MEMORY: "memory",
    pycurl.E_FAILED_INIT: "memory",
    pycurl.E_WRITE_ERROR: "memory",  # Python had none to take what came: else the transfer has an error of its own
    pycurl.E_INTERFACE_FAILED: "address to send from",
    pycurl.E_SSL_CACERT_BADFILE: "readable TLS certificates",
    MULTI_FAILED.code: "working libcurl",
}
_CUT_OFF = frozenset(
    {
        pycurl.E_GOT_NOTHING,
        pycurl.E_RECV_ERROR,
        pycurl.E_SEND_ERROR,
        pycurl.E_PARTIAL_FILE,
        pycurl.E_HTTP2,
        _HTTP2_STREAM,
    }
)
# Parts of libcurl's messages, in lower case, where one number stands for several errors.
_BAD_CHUNKS = ("chunk", "malformed encoding")
_LONG_HEAD = ("too large response headers", "too many response headers")
_ODD_LINES = ("header without colon", "nul byte in header", "carriage return found in header")
_TLS_END = "unexpected eof"
# OpenSSL's words for the peer's verdict; in TLS 1.3 one on the client's certificate comes after the handshake.
_TLS_ALERT = re.compile(r"ssl routines:.*\balert\b")
# With E_SSL_CONNECT_ERROR: the connection ended within the handshake; nobody said that the handshake was wrong.
_HANDSHAKE_CUT_OFF = ("recv failure", "send failure", "reset by peer", _TLS_END, "ssl_error_syscall")


class OddHeadError(AnswerError):
    """libcurl refuses the answer for a line in its head that browsers skip."""


def is_whole(end: TransferEnd, transfer: Transfer) -> bool:
    """Returns whether the body is whole all the same, after libcurl ended the transfer with an error.

    That is so when only the trailers after the body are odd; when a body without a length ended with its TLS
    connection, without TLS's closure alert, which too many servers leave out; and when a body that came packed is
    complete, and its Content-Length that of what is in it, as servers write that pack behind their own back.
    """
    head = transfer.head
    if head is None:
        return False
    message = end.message.lower()
    if any(sign in message for sign in _ODD_LINES):
        return True
    if end.code == pycurl.E_PARTIAL_FILE and head.length and (packing := head.headers.getlist(b"Content-Encoding")):
        return codings.unpacks_to(b"".join(transfer.pieces), packing, head.length)
    return not head.delimited and end.code == pycurl.E_RECV_ERROR and _TLS_END in message


def error_of(end: TransferEnd, transfer: Transfer) -> Exception:
    """Returns the error that libcurl ended a transfer with."""
    code, message = end
    if lack := _lack(code, transfer):
        return NodeError(lack, message)
    if code in (pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_ABORTED_BY_CALLBACK):
        return _connect_error(end, transfer)
    if code in _OF_SCRAPY:
        return _OF_SCRAPY[code](message)
    if any(sign in message.lower() for sign in _ODD_LINES):
        return OddHeadError(reasons.BAD_RESPONSE, message)
    if reason := _reason(code, message.lower(), head_came=transfer.head is not None):
        return AnswerError(reason, message)
    return DownloadFailedError(f"{message} (libcurl {code})")


def _lack(code: int, transfer: Transfer) -> str:
    """Returns what this node lacked for the transfer; empty: nothing that is known here."""
    if code == pycurl.E_COULDNT_CONNECT:
        return node_lacks(transfer.no_socket or OSError(transfer.curl.getinfo(pycurl.OS_ERRNO), ""))
    return _LACKS.get(code, "")


def _reason(code: int, message: str, *, head_came: bool) -> Reason | None:
    """Returns the ledger's word; None for an error that isn't known here."""
    if code == _TOO_LARGE or any(sign in message for sign in _LONG_HEAD):
        return reasons.BAD_RESPONSE if head_came else reasons.BAD_HEADERS  # after the head: in trailers
    if code in _NO_HTTP or any(sign in message for sign in _BAD_CHUNKS):
        return reasons.BAD_RESPONSE
    if code in _TLS and not any(sign in message for sign in _HANDSHAKE_CUT_OFF):
        return reasons.TLS
    if _TLS_ALERT.search(message) and not head_came:
        return reasons.TLS
    if code in _CUT_OFF or code in _TLS:
        return reasons.TRUNCATED if head_came else reasons.CONNECTION
    return None


def _connect_error(end: TransferEnd, transfer: Transfer) -> Exception:
    if transfer.sends > 1:
        return AnswerError(
            reasons.CONNECTION, "the request was lost, and libcurl was kept from sending it again by itself"
        )
    if transfer.refused:
        return PrivateAddressError(f"{transfer.target.host} would be another address")
    if end.code != pycurl.E_COULDNT_CONNECT:
        return CannotResolveHostError(end.message)
    if transfer.curl.getinfo(pycurl.OS_ERRNO) == errno.ECONNREFUSED:
        return DownloadConnectionRefusedError(end.message)
    return AnswerError(reasons.CONNECTION, end.message)

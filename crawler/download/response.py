"""From the lines that libcurl hands on to Scrapy's response.

libcurl has checked the lines and bounded them: 100 KB for one, 300 KB and 5,000 lines for everything before and after a
body. Closer bounds are added here.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import NamedTuple

from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from crawler.base import reasons
from crawler.base.errors import AnswerError
from crawler.download.limits import INFORMATIONAL, MAX_HEAD_LINES, SWITCHING_PROTOCOLS, WITHOUT_BODY

FIELD_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token, as RFC 9110, 5.6.2 has it
_STATUS = re.compile(rb"(HTTP/[0-9](?:\.[0-9])?) ([1-9][0-9]{2})(?: |\r?\n|$)")
# RFC 9110, 7.6.1, as Twisted has them.
_OF_THE_CONNECTION = frozenset(
    {b"Connection", b"Keep-Alive", b"Proxy-Connection", b"Te", b"Trailers", b"Transfer-Encoding", b"Upgrade"}
)
_LENGTH = re.compile(rb"[0-9]{1,4300}")  # no more digits, since Python refuses to read them
# Most lines, content types and addresses that are remembered: most are the same in each response of a site.
REMEMBERED = 1_024
REMEMBERED_LINE_BYTES = 200  # longer lines aren't remembered: they would take memory


class Head(NamedTuple):
    """The head of a final response.

    Attributes:
        protocol: In the server's words: `HTTP/1.1`, `HTTP/2`.
        headers: Without those of the connection alone, as in Scrapy.
        length: Bytes of the body, by Content-Length or because there is none; None: not given.
        delimited: Whether HTTP/1 tells the body's end from a connection that was cut off.
    """

    status: int
    protocol: str
    headers: Headers
    length: int | None
    delimited: bool


def parse_head(lines: list[bytes], *, to_head: bool = False, to_upgrade: bool = False) -> Head | None:
    """Returns the head; None for an informational one (1xx), after which another comes.

    Args:
        lines: From the status line on, without the empty line at the end.
        to_head: It answers a HEAD request: its Content-Length is that of another answer.
        to_upgrade: It answers a request to go on in another protocol.

    Raises:
        AnswerError: `bad-response` or `bad-headers`.
    """
    protocol, status = _status(lines[0])
    if status in INFORMATIONAL and not (to_upgrade and status == SWITCHING_PROTOCOLS):
        if status == SWITCHING_PROTOCOLS:
            raise AnswerError(reasons.BAD_RESPONSE, "another protocol, which nobody asked for")
        return None
    if len(lines) > MAX_HEAD_LINES:
        raise AnswerError(reasons.BAD_HEADERS, f"more than {MAX_HEAD_LINES} lines")
    fields: dict[bytes, list[bytes]] = {}
    for line in lines[1:]:
        name, value = (_remembered_field if len(line) < REMEMBERED_LINE_BYTES else _field)(line)
        if name in fields:
            fields[name].append(value)
        elif name:
            fields[name] = [value]
    headers = Headers()
    dict.update(headers, fields)  # Headers.update would normalise each name again, at 1 us
    chunked = b"Transfer-Encoding" in fields
    length = None if chunked else _length(fields.get(b"Content-Length"))
    if to_head or status in WITHOUT_BODY:
        length = 0
    for name in _OF_THE_CONNECTION & fields.keys():
        del headers[name]
    return Head(status, protocol, headers, length, chunked or length is not None)


def make_response(url: str, head: Head, body: bytes, address: str, flags: list[str] | None = None) -> Response:
    """Returns what the `make_response` of Scrapy's handlers returns, of the class that fits the content type.

    One thing differs: a body with a content coding gets the base class, whatever its URL and first bytes look like;
    the middleware that decodes it finds its class then.

    Args:
        address: Of the server; empty: unknown.
    """
    content_type = dict.get(head.headers, b"Content-Type")
    if dict.__contains__(head.headers, b"Content-Encoding"):
        response_class = Response
    else:
        response_class = _response_class(content_type[-1]) if content_type else Response
        if response_class is Response:
            response_class = responsetypes.from_args(headers=head.headers, url=url, body=body)
    response = response_class(
        url=url,
        status=head.status,
        body=body,
        flags=flags,
        ip_address=_ip_address(address) if address else None,
        protocol=head.protocol,
    )
    response.headers = head.headers
    return response


@lru_cache(REMEMBERED)
def _status(line: bytes) -> tuple[str, int]:
    match = _STATUS.match(line)
    if match is None:
        raise AnswerError(reasons.BAD_RESPONSE, f"status line {line[:80]!r}")
    return match[1].decode("ascii"), int(match[2])


def _field(line: bytes) -> tuple[bytes, bytes]:
    """Returns a header's name as Scrapy writes it, and its value. An invalid name is empty: browsers skip the line."""
    name, _, value = line.partition(b":")
    return (name.title() if FIELD_NAME.fullmatch(name) else b""), value.strip()


_remembered_field = lru_cache(REMEMBERED)(_field)


def _length(values: list[bytes] | None) -> int | None:
    """Returns Content-Length; libcurl has refused what is no number, and two that differ."""
    if not values:
        return None
    digits = values[-1].split(b",")[0].strip()
    if not _LENGTH.fullmatch(digits):
        raise AnswerError(reasons.BAD_RESPONSE, f"Content-Length {digits[:40]!r}")
    return int(digits)


@lru_cache(REMEMBERED)
def _response_class(content_type: bytes) -> type[Response]:
    return responsetypes.from_content_type(content_type)


@lru_cache(REMEMBERED)
def _ip_address(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(address)

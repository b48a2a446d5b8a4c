"""Heads of answers as libcurl hands them on: line by line, checked by it, with our bounds beside its own.

Its own: 100 KB for a line, 300 KB and 5,000 lines for all that comes before and after a body.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from scrapy.http import Headers

from crawler.download.limits import INFORMATIONAL, MOST_HEAD_LINES, SWITCHING_PROTOCOLS
from crawler.errors import AnswerError

_STATUS = re.compile(rb"(HTTP/[0-9](?:\.[0-9])?) ([1-9][0-9]{2})(?: |\r?\n|$)")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token (RFC 9110, 5.6.2)
_LENGTH = re.compile(rb"[0-9]{1,4300}")  # more digits Python refuses to read
REMEMBERED = 1_024  # lines: most stand in each answer of a site
SHORT_BYTES = 200  # the others are remembered by nobody: they would take memory


class Head(NamedTuple):
    """The head of an answer.

    Attributes:
        protocol: As it writes itself: `HTTP/1.1`, `HTTP/2`.
        length: Bytes that the body has, it says; None: it doesn't.
        ends: Whether the body's end can be told from its being cut off, on HTTP/1.
    """

    status: int
    protocol: str
    headers: Headers
    length: int | None
    ends: bool


def parse(lines: list[bytes]) -> Head | None:
    """Returns a head; None for an informational answer, after which the real one comes.

    Args:
        lines: With the status line, without the empty one.

    Raises:
        AnswerError: `bad-response` or `bad-headers`.
    """
    protocol, status = _status(lines[0])
    if status in INFORMATIONAL:
        if status == SWITCHING_PROTOCOLS:
            raise AnswerError("bad-response", "another protocol, which nobody asked for")
        return None
    if len(lines) > MOST_HEAD_LINES:
        raise AnswerError("bad-headers", f"more than {MOST_HEAD_LINES} lines")
    kept: dict[bytes, list[bytes]] = {}
    for line in lines[1:]:
        name, value = (_remembered if len(line) < SHORT_BYTES else _header)(line)
        if name in kept:
            kept[name].append(value)
        elif name:
            kept[name] = [value]
    headers = Headers()
    dict.update(headers, kept)  # Scrapy's own would normalise what is normal: 1 us a header
    chunked = b"Transfer-Encoding" in kept
    length = None if chunked else _length(kept.get(b"Content-Length"))
    return Head(status, protocol, headers, length, chunked or length is not None)


@lru_cache(REMEMBERED)
def _status(line: bytes) -> tuple[str, int]:
    found = _STATUS.match(line)
    if found is None:
        raise AnswerError("bad-response", f"status line {line[:80]!r}")
    return found[1].decode("ascii"), int(found[2])


def _header(line: bytes) -> tuple[bytes, bytes]:
    """Returns a header's name as Scrapy writes it, and its value; a name that is none is empty: browsers skip it."""
    name, _, value = line.partition(b":")
    return (name.title() if _NAME.fullmatch(name) else b""), value.strip()


_remembered = lru_cache(REMEMBERED)(_header)


def _length(values: list[bytes] | None) -> int | None:
    """Returns the length that libcurl found; it has refused what is no number, and two that differ."""
    if not values:
        return None
    digits = values[-1].split(b",")[0].strip()
    if not _LENGTH.fullmatch(digits):
        raise AnswerError("bad-response", f"Content-Length {digits[:40]!r}")
    return int(digits)

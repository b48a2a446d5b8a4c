"""Drops from an answer's head what libcurl refuses the answer for, and browsers read over. Pure.

- A line that is no header (no colon, or a name that is no token) is dropped, with the lines that continue it. So do
  Chromium (`HttpUtil::HeadersIterator`) and Firefox (`nsHttpHeaderArray::ParseHeaderLine`).
- A carriage return within a line, or a NUL byte, becomes a space, which RFC 9112 (2.2) and RFC 9110 (5.5) allow.
  Browsers differ: Chromium ends a line at the former, by which a value could forge a header, and refuses the latter.
"""

from __future__ import annotations

import re

from crawler.base import reasons
from crawler.base.errors import AnswerError
from crawler.download.limits import MAX_HEAD_BYTES, MAX_HEAD_LINES
from crawler.download.response import FIELD_NAME

_INFORMATIONAL = re.compile(rb"HTTP/\S+\s+1\d\d\b")
_SPACES = bytes.maketrans(b"\r\0", b"  ")


class HeadFilter:
    """Filters one answer, with the informational ones (1xx) before it."""

    def __init__(self) -> None:
        self._pending = bytearray()  # the beginning of a line
        self._size = 0
        self._lines = 0
        self._begins = True  # the next line is a status line
        self._informational = False
        self._kept = False  # the last header, and so are the lines that continue it
        self._body = False

    def feed(self, data: bytes) -> bytes:
        """Returns what of the answer can be passed on, now that these bytes have come; of the body, all.

        Raises:
            AnswerError: `bad-headers`: the head is longer than the limits, what is dropped included.
        """
        if self._body:
            return data
        passed = bytearray()
        start, searched = 0, len(self._pending)
        self._pending += data
        while not self._body and (end := self._pending.find(b"\n", searched)) >= 0:
            passed += self._filtered(bytes(self._pending[start : end + 1]))
            start = searched = end + 1
        del self._pending[:start]
        if self._body:
            passed += self._pending
            self._pending.clear()
        elif self._size + len(self._pending) > MAX_HEAD_BYTES:
            raise AnswerError(reasons.BAD_HEADERS, f"more than {MAX_HEAD_BYTES} bytes")
        return bytes(passed)

    def _filtered(self, line: bytes) -> bytes:
        self._size += len(line)
        self._lines += 1
        if self._size > MAX_HEAD_BYTES or self._lines > MAX_HEAD_LINES:
            raise AnswerError(reasons.BAD_HEADERS, f"more than {MAX_HEAD_BYTES} bytes or {MAX_HEAD_LINES} lines")
        text = line[:-1].removesuffix(b"\r")
        if self._begins:
            self._begins = self._kept = False
            self._informational = bool(_INFORMATIONAL.match(text))
            self._body = not text.startswith(b"HTTP/")  # it is no answer, as libcurl will say
        elif not text:
            self._begins = self._informational
            self._body = not self._informational
        elif text[:1] not in (b" ", b"\t"):
            name, colon, _value = text.partition(b":")
            self._kept = bool(colon) and FIELD_NAME.fullmatch(name) is not None
            if not self._kept:
                return b""
        elif not self._kept:
            return b""
        return text.translate(_SPACES) + line[len(text) :]

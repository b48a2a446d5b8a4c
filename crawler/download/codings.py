"""Content codings (RFC 9110, 8.4.1): decodes bodies in bounded time and memory, whatever they claim to be. Pure.

Input goes in by slices, and output is counted as it comes, so that a decompression bomb costs no more than a page of
the greatest size. A body may consist of several streams (RFC 1952, 2.2; RFC 8878, 3.1), but of a bounded number: a
million empty ones fit into a small body. What follows the last stream is ignored, as browsers do.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Protocol

import brotli

from crawler.base import reasons
from crawler.base.errors import AnswerError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ACCEPT_ENCODING = b"gzip, deflate, br, zstd"  # the value of the request header
MAX_CODINGS = 3  # most codings one over the other; one is the rule, two are a mistake that happens
MAX_STREAMS = 1_000  # most streams in one body: bgzip's blocks of 64 KiB make 500 in the greatest page
SLICE_BYTES = 64 * 1024
# The largest window, of 8 MiB, which RFC 9659 demands; by zstd's own a small body asks for 128 MiB.
ZSTD_WINDOW_LOG = 23
# No coding: what servers write where nothing was encoded; browsers show such pages.
_NO_CODING = frozenset({"", "identity", "none", "utf-8", "utf8", "iso-8859-1", "binary", "8bit"})
_ERRORS = (zlib.error, brotli.error, zstd.ZstdError)


class _Stream(Protocol):
    """A decoder for one stream, with the properties of zlib's."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def pieces(self, data: bytes) -> Iterator[bytes]: ...


def decode(body: bytes, content_encoding: Iterable[bytes], max_bytes: int) -> bytes:
    """Returns a body without its codings; an empty body stays empty.

    Args:
        content_encoding: The values of all Content-Encoding headers.
        max_bytes: Of the result, and of what is between two codings; 0: no limit.

    Raises:
        AnswerError: `bad-encoding` for a coding that isn't known, or that the body isn't in; `truncated` for a body
            that ends early; `too-large`.
    """
    names = [
        name.strip().lower().removeprefix("x-")  # x-gzip is gzip (RFC 9110, 8.4.1.3)
        for value in content_encoding
        for name in value.decode("latin-1").split(",")
    ]
    codings = [name for name in names if name not in _NO_CODING]
    if len(codings) > MAX_CODINGS:
        raise AnswerError(reasons.BAD_ENCODING, f"{len(codings)} codings")
    for coding in reversed(codings):
        if body:
            body = _decoded(body, coding, max_bytes)
    return body


def unpacks_to(body: bytes, content_encoding: Iterable[bytes], length: int) -> bool:
    """Returns whether a body is complete, and has so many bytes without its codings."""
    try:
        return len(decode(body, content_encoding, length)) == length
    except AnswerError:
        return False


def _decoded(body: bytes, coding: str, max_bytes: int) -> bytes:
    if coding not in _STREAMS:
        raise AnswerError(reasons.BAD_ENCODING, f"{coding!r} is not known")
    plain = bytearray()
    try:
        for piece in _pieces(body, _STREAMS[coding], _MAGIC.get(coding, ())):
            plain += piece
            if max_bytes and len(plain) > max_bytes:
                raise AnswerError(reasons.TOO_LARGE, f"{coding}, {len(body)} bytes, more than {max_bytes} decoded")
    except _ERRORS as error:
        raise AnswerError(reasons.BAD_ENCODING, f"{coding}: {error}") from None
    return bytes(plain)


def _pieces(body: bytes, begin: Callable[[bytes], _Stream], magic: tuple[bytes, ...]) -> Iterator[bytes]:
    """Yields the decoded body in pieces of at most SLICE_BYTES.

    Args:
        begin: Makes the decoder of a stream, given the stream's first two bytes.
        magic: The bytes that a further stream may begin with; empty: there is one stream only.
    """
    at, streams = 0, 0
    while True:
        streams += 1
        if streams > MAX_STREAMS:
            raise AnswerError(reasons.BAD_ENCODING, f"more than {MAX_STREAMS} streams")
        stream = begin(body[at : at + 2])
        while not stream.eof:
            data = body[at : at + SLICE_BYTES]
            if not data:
                raise AnswerError(reasons.TRUNCATED, "the body ends within a stream")
            at += len(data)
            yield from stream.pieces(data)
        at -= len(stream.unused_data)
        if not body.startswith(magic, at):
            return


class _Inflate:
    """Decodes one stream of zlib's formats.

    Args:
        window: zlib's `wbits`, which also says which of the formats.
    """

    def __init__(self, window: int) -> None:
        self._zlib = zlib.decompressobj(window)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while not self.eof:
            piece = self._zlib.decompress(data, SLICE_BYTES)
            data = self._zlib.unconsumed_tail
            if not piece and not data:
                return
            yield piece


class _Brotli:
    unused_data = b""  # brotli raises an error for bytes after its stream

    def __init__(self) -> None:
        self._brotli = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._brotli.is_finished())

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while piece := self._brotli.process(data, output_buffer_limit=SLICE_BYTES):
            data = b""
            yield piece


class _Zstd:
    def __init__(self) -> None:
        self._zstd = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    @property
    def eof(self) -> bool:
        return self._zstd.eof

    @property
    def unused_data(self) -> bytes:
        return self._zstd.unused_data

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while not self.eof:
            piece = self._zstd.decompress(data, SLICE_BYTES)
            data = b""
            yield piece
            if self._zstd.needs_input:
                return


def _deflate(beginning: bytes) -> _Inflate:
    """Returns a decoder of zlib's format, as RFC 9110 (8.4.1.2) has it, or of bare deflate, which some servers send."""
    wrapped = beginning[0] & 0x0F == zlib.DEFLATED and not int.from_bytes(beginning) % 31
    return _Inflate(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)


_STREAMS: dict[str, Callable[[bytes], _Stream]] = {
    "gzip": lambda _beginning: _Inflate(16 + zlib.MAX_WBITS),  # 16 is zlib's way to say gzip
    "deflate": _deflate,
    "br": lambda _beginning: _Brotli(),
    "zstd": lambda _beginning: _Zstd(),
}
# How a further stream begins. zstd's also with a skippable frame, of 16 kinds.
_MAGIC: dict[str, tuple[bytes, ...]] = {
    "gzip": (b"\x1f\x8b",),
    "zstd": (b"\x28\xb5\x2f\xfd", *(bytes((0x50 + number, 0x2A, 0x4D, 0x18)) for number in range(16))),
}

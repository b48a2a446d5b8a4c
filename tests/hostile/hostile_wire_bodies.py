"""A page, and bodies that are more than they look."""

from __future__ import annotations

import functools
import gzip
import itertools
import zlib

import brotli

from crawler.download.codings import zstd

MIB = 1024 * 1024
BOMB_MIB = 256  # decoded: much more than the cap and than what the worker may grow by
TEXT = b"Some words of a page that is long enough to be one. " * 30
PAGE = b"<html><head><title>T</title></head><body><article><p>" + TEXT + b"</p></article></body></html>"


def answer(body=PAGE, *headers, status=b"200 OK", kind=b"text/html", length=True):
    """Returns a whole answer; without a length it ends with the connection."""
    body = body.encode() if isinstance(body, str) else body
    lines = [b"HTTP/1.1 " + status, b"Content-Type: " + kind, b"Connection: close", *headers]
    if length:
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def encoded(body, *codings):
    """Returns an answer whose body is in these codings, it says."""
    return answer(body, *(b"Content-Encoding: " + coding for coding in codings))


def chunk(data):
    return b"%x\r\n%b\r\n" % (len(data), data)


def chunked(*pieces, end=b"0\r\n\r\n"):
    """Returns an answer in these chunks."""
    return answer(b"", b"Transfer-Encoding: chunked", length=False) + b"".join(map(chunk, pieces)) + end


def bare_deflate(body):
    """Returns deflate without zlib's header, as some servers send it."""
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(body) + stream.flush()


def repeated(function, body, times):
    """Returns a body coded by a function again and again."""
    return functools.reduce(lambda inner, _: function(inner), range(times), body)


def gzip_bomb():
    """Returns 256 KB that are 256 MiB: a gzip file may have many members."""
    return gzip.compress(bytes(MIB), 9) * BOMB_MIB


def deflate_bomb():
    """Returns 256 KB that are 256 MiB: a flush that forgets what came before can be repeated."""
    stream = zlib.compressobj(9)
    head = stream.compress(b"") + stream.flush(zlib.Z_FULL_FLUSH)
    return head + (stream.compress(bytes(MIB)) + stream.flush(zlib.Z_FULL_FLUSH)) * BOMB_MIB


def brotli_bomb():
    """Returns a few bytes that are 256 MiB."""
    return brotli.compress(bytes(BOMB_MIB * MIB), quality=1)


def zstd_bomb():
    """Returns 20 KB that are 256 MiB."""
    return zstd.compress(bytes(BOMB_MIB * MIB))


def zstd_window():
    """Returns a small body that asks for a window of 128 MiB."""
    stream = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    return stream.compress(PAGE) + stream.flush()


def forever(*pieces):
    """Yields these again and again."""
    return itertools.cycle(pieces)

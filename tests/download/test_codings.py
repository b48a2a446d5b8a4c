"""Bodies come out as they went in, whole or not at all, and never more of them than was asked for."""

from __future__ import annotations

import contextlib
import functools
import gzip
import random
import tracemalloc
import zlib

import brotli
import pytest
from hostile.hostile_wire_bodies import MIB, bare_deflate

from crawler.base.errors import AnswerError
from crawler.download import codings
from crawler.download.codings import SLICE_BYTES, decode, zstd

SKIPPED = b"\x51\x2a\x4d\x18\x04\x00\x00\x00abcd"  # a zstd frame that holds nothing


CODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": bare_deflate,
    "br": functools.partial(brotli.compress, quality=1),
    "zstd": zstd.compress,
}


def reason(body, *header, most=MIB):
    with pytest.raises(AnswerError) as caught:
        decode(body, header, most)
    return caught.value.reason


@pytest.mark.parametrize("coding", CODERS)
@pytest.mark.parametrize("size", [0, 1, SLICE_BYTES - 1, SLICE_BYTES, SLICE_BYTES + 1, 5 * SLICE_BYTES])
@pytest.mark.parametrize("make", [bytes, random.Random(1).randbytes], ids=["zeros", "random"])
def test_what_goes_in_comes_out(coding, size, make):
    body = make(size)
    assert decode(CODERS[coding](body), [coding.encode()], 0) == body


def test_codings_come_off_in_the_opposite_order():
    assert decode(brotli.compress(gzip.compress(b"page")), [b" gzip ", b"br,identity"], 0) == b"page"
    assert decode(brotli.compress(gzip.compress(b"")), [b"gzip, br"], 0) == b""


@pytest.mark.parametrize("header", [b"identity", b"", b"UTF-8", b"none, "])
def test_what_is_no_coding_changes_nothing_and_an_empty_body_is_in_any(header):
    assert decode(b"page", [header], 0) == b"page"
    assert decode(b"", [b"gzip"], 0) == b""


def test_one_stream_after_the_other_and_rubbish_at_the_end():
    first, second = random.Random(2).randbytes(SLICE_BYTES), b"x" * SLICE_BYTES
    assert decode(gzip.compress(first) + gzip.compress(second) + b"\0\0", [b"gzip"], 0) == first + second
    assert decode(zstd.compress(first) + SKIPPED + zstd.compress(second) + b"x", [b"zstd"], 0) == first + second


@pytest.mark.parametrize("coding", CODERS)
def test_the_most_is_the_most(coding):
    body = CODERS[coding](bytes(MIB))
    assert len(decode(body, [coding.encode()], MIB)) == MIB
    assert reason(body, coding.encode(), most=MIB - 1) == "too-large"
    inner = gzip.compress(CODERS[coding](bytes(32 * MIB)))
    assert reason(inner, coding.encode(), b"gzip") == "too-large"


@pytest.mark.parametrize("coding", CODERS)
def test_a_bomb_takes_little_memory(coding):
    body = CODERS[coding](bytes(64 * MIB))
    tracemalloc.start()
    try:
        assert reason(body, coding.encode()) == "too-large"
        assert tracemalloc.get_traced_memory()[1] < 4 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("coding", CODERS)
def test_what_ends_early_is_truncated_and_what_is_something_else_refused(coding):
    body = CODERS[coding](random.Random(3).randbytes(1_000))
    assert reason(body[:-1], coding.encode()) == "truncated"
    assert reason(b"<html>a page</html>", coding.encode()) in (
        "bad-encoding",
        "truncated",
    )  # br's first bytes say little


def test_too_many_codings_and_streams_are_refused():
    assert reason(b"x", b",".join([b"gzip"] * (codings.MAX_CODINGS + 1))) == "bad-encoding"
    assert reason(gzip.compress(b"") * (codings.MAX_STREAMS + 1), b"gzip") == "bad-encoding"
    assert reason(SKIPPED * (codings.MAX_STREAMS + 1), b"zstd") == "bad-encoding"


@pytest.mark.parametrize("header", [b"compress", b"lzma", b"gzip\xff", b"\x00"])
def test_unknown_codings_are_refused(header):
    assert reason(b"page", header) == "bad-encoding"


def test_no_body_raises_anything_else():
    source = random.Random(4)
    names = list(CODERS)
    for _ in range(2_000):
        coding = source.choice(names)
        body = bytearray(CODERS[coding](source.choice([b"words " * 300, source.randbytes(500)])))
        for _ in range(source.randint(1, 4)):
            body[source.randrange(len(body))] = source.randrange(256)
        with contextlib.suppress(AnswerError):
            decode(bytes(body[: source.randint(1, 2 * len(body))]), [coding.encode()], MIB)

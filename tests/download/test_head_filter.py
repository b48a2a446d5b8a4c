"""A head loses what libcurl would refuse and browsers skip, and nothing else."""

from __future__ import annotations

import pytest

from crawler.base.errors import AnswerError
from crawler.download.head_filter import HeadFilter
from crawler.download.limits import MAX_HEAD_BYTES, MAX_HEAD_LINES

STATUS = b"HTTP/1.1 200 OK\r\n"
BODY = b"\r\nno colon\r\n\0\r\r\n"


@pytest.mark.parametrize(
    ("head", "passed"),
    [
        (b"A: b\r\nC:d\n", b"A: b\r\nC:d\n"),
        (b"A: b\r\n c\r\n\td: e\r\n", b"A: b\r\n c\r\n\td: e\r\n"),
        (b"no colon\r\n continued: b\r\nA: b\r\n", b"A: b\r\n"),
        (b" first: a\r\nA: b\r\n", b"A: b\r\n"),
        (b": a\r\nA b: c\r\nA : b\r\n\xff: a\r\n\0A: b\r\nA\0: b\r\n\rA: b\r\n", b""),
        (b"A: b\0c\0\r\nD: e\rf\r\r\n g\0\r\n", b"A: b c \r\nD: e f \r\n g \r\n"),
        (b"\r\r\nA: b\r\n", b"A: b\r\n"),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 1_000])
def test_lines_that_are_no_headers_are_dropped_and_bytes_that_end_lines_are_spaces(head, passed, step):
    answer, head_filter = STATUS + head + b"\r\n" + BODY, HeadFilter()
    pieces = [head_filter.feed(answer[at : at + step]) for at in range(0, len(answer), step)]
    assert b"".join(pieces) == STATUS + passed + b"\r\n" + BODY


def test_a_status_line_is_a_line_too():
    assert HeadFilter().feed(b"HTTP/1.1 200 O\0K\r\r\n\n\r") == b"HTTP/1.1 200 O K \r\n\n\r"


def test_every_head_before_the_body_is_filtered():
    hints = b"HTTP/1.1 103 Early Hints\r\nodd\r\n\r\n"
    expected = hints.replace(b"odd\r\n", b"") * 2 + STATUS + b"\r\n" + BODY
    assert HeadFilter().feed(hints * 2 + STATUS + b"odd\r\n\r\n" + BODY) == expected


@pytest.mark.parametrize("other", [b"<html>\nno colon\n", b"SSH-2.0-x\r\n\0", b"\r\n" + STATUS])
def test_what_is_no_answer_stays_as_it_is(other):
    assert HeadFilter().feed(other) == other


@pytest.mark.parametrize(
    "head",
    [
        b"x\r\n" * MAX_HEAD_LINES,
        b"A: b\r\n" * MAX_HEAD_LINES,
        b"x" * MAX_HEAD_BYTES,
        b"HTTP/1.1 100 Continue\r\n\r\n" * MAX_HEAD_LINES,
        (b"x" * (MAX_HEAD_BYTES // 10) + b"\r\n") * 10,
    ],
    ids=["dropped lines", "lines", "one line", "heads", "dropped bytes"],
)
@pytest.mark.parametrize("step", [1_000, 10_000_000])
def test_a_head_has_bounds_whether_it_is_dropped_or_not(head, step):
    answer, head_filter = (STATUS + head if head[:4] != b"HTTP" else head), HeadFilter()
    pieces = (answer[at : at + step] for at in range(0, len(answer), step))
    with pytest.raises(AnswerError, match="bad-headers"):
        list(map(head_filter.feed, pieces))

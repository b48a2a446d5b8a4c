"""Every way in which a fetch can fail has one outcome, and retries have growing delays."""

from __future__ import annotations

import builtins
import errno
import random
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from scrapy import exceptions
from scrapy.http import Headers
from twisted.internet import error as twisted_error

from crawler.base import errors
from crawler.base.errors import (
    AnswerError,
    ExtractError,
    FrontierError,
    NodeError,
    PageTimeoutError,
    SessionLostError,
    UnavailableError,
)
from crawler.render import errors as render_errors
from crawler.worker.visits import outcomes
from crawler.worker.visits.outcomes import (
    Outcome,
    outcome_of_error,
    outcome_of_extract_error,
    outcome_of_status,
    retry_after_s,
    retry_delay_ms,
)
from crawler.worker.visits.refused import RefusedError


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (exceptions.CannotResolveHostError(), ("retry", "dns")),
        (exceptions.DownloadConnectionRefusedError(), ("retry", "connection-refused")),
        (exceptions.DownloadTimeoutError(), ("retry", "timeout")),
        (exceptions.DownloadCancelledError(), ("fail", "too-large")),
        (exceptions.ResponseDataLossError(), ("retry", "truncated")),
        (exceptions.DownloadFailedError(), ("retry", "connection")),
        (exceptions.UnsupportedURLSchemeError(), ("fail", "unsupported-scheme")),
        (exceptions.IgnoreRequest(), ("fail", "ignored")),
        (RefusedError(Outcome("fail", "robots")), ("fail", "robots")),
        (UnavailableError("away"), ("release", "unavailable")),
        (AnswerError("bad-response", "no status line"), ("retry", "bad-response")),
        (AnswerError("tls"), ("retry", "tls")),
        (AnswerError("bad-headers"), ("fail", "bad-headers")),
        (PageTimeoutError("too long"), ("retry", "page-timeout")),
        (FrontierError("lost"), ("release", "no-session")),
        (SessionLostError("lost"), ("release", "no-session")),
        (OSError("anything"), ("retry", "download-error")),
        (NodeError("memory"), ("release", "node-lacks")),
        (OSError(errno.EMFILE, "too many open files"), ("release", "node-lacks")),
        (OSError(errno.ENOMEM, "no memory"), ("release", "node-lacks")),
        (MemoryError(), ("postpone", "out-of-memory")),
    ],
)
def test_an_exception_has_an_outcome(error, outcome):
    assert outcome_of_error(error) == outcome


def test_the_table_names_exceptions_that_exist():
    known = vars(builtins) | vars(exceptions) | vars(errors) | vars(render_errors) | vars(twisted_error)
    assert set(outcomes._BY_EXCEPTION) <= set(known)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, None),
        (203, None),
        (206, ("retry", "http-206")),
        (301, ("fail", "http-301")),
        (404, ("fail", "http-404")),
        (408, ("retry", "http-408")),
        (429, ("retry", "http-429")),
        (500, ("retry", "http-500")),
        (503, ("retry", "http-503")),
    ],
)
def test_a_status_has_an_outcome(status, outcome):
    assert outcome_of_status(status) == outcome


@pytest.mark.parametrize(
    ("reason", "status", "outcome"),
    [
        ("empty-body", 200, ("retry", "empty-body")),
        ("empty-body", 202, ("retry", "empty-body")),
        ("empty-body", 204, ("fail", "empty-body")),
        ("empty-body", 205, ("fail", "empty-body")),
        ("not-html", 200, ("fail", "not-html")),
        ("", 200, ("fail", "no-page")),
    ],
)
def test_only_an_empty_page_is_asked_for_again(reason, status, outcome):
    assert outcome_of_extract_error(ExtractError(reason), status) == outcome


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (b"", 0),
        (b"120", 120),
        (b" 7 ", 7),
        (b"99999999999999999999", 3_600),
        (b"9" * 400, 3_600),
        (b"-5", 0),
        (b"1.5", 0),
        (b"soon", 0),
        (b"\xff\xfe", 0),
        (b"Wed, 21 Oct 2015 07:28:00 GMT", 0),
        (b"Wed, 21 Oct 99999 07:28:00 GMT", 0),
        (b"Mon, 00 Jan 2030 99:99:99 +9999", 0),
    ],
)
def test_a_retry_after_is_a_number_of_seconds(header, seconds):
    assert retry_after_s(Headers({"Retry-After": header})) == seconds


def test_a_retry_after_may_be_a_date():
    until = datetime.now(UTC) + timedelta(seconds=90)
    assert 85 < retry_after_s(Headers({"Retry-After": format_datetime(until, usegmt=True)})) <= 90


def test_a_date_to_retry_after_counts_from_the_hosts_own_time():
    answered = datetime(2001, 2, 3, tzinfo=UTC)
    until = answered + timedelta(seconds=4)
    headers = Headers({"Date": format_datetime(answered, usegmt=True), "Retry-After": format_datetime(until)})
    assert retry_after_s(headers) == 4


def test_no_retry_after_raises():
    source = random.Random(1)
    alphabet = b"0123456789 ,:+-GMTJanWed\xff\x00"
    for _ in range(2_000):
        header = bytes(source.choices(alphabet, k=source.randint(0, 30)))
        assert 0 <= retry_after_s(Headers({"Retry-After": header, "Date": header[::-1]})) <= 3_600


def test_the_retry_delay_doubles_up_to_its_bound():
    for tries, middle_s in enumerate((2, 4, 8, 16)):
        waits = {retry_delay_ms(tries, 2, 600) for _ in range(50)}
        assert all(750 * middle_s <= wait <= 1_250 * middle_s for wait in waits)
        assert len(waits) > 1
    assert retry_delay_ms(99, 2, 600) <= 750_000


@pytest.mark.parametrize("judge", [outcomes.outcome_of_callback_error, outcomes.outcome_of_delivery_error])
def test_a_page_does_not_fail_for_what_its_node_lacks(judge):
    assert judge(OSError(errno.EMFILE, "too many open files")) == ("release", "node-lacks")
    assert judge(MemoryError()) == ("postpone", "out-of-memory")
    assert judge(OSError(errno.EACCES, "not allowed")).operation == "fail"

"""What an answer to robots.txt means, and what Redis may hold of it."""

import zlib
from base64 import b64encode

import orjson
import pytest

from crawler.robots.file import KEEP_FAILURES_SECONDS, KEEP_SECONDS, MAX_RECORD_BYTES, RobotsFile, page_delay_s
from crawler.robots.rules import MAX_FILE_BYTES, MAX_LINE_BYTES

DAY = 86_400


@pytest.mark.parametrize(
    ("status", "state"),
    [
        *((status, "rules") for status in (200, 203, 204)),
        *((status, "none") for status in (300, 301, 304, 400, 401, 403, 404, 410, 451, 499)),
        *((status, "unreachable") for status in (100, 206, 429, 500, 502, 503, 504, 599, 600, 999)),
    ],
)
def test_each_status_has_a_meaning(status, state):
    file = RobotsFile.from_response(status, b"User-agent: *", 0, None, 60)
    assert file.state == state
    assert file.text == (b"User-agent: *" if state == "rules" else b"")
    assert 0 < file.fresh_s <= file.expires_s <= DAY


def test_an_unreachable_file_is_asked_for_after_growing_delays_of_five_minutes_at_most():
    file, waits = None, []
    for _ in range(6):
        file = RobotsFile.from_no_response(file, 60)
        waits.append(file.fresh_s)
    assert waits == [60, 240, 300, 300, 300, 300]
    assert file.failures == 6
    assert RobotsFile.from_no_response(RobotsFile("unreachable", failures=10**9), 60).fresh_s == 300
    assert RobotsFile.from_response(404, b"", 0, file, 60).failures == 0


def test_the_longer_a_file_is_unreachable_the_more_pages_are_held_for_a_question():
    assert [RobotsFile("unreachable", failures=failures).pages_held for failures in (1, 2, 3, 4, 10**9)] == [
        *(10, 20, 40, 60, 60)
    ]


def test_a_page_s_own_delays_grow_to_an_hour():
    assert [page_delay_s(tries, 60) for tries in (0, 1, 2, 3, 10**9)] == [60, 240, 960, 3600, 3600]


def test_a_retry_after_is_the_shortest_delay():
    assert RobotsFile.from_response(429, b"", 1800, None, 60).fresh_s == 1800
    assert RobotsFile.from_response(503, b"", 10, None, 60).fresh_s == 60
    assert RobotsFile.from_response(503, b"", 10**9, None, 60).expires_s <= DAY


def test_a_record_has_all_of_a_file_but_its_age():
    unreachable = RobotsFile.from_no_response(None, 60)
    for file in (RobotsFile("rules", b"User-agent: \xff\0" * 99), RobotsFile("none"), unreachable):
        assert RobotsFile.load(file.dump(), file.expires_s) == file
    assert RobotsFile.load(unreachable.dump(), KEEP_FAILURES_SECONDS - 1).fresh_s < 0


def test_the_largest_file_fits_into_a_record():
    noise = b"".join(zlib.crc32(b"%d" % number).to_bytes(4) for number in range(200_000))
    file = RobotsFile.from_response(200, noise.replace(b"\n", b"").replace(b"\r", b""), 0, None, 60)
    assert len(file.text) == MAX_FILE_BYTES + MAX_LINE_BYTES
    assert len(file.dump()) < MAX_RECORD_BYTES
    assert RobotsFile.load(file.dump(), KEEP_SECONDS) == file


def record(**changes):
    return orjson.dumps({"state": "rules", "text": "", "failures": 0} | changes)


@pytest.mark.parametrize(
    ("raw", "seconds"),
    [
        (b"", 60),
        (b"{", 60),
        (b"[]", 60),
        (b"null", 60),
        (b'"rules"', 60),
        (b"{}", 60),
        (record(state="all"), 60),
        (record(state=["rules"]), 60),
        (record(failures=True), 60),
        (record(failures="1"), 60),
        (record(text=1), 60),
        (record(text="é"), 60),
        (record(text="????"), 60),
        (record(text=b64encode(b"plain").decode()), 60),
        (record(text=b64encode(zlib.compress(b"cut off" * 9)[:-6]).decode()), 60),
        (record(text=b64encode(zlib.compress(b"\0" * 10**8)).decode()), 60),
        (b"[" * 100_000, 60),
        (record(), -0.001),
        (record(), DAY + 1),
    ],
)
def test_junk_is_no_record(raw, seconds):
    assert RobotsFile.load(raw, seconds) is None

"""Which JSON of a page is kept: in its order, each request once, what is wanted before all else."""

from __future__ import annotations

import pytest

from crawler.base.models import JsonAnswer
from crawler.render import json_log
from crawler.render.exchange import PageAnswer, PageRequest
from crawler.render.json_log import JsonLog

ORIGIN = "http://site.test"
JSON = ((b"Content-Type", b"application/vnd.api+json"),)


def noted(log, number, path, body=b"{}", *, status=200, headers=JSON, sent=b""):
    method = "POST" if sent else "GET"
    asked = PageRequest(f"{ORIGIN}{path}", method, (), sent, "Fetch", is_page=False)
    log.note(number, asked, PageAnswer(status, headers, body))


@pytest.fixture
def log():
    return JsonLog(lambda url: "/api/" in url)


def bodies(log):
    return [answer.body for answer in log.answers]


def test_answers_stand_in_the_order_in_which_they_were_asked_for(log):
    for number in (3, 1, 2):
        noted(log, number, f"/api/{number}", b"%d" % number)
    assert bodies(log) == [b"1", b"2", b"3"]


def test_a_request_that_is_repeated_counts_once_with_its_last_answer(log):
    noted(log, 1, "/api/posts", b"[1]")
    noted(log, 2, "/api/query", b"{}", sent=b"a")
    noted(log, 3, "/api/query", b"[]", sent=b"b")
    noted(log, 4, "/api/posts", b"[1, 2]")
    assert bodies(log) == [b"[1, 2]", b"{}", b"[]"]
    assert [answer.method for answer in log.answers] == ["GET", "POST", "POST"]


def test_an_error_takes_no_answer_s_place(log):
    noted(log, 1, "/api/posts", b"[0]", status=503)
    noted(log, 2, "/api/posts", b"[1]")
    noted(log, 3, "/api/posts", b"[2]", status=503)
    assert bodies(log) == [b"[1]"]
    assert log.has_wanted


def test_json_is_told_by_its_type_or_by_itself(log):
    for number, (headers, body) in enumerate(
        [
            (JSON, b"1"),
            ((), b' {"a": 1}'),
            (((b"Content-Type", b"text/plain"),), b"[]"),
            ((), b"{no: json}"),
            ((), b"text"),
            (JSON, b""),
        ]
    ):
        noted(log, number, f"/api/{number}", body, headers=headers)
    noted(log, 9, "/api/moved", status=302)
    assert bodies(log) == [b"1", b' {"a": 1}', b"[]"]


def test_what_is_wanted_has_room_of_its_own(log, monkeypatch):
    monkeypatch.setattr(json_log, "MAX_BYTES", 10)
    monkeypatch.setattr(json_log, "MAX_ANSWERS", 3)
    for number in range(4):
        noted(log, number, f"/other/{number}", b"123456")
    assert (bodies(log), log.left_out, log.has_wanted) == ([b"123456"], 0, False)
    noted(log, 4, "/api/gone", b"1", status=404)
    assert not log.has_wanted
    for number in range(5, 9):
        noted(log, number, f"/api/{number}", b"1")
    assert (len(log.wanted), log.left_out, log.has_wanted) == (3, 2, True)
    noted(log, 9, "/api/5", b"12345678901")
    assert (log.left_out, JsonAnswer(f"{ORIGIN}/api/5", b"1", is_wanted=True) in log.answers) == (3, True)

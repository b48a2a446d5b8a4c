"""A page that can't be parsed has one reason, and none takes long."""

import contextlib
import time

import pytest
from extract.pages import API, BOARD, html, json, reason

from crawler import extract
from crawler.base.errors import ExtractError
from crawler.extract.document import MAX_BODY_BYTES


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"", "text/html", "empty-body"),
        (b" \n\0", "text/html", "empty-body"),
        (b"%PDF-1.7 <<", "application/pdf", "not-html"),
        (b"%PDF-1.7 <<", "text/html", "not-html"),
        (b"\x89PNG\r\n\x1a\n<", "text/html", "not-html"),
        (b'{"a": "<p class=post>"}', "application/json", "not-html"),
        (b"just text", "text/html", "not-html"),
        (b"a <- b", "text/plain", "not-html"),
        (b"<>", "text/html", "no-content"),
        (b"\xff\xfe\xfd<p>", "text/html", "no-content"),
        (b"<p>nothing that matches</p>", "text/html", "no-content"),
        (b"<!-- only a comment -->", "text/html", "no-content"),
        (b"<p class=post>" + b"x" * MAX_BODY_BYTES, "text/html", "too-large"),
    ],
)
def test_a_bad_page_has_one_reason(body, content_type, expected):
    assert reason(extract.fields, html(body, content_type), BOARD) == expected
    on_results = "not-results" if expected == "no-content" else expected
    assert reason(extract.links, html(body, content_type), BOARD) == on_results


@pytest.mark.parametrize("rel", ["canonical", "'canonical nofollow'", "'nofollow Canonical'"])
def test_a_page_gives_its_own_address_by_a_rel_that_may_say_more(rel):
    found = extract.fields(html(f"<link rel={rel} href=/one><p class=post>text"), BOARD)
    assert found.canonical_url == "http://127.0.0.1:8800/one"


@pytest.mark.parametrize("body", [b"{", b"<html>", b"\xff\xfe", b"[" * 100_000, b"NaN"])
def test_bad_json_has_one_reason(body):
    assert reason(extract.fields, json(body), API) == "not-json"
    assert reason(extract.links, json(body), API) == "not-json"


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 50_000 + "<p class=post>deep",
        "<p class=post>" + "<b>" * 50_000 + "deep",
        "<p class=post>text" + "<p a='" * 10_000,
        "<p class=post>text&" + "#" * 10_000 + "&#99999999999;&#0;",
        "<p class=post>text</p>" + "<img class=x src=/i>" * 20_000,
    ],
    ids=["deep-around", "deep-inside", "open-quotes", "entities", "many"],
)
def test_hostile_markup_takes_bounded_time(body):
    begun_s = time.process_time()
    with contextlib.suppress(ExtractError):
        extract.fields(html(body), BOARD)
    assert time.process_time() - begun_s < 5

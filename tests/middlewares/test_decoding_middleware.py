"""Answers reach the spider decoded; a body that can't be decoded decides the outcome of its seed."""

from __future__ import annotations

import gzip

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

from crawler.base.errors import AnswerError
from crawler.middlewares.decoding import DecodingMiddleware
from crawler.worker.visits.outcomes import outcome_of_error

REQUEST = Request("http://a.test/")
PAGE = b"<html>page</html>"


@pytest.fixture
def middleware():
    return DecodingMiddleware.from_crawler(get_crawler(settings_dict={"DOWNLOAD_MAXSIZE": 1_000}))


def response(body, coding, status=200):
    headers = {"Content-Encoding": coding, "Content-Type": "text/html"}
    return Response("http://a.test/", status=status, headers=headers, body=body)


def test_accept_encoding_is_set_unless_the_request_has_one(middleware):
    request = Request("http://a.test/")
    middleware.process_request(request)
    assert request.headers["Accept-Encoding"] == b"gzip, deflate, br, zstd"
    plain = Request("http://a.test/", headers={"Accept-Encoding": "identity"})
    middleware.process_request(plain)
    assert plain.headers["Accept-Encoding"] == b"identity"


@pytest.mark.parametrize("coding", ["gzip", "gzip, identity"])
def test_a_page_is_decoded_and_its_content_encoding_removed(middleware, coding):
    decoded = middleware.process_response(REQUEST, response(gzip.compress(PAGE, mtime=0), coding))
    assert isinstance(decoded, HtmlResponse)
    assert decoded.body == PAGE
    assert "Content-Encoding" not in decoded.headers


@pytest.mark.parametrize(
    ("body", "coding", "outcome"),
    [
        (PAGE, "gzip", ("fail", "bad-encoding")),
        (PAGE, "lzma", ("fail", "bad-encoding")),
        (gzip.compress(PAGE, mtime=0)[:-1], "gzip", ("retry", "truncated")),
        (gzip.compress(bytes(1_001), mtime=0), "gzip", ("fail", "too-large")),
    ],
)
def test_a_page_that_can_t_be_decoded_is_an_error(middleware, body, coding, outcome):
    with pytest.raises(AnswerError) as caught:
        middleware.process_response(REQUEST, response(body, coding))
    assert outcome_of_error(caught.value) == outcome


def test_an_answer_that_is_no_page_only_loses_its_body(middleware):
    answer = middleware.process_response(REQUEST, response(PAGE, "gzip", status=503))
    assert (answer.status, answer.body) == (503, b"")

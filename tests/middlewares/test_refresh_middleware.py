"""A page that leads elsewhere at once by a refresh is a redirect; all other pages with one are pages."""

from __future__ import annotations

import pytest
from samples import RecordedVisit
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from crawler.middlewares.refresh import RefreshMiddleware
from crawler.sites import Site
from crawler.sites.follow import Follow
from crawler.worker.visits.refused import RefusedError
from crawler.worker.worker import Worker


@pytest.fixture
def middleware(worker, monkeypatch):
    worker.claiming.sites = {"s": Site(name="s", follow=Follow(deny=["/private"]))}
    monkeypatch.setattr(Worker, "of", lambda _crawler: worker)
    return RefreshMiddleware.from_crawler(get_crawler())


def meta(content):
    return f'<meta http-equiv=refresh content="{content}">'


def page(request, html, status=200, **headers):
    return HtmlResponse(request.url, status=status, headers=headers, body=html, encoding="utf-8", request=request)


@pytest.mark.parametrize(
    ("html", "headers"),
    [
        (meta("0; url=/there"), {}),
        ("<head><title>Moved</title><META CONTENT=\"0;URL='/there'\" HTTP-EQUIV='Refresh'>", {}),
        (meta("0.5,/there"), {}),
        (f"<base href='http://a.test/folder/'>{meta('0 url=../there')}", {}),
        ("", {"Refresh": "0; url=/there"}),
        (f"<noscript>{meta('0; url=/other')}</noscript>{meta('0; url=/there')}", {}),
    ],
)
def test_a_refresh_at_once_is_followed(middleware, recorded, html, headers):
    request = recorded.request("http://a.test/page")
    target = middleware.process_response(request, page(request, html, **headers))
    assert isinstance(target, Request)
    assert target.url == "http://a.test/there"


def test_one_in_another_encoding_is_followed(middleware, recorded):
    request = recorded.request("http://a.test/page")
    body = f"\ufeff{meta('0; url=/there')}".encode("utf-16-le")
    assert middleware.process_response(request, page(request, body)).url == "http://a.test/there"


def test_one_to_another_host_reaches_the_spider_as_a_redirect(middleware, recorded):
    request = recorded.request("http://a.test/page")
    answer = middleware.process_response(request, page(request, meta("0; url=//b.test/")))
    assert (answer.status, answer.headers["Location"]) == (302, b"http://b.test/")


@pytest.mark.parametrize(
    "html",
    [
        meta("5; url=/there"),
        meta("0"),
        meta("0; url=/page"),
        meta("0; url=javascript:go()"),
        f"<noscript>{meta('0; url=/there')}</noscript>",
        f"<!-- {meta('0; url=/there')} -->",
        f"<template>{meta('0; url=/there')}</template>",
    ],
)
def test_any_other_page_stays_one(middleware, recorded, html):
    request = recorded.request("http://a.test/page")
    response = page(request, html)
    assert middleware.process_response(request, response) is response


def test_a_page_that_sets_a_cookie_may_ask_for_itself_once(middleware, recorded):
    request = recorded.request("http://a.test/page")
    for is_followed in (True, False):
        response = page(request, meta("0; url=/page"), **{"Set-Cookie": "pass=1"})
        answer = middleware.process_response(request, response)
        assert (answer is not response) == is_followed
        request = answer


def test_what_says_that_there_is_no_page_leads_nowhere(middleware, recorded):
    request = recorded.request("http://a.test/page")
    response = page(request, meta("0; url=/there"), status=404)
    assert middleware.process_response(request, response) is response


def test_the_page_of_a_followed_link_stays_in_scope(middleware):
    request = RecordedVisit(depth=1).request("http://a.test/page", is_page=True)
    with pytest.raises(RefusedError, match="out-of-scope"):
        middleware.process_response(request, page(request, meta("0; url=/private"), **{"Set-Cookie": "pass=1"}))

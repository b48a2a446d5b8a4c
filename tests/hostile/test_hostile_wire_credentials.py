"""What one host is told, another never hears: cookies and credentials on redirects."""

from __future__ import annotations

import pytest
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_cases import FINISH
from hostile.hostile_wire_server import Host
from hostile.hostile_wire_worker import Worker
from samples import RecordedVisit
from scrapy import Request
from scrapy.utils.test import get_crawler

from crawler.middlewares.redirect import RedirectMiddleware

SECRETS = {"Authorization": "Basic c2VjcmV0", "Cookie": "session=secret"}


@pytest.fixture
def middleware():
    return RedirectMiddleware.from_crawler(get_crawler(settings_dict={"REDIRECT_MAX_TIMES": 5}))


def redirected(middleware, url, location):
    recorded = RecordedVisit()
    request = recorded.request(url).replace(headers=SECRETS)
    return middleware.process_response(request, recorded.response(request, 302, location=location))


@pytest.mark.parametrize(
    ("url", "location", "kept"),
    [
        ("http://a.test/", "/b", {"Authorization", "Cookie"}),
        ("http://a.test/", "https://a.test/b", {"Cookie"}),
        ("https://a.test/", "http://a.test/b", set()),
    ],
)
async def test_on_the_same_host_they_are_kept_as_browsers_do(middleware, url, location, kept):
    target = redirected(middleware, url, location)
    assert isinstance(target, Request)
    assert {name for name in SECRETS if name in target.headers} == kept


@pytest.mark.parametrize("location", ["http://b.test/", "//b.test/", "/\\b.test/", "http:///b.test/", "//a.test:81/"])
async def test_to_another_host_no_request_is_made_of_them(middleware, location):
    assert not isinstance(redirected(middleware, "http://a.test/", location), Request)


def test_a_site_s_cookies_are_its_own(fork_server, redis_server, tmp_path):
    cookies = b"Set-Cookie: own=secret\r\nSet-Cookie: wide=secret; Domain=%b\r\nSet-Cookie: all=secret; Domain=."
    there = Host(lambda _path: [answer()], address="127.0.0.2")
    steps = {
        "/page": answer(b"", b"Location: /in", cookies % there.address.encode(), status=b"302 Found"),
        "/in": answer(b"", b"Location: " + there.page.encode(), status=b"302 Found"),
    }
    here = Host(lambda path: [steps[path]])
    try:
        with Worker(fork_server, redis_server, tmp_path, {"COOKIES_ENABLED": 1}) as worker:
            assert worker.crawl([here.page]) == {here.page: FINISH}
            assert set(worker.items()) == {there.page}
    finally:
        here.close()
        there.close()
    assert [one.path for one in here.pages()] == ["/page", "/in"]
    assert b"own=secret" in here.pages()[1].head
    for one in there.asked:
        assert b"secret" not in one.head
        assert b"\r\nCookie:" not in one.head
        assert b"Authorization" not in one.head

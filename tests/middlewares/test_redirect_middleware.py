"""A redirect on the same host is followed on the same lane; one to another host is left to the spider."""

from __future__ import annotations

from dataclasses import replace

import pytest
from samples import RecordedVisit, a_claim
from scrapy import Request
from scrapy.utils.test import get_crawler

from crawler.middlewares.redirect import RedirectMiddleware
from crawler.sites import Site
from crawler.sites.follow import Follow
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker


@pytest.fixture
def middleware(worker, monkeypatch):
    worker.claiming.sites = {"s": Site(name="s", follow=Follow(deny=["/private"]))}
    monkeypatch.setattr(Worker, "of", lambda _crawler: worker)
    return RedirectMiddleware.from_crawler(get_crawler(settings_dict={"REDIRECT_MAX_TIMES": 2}))


def test_a_redirect_on_the_same_host_is_followed_on_the_same_lane(middleware, recorded):
    request = recorded.request("http://a.test/old")
    target = middleware.process_response(request, recorded.response(request, 302, location="/new"))
    assert isinstance(target, Request)
    assert target.url == "http://a.test/new"
    assert state_of(target).held_lane is recorded.lane
    assert state_of(target).visit is recorded.visit


@pytest.mark.parametrize(
    ("url", "location", "kept"),
    [
        ("http://a.test/", "/b", {"Authorization", "Cookie"}),
        ("http://a.test/", "https://a.test/b", {"Cookie"}),
        ("https://a.test/", "http://a.test/b", set()),
    ],
)
def test_credentials_are_kept_on_the_same_host_as_browsers_do(middleware, recorded, url, location, kept):
    secrets = {"Authorization": "Basic c2VjcmV0", "Cookie": "session=secret"}
    request = recorded.request(url).replace(headers=secrets)
    target = middleware.process_response(request, recorded.response(request, 302, location=location))
    assert isinstance(target, Request)
    assert {name for name in secrets if name in target.headers} == kept


def test_cookies_go_along_a_chain_of_redirects_and_no_further(middleware, recorded):
    """Whatever is set again or taken back on the way; of one name the site's own counts, as `over18` here."""
    sent = []
    request = recorded.request("http://a.test/page").replace(headers={"Cookie": "over18=1"})
    for location, cookies in [
        ("/gate", ["pass=1; Path=/", "over18=0", "other=1; Domain=b.test"]),
        ("/page", ["pass=2; Path=/", "gate=1; Path=/gate"]),
    ]:
        response = recorded.response(request, 302, location=location)
        response.headers.setlist("Set-Cookie", cookies)
        request = middleware.process_response(request, response)
        middleware.process_request(request)
        sent.append(request.headers["Cookie"])
    assert sent == [b"over18=1; pass=1", b"over18=1; pass=2"]
    other = recorded.request("http://a.test/page")
    middleware.process_request(other)
    assert "Cookie" not in other.headers


OTHER_HOSTS = ["http://b.test/", "//b.test/", "/\\b.test/", "http:///b.test/", "http://www.a.test/"]


@pytest.mark.parametrize("location", [*OTHER_HOSTS, "http://a.test:8080/", "//a.test:81/"])
def test_a_redirect_to_another_host_reaches_the_spider(middleware, recorded, location):
    request = recorded.request("http://a.test/")
    response = recorded.response(request, 302, location=location)
    assert middleware.process_response(request, response) is response


@pytest.mark.parametrize(
    ("status", "location", "more", "reaches_spider"),
    [
        (301, "/new", {}, True),
        (308, "https://a.test/page", {}, True),
        *((status, "/new", {}, True) for status in (302, 303, 307)),
        (301, "/page?utm_source=x", {}, False),  # the same page, as it is identified
        (301, "/gate", {"set_cookie": "pass=1"}, False),
        (302, "/login", {}, False),
        (302, "/members?next=/page", {}, False),
        (301, "/login", {}, True),
        (302, "/first", {}, False),  # which has led here
    ],
)
def test_a_page_that_has_moved_reaches_the_spider(middleware, status, location, more, reaches_spider):
    recorded = RecordedVisit("http://a.test/page")
    recorded.visit.seeds = (replace(recorded.visit.seed, stands_for="http://a.test/first"),)
    request = recorded.request("http://a.test/page", is_page=True)
    response = recorded.response(request, status, location=location, **more)
    assert (middleware.process_response(request, response) is response) == reaches_spider
    image = recorded.request("http://a.test/page")
    assert isinstance(middleware.process_response(image, response), Request)


@pytest.mark.parametrize("location", ["ftp://a.test/", "http://", "javascript:alert(1)", "file:///etc/passwd"])
def test_a_redirect_to_no_valid_url_fails_the_seed(middleware, recorded, location):
    request = recorded.request("http://a.test/")
    with pytest.raises(RefusedError) as caught:
        middleware.process_response(request, recorded.response(request, 302, location=location))
    assert caught.value.outcome == ("fail", "bad-redirect")


def test_a_redirect_to_what_only_a_script_can_open_fails_the_seed(middleware, recorded):
    request = recorded.request("http://a.test/")
    with pytest.raises(RefusedError) as caught:
        middleware.process_response(request, recorded.response(request, 302, location="/#/login"))
    assert caught.value.outcome == ("fail", "script-route")


def test_too_many_redirects_fail_the_seed(middleware, recorded):
    request = recorded.request("http://a.test/0")
    for number in range(1, 3):
        request = middleware.process_response(request, recorded.response(request, 302, location=f"/{number}"))
    with pytest.raises(RefusedError) as caught:
        middleware.process_response(request, recorded.response(request, 302, location="/3"))
    assert caught.value.outcome == ("fail", "too-many-redirects")


@pytest.mark.parametrize(
    ("depth", "is_page", "location", "followed"),
    [
        (1, True, "/open", True),
        (1, True, "/private", False),
        (1, False, "/private", True),  # an image, say
        (0, True, "/private", True),  # what a search found
    ],
)
def test_the_page_of_a_followed_link_stays_in_scope(middleware, depth, is_page, location, followed):
    recorded = RecordedVisit(depth=depth)
    request = recorded.request(is_page=is_page)
    response = recorded.response(request, 302, location=location, set_cookie="pass=1")
    if followed:
        assert middleware.process_response(request, response).url == f"http://a.test{location}"
        return
    with pytest.raises(RefusedError) as caught:
        middleware.process_response(request, response)
    assert caught.value.outcome == ("fail", "out-of-scope")


def test_a_plan_for_which_the_target_is_out_of_scope_is_left_to_a_visit_of_its_own(middleware):
    found = a_claim().seed
    recorded = RecordedVisit(depth=1, also=(replace(found, plan="q"),))
    request = recorded.request(is_page=True)
    middleware.process_response(request, recorded.response(request, 302, location="/private", set_cookie="pass=1"))
    assert recorded.visit.seed.plan == "q"
    recorded.visit.items = 1
    recorded.end_callback()
    assert recorded.settlements[0].served == "0 q"  # p isn't told of what is found there either

"""Scripts and styles of rendered pages: kept while they are fresh, asked for once, bounded in bytes."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.http import Headers, Response

from crawler.download.page_rules import is_tracker
from crawler.download.script_cache import FLOOR_SECONDS, MAX_SECONDS, ScriptCache, ScriptKey, fresh_seconds

URL = "https://a.test/app.js"


def key(url=URL, site="", origin=""):
    return ScriptKey(url, site, origin)


class Downloads:
    """Counts what is downloaded."""

    def __init__(self, body=b"script", status=200, **headers):
        self.number = 0
        self._body, self._status, self._headers = body, status, headers

    async def __call__(self):
        self.number += 1
        await asyncio.sleep(0)
        return Response(URL, status=self._status, headers=self._headers, body=self._body)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, FLOOR_SECONDS),
        ({"Cache-Control": "no-cache"}, FLOOR_SECONDS),
        ({"Cache-Control": "public, max-age=3600"}, 3_600),
        ({"Cache-Control": "max-age=31536000, immutable"}, MAX_SECONDS),
        ({"Cache-Control": "max-age=1"}, FLOOR_SECONDS),
        ({"Cache-Control": "private, no-store"}, 0),
        ({"Cache-Control": "max-age=600,private"}, 0),
        ({"Cache-Control": 'private="set-cookie"'}, 0),
        ({"Vary": "*"}, 0),
        ({"Vary": "Accept-Encoding, cookie"}, 0),
        ({"Vary": "X-Cookie"}, FLOOR_SECONDS),
        ({"Date": "Mon, 01 Jun 2026 00:00:00 GMT", "Expires": "Mon, 01 Jun 2026 02:00:00 GMT"}, 7_200),
        ({"Date": "Mon, 01 Jun 2026 00:00:00 GMT", "Expires": "0"}, FLOOR_SECONDS),
        ({"Cache-Control": "max-age=99999999999999"}, MAX_SECONDS),
    ],
)
def test_an_answer_is_fresh_as_it_says_within_bounds(headers, seconds):
    assert fresh_seconds(Headers(headers)) == seconds


async def test_pages_that_want_a_script_at_once_have_it_fetched_once():
    cache, downloads = ScriptCache(), Downloads()
    answers = await asyncio.gather(*(cache.get(key(), downloads) for _ in range(60)))
    assert {answer.body for answer in answers} == {b"script"}
    assert downloads.number == 1


async def test_what_a_site_s_own_headers_brought_is_for_its_pages_alone():
    cache, downloads = ScriptCache(), Downloads()
    for one in (key(), key(site="s"), key(origin="https://b.test")):
        await cache.get(one, downloads)
    assert downloads.number == 3


async def test_a_download_that_fails_is_tried_by_the_next_page():
    cache, downloads = ScriptCache(), Downloads()

    async def fail():
        await asyncio.sleep(0)
        raise ConnectionError

    answers = await asyncio.gather(cache.get(key(), fail), cache.get(key(), downloads), return_exceptions=True)
    assert isinstance(answers[0], ConnectionError)
    assert answers[1].body == b"script"


@pytest.mark.parametrize(("status", "number"), [(200, 1), (404, 1), (503, 2), (302, 2)])
async def test_that_there_is_no_script_is_kept_and_trouble_is_not(status, number):
    cache, downloads = ScriptCache(), Downloads(status=status)
    for _ in range(2):
        await cache.get(key(), downloads)
    assert downloads.number == number


async def test_the_least_used_go_first_when_the_bytes_are_too_many():
    cache, downloads = ScriptCache(max_bytes=250), Downloads(body=bytes(100))
    for name in ("1", "2", "1", "3", "1", "2"):
        await cache.get(key(name), downloads)
    assert downloads.number == 4  # 2 was dropped for 3
    await cache.get(key("large"), large := Downloads(body=bytes(300)))
    await cache.get(key("large"), large)
    assert large.number == 2


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.google-analytics.com/g/collect", True),
        ("https://google-analytics.com/", True),
        ("https://not-google-analytics.com/", False),
        ("https://cdn.example.org/analytics.js", False),
    ],
)
def test_hosts_that_count_visitors_are_known(url, expected):
    assert is_tracker(url) is expected

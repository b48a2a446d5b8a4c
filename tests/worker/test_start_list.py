"""Entries of start lists become the requests that scrapy-redis makes of them, or are refused with the reason."""

from __future__ import annotations

import json

import pytest
from scrapy.utils.test import get_crawler
from scrapy_redis.spiders import RedisSpider

from crawler.base.errors import ConfigError, UrlError
from crawler.sites import Site
from crawler.worker.start_list import StartEntryError, StartList, start_lists

WEB = Site.model_validate({"name": "web"})
ENTRIES = [
    b"http://a.test/1",
    b'{"url": "http://a.test/2"}',
    b' {"url": "http://a.test/2?x=1", "method": "get", "meta": {}}',
    b'{"url": "http://a.test/3?old=1", "q": "flood relief", "tag": ["a", "b"]}',
    '{"url": "http://a.test/ä", "q": "ü&="}'.encode(),
]


def seed(entry, **target):
    return StartList("k", "books", **target).seed(entry, WEB)


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_becomes_the_page_that_scrapy_redis_asks_for(entry):
    spider = RedisSpider(name="spider")
    spider.crawler = get_crawler()
    spider.redis_encoding = "utf-8"
    request = spider.make_request_from_data(entry.strip())
    made = seed(entry)
    assert (made.method, made.url) == (request.method, request.url)
    assert (made.plan, made.site, made.frontier) == ("books", "web", "content")


def test_the_site_says_what_of_a_url_tells_pages_apart():
    site = Site.model_validate({"name": "s", "drop_parameters": ["sid"], "identity": "exact"})
    made = StartList("k", "books", "s").seed(b"http://a.test/?sid=1&a=2", site)
    assert (made.url, made.exact) == ("http://a.test/?a=2", True)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (b"\xff", "not UTF-8"),
        (b"http://a.test/" + b"\xff" * (1 << 16), "longer than 65,536 bytes"),
        (b"{no json", "it begins as JSON, but is none"),
        (b"{}", "url: expected a text"),
        (b'{"url": 7}', "url: expected a text"),
        (b'{"url": "http://a.test/", "method": "POST", "q": "a"}', "method: got 'POST', expected GET"),
        (b'{"url": "http://a.test/", "meta": {"job": 1}}', "meta: a seed has none"),
        (b'{"url": "http://a.test/", "cookies": {"a": "b"}}', "'cookies': expected a text or a list of texts"),
        (b'{"url": "http://a.test/", "page": 2}', "'page': expected a text or a list of texts"),
    ],
)
def test_what_a_seed_can_t_ask_for_is_refused(entry, why):
    with pytest.raises(StartEntryError, match=why):
        seed(entry)


@pytest.mark.parametrize("entry", [b"", b"a.test", b"ftp://a.test/", b'{"url": "javascript:0"}', b"http://a.test/#/1"])
def test_what_is_no_url_is_refused(entry):
    with pytest.raises(UrlError):
        seed(entry)


def test_what_the_setting_ignores_is_dropped():
    entry = json.dumps({"url": "http://a.test/", "meta": {"job": 1}, "cookies": {}}).encode()
    assert seed(entry, ignore=frozenset({"meta", "cookies"})).url == "http://a.test/"


def test_the_setting_may_be_a_dict_or_json():
    value = {"a:start_urls": {"plan": "books"}, "b": {"plan": "news", "site": "s", "ignore": ["meta"]}}
    expected = (StartList("a:start_urls", "books", "web"), StartList("b", "news", "s", frozenset({"meta"})))
    assert start_lists({"START_LISTS": value}, "hr") == expected
    assert start_lists({"START_LISTS": json.dumps(value)}, "hr") == expected
    assert start_lists({}, "hr") == start_lists({"START_LISTS": ""}, "hr") == ()


@pytest.mark.parametrize(
    "value",
    [
        "{",
        "[]",
        "7",
        {"": {"plan": "books"}},
        {"a": "books"},
        {"a": {}},
        {"a": {"plan": "Not A Name"}},
        {"a": {"plan": 7}},
        {"a": {"plan": "books", "site": "no/name"}},
        {"a": {"plan": "books", "ignore": "meta"}},
        {"a": {"plan": "books", "ignore": 7}},
        {"a": {"plan": "books", "unknown": 1}},
        {"a:refused": {"plan": "books"}},
        {"hr:{0}:seed": {"plan": "books"}},
    ],
)
def test_a_setting_that_is_none_is_refused_by_name(value):
    with pytest.raises(ConfigError, match="START_LISTS"):
        start_lists({"START_LISTS": value}, "hr")

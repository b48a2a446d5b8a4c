"""One pass gives requests what Scrapy's four middlewares give them."""

import pytest
from scrapy import Request, Spider, signals
from scrapy.downloadermiddlewares.defaultheaders import DefaultHeadersMiddleware
from scrapy.downloadermiddlewares.downloadtimeout import DownloadTimeoutMiddleware
from scrapy.downloadermiddlewares.httpauth import HttpAuthMiddleware
from scrapy.downloadermiddlewares.useragent import UserAgentMiddleware
from scrapy.utils.test import get_crawler

from crawler.fast.defaults import LeanDefaults

SCRAPYS = (HttpAuthMiddleware, DownloadTimeoutMiddleware, DefaultHeadersMiddleware, UserAgentMiddleware)
SETTINGS = {
    "plain": {"USER_AGENT": "ours/1", "DOWNLOAD_TIMEOUT": 7},
    "auth": {"HTTPAUTH_USER": "u", "HTTPAUTH_PASS": "p", "HTTPAUTH_DOMAIN": "a.example"},
    "none": {"DEFAULT_REQUEST_HEADERS": {}, "USER_AGENT": "", "DOWNLOAD_TIMEOUT": 0},
}
REQUESTS = {
    "plain": {},
    "agent": {"headers": {"User-Agent": "theirs"}},
    "language": {"headers": {"accept-language": "zh", "X": ["1", "2"]}},
    "timeout": {"meta": {"download_timeout": 3}},
    "credentials": {"meta": {"http_user": "m", "http_pass": "n"}},
    "elsewhere": {"url": "http://b.example/"},
}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("request_", REQUESTS)
def test_a_request_gets_the_same(settings, request_):
    crawler = get_crawler(Spider, SETTINGS[settings])
    crawler.spider = Spider("any")
    lean, scrapys = LeanDefaults.from_crawler(crawler), [kind.from_crawler(crawler) for kind in SCRAPYS]
    crawler.signals.send_catch_log(signals.spider_opened, spider=crawler.spider)
    one, other = (Request(**{"url": "http://a.example/", **REQUESTS[request_]}) for _ in range(2))
    assert lean.process_request(one) is None
    for middleware in scrapys:
        middleware.process_request(other)
    assert dict(one.headers) == dict(other.headers)
    assert list(one.headers) == list(other.headers)
    assert one.meta == other.meta


def test_requests_do_not_share_their_headers():
    crawler = get_crawler(Spider)
    crawler.spider = Spider("any")
    middleware = LeanDefaults.from_crawler(crawler)
    crawler.signals.send_catch_log(signals.spider_opened, spider=crawler.spider)
    one, other = Request("http://a.example/"), Request("http://a.example/")
    for request in (one, other):
        middleware.process_request(request)
    one.headers.appendlist("Accept", "text/plain")
    assert other.headers.getlist("Accept") != one.headers.getlist("Accept")

"""The lean downloader statistics count as Scrapy's do."""

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.misc import load_object
from scrapy.utils.test import get_crawler

from crawler.fast.stats import LeanStats
from crawler.fast.traffic import REPLACED, LeanDownloaderStats, LeanTraffic

REQUESTS = [
    Request("http://a.example/"),
    Request("http://a.example"),
    Request("http://a.example/a/b?c=d&e"),
    Request("http://a.example/a?"),
    Request("http://a.example/a;b=c?d"),
    Request("http://a.example/a#fragment"),
    Request("https://a.example:8443/x", method="POST", body="body", headers={"A": "1", "B": ["2", "33"]}),
    Request("http://user:pass@a.example/x"),
    Request("http://[::1]:80/x"),
    Request("http://ä.example/ü", meta={"verbatim_url": True}),
    Request("http://a.example/x", headers={"Empty": None}),
    Request("http://a.example:/x"),
]
RESPONSES = [
    Response("http://a.example/", status=200, body=b"body", headers={"A": "1", "B": ["2", "33"]}),
    Response("http://a.example/", status=299),
    Response("http://a.example/", status=404, headers={"Empty": None}),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: f"{request.method} {request.url}")
def test_requests_count_as_in_scrapy(request_):
    assert counted(LeanDownloaderStats, LeanStats, request_) == counted(DownloaderStats, MemoryStatsCollector, request_)


@pytest.mark.parametrize("response", RESPONSES, ids=lambda response: str(response.status))
def test_responses_count_as_in_scrapy(response):
    lean = counted(LeanDownloaderStats, LeanStats, REQUESTS[0], response)
    assert lean == counted(DownloaderStats, MemoryStatsCollector, REQUESTS[0], response)


def counted(kind, stats_kind, request, response=None):
    stats = stats_kind(get_crawler())
    middleware = kind(stats)
    assert middleware.process_request(request) is None
    if response is not None:
        assert middleware.process_response(request, response) is response
    return stats.get_stats()


class Another(DownloaderStats):
    """What an add-on before ours puts in the place of Scrapy's."""


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ({}, {LeanDownloaderStats: 850}),
        ({REPLACED: 700}, {LeanDownloaderStats: 700}),
        ({DownloaderStats: 701}, {LeanDownloaderStats: 701}),
        ({REPLACED: None}, {}),
        ({REPLACED: None, Another: 850}, {Another: 850}),
    ],
)
def test_the_add_on_replaces_only_what_is_there(theirs, expected):
    settings = Settings({"DOWNLOADER_MIDDLEWARES": theirs})
    LeanTraffic().update_settings(settings)
    enabled = settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    counting = {load_object(name): order for name, order in enabled.items() if order is not None}
    assert {kind: order for kind, order in counting.items() if issubclass(kind, DownloaderStats)} == expected

"""The downloader statistics of this package count the same numbers as Scrapy's."""

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.stats import DownloaderStats
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from crawler.fast.downloaderstats import LeanDownloaderStats
from crawler.fast.stats import LeanStats

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


def counted(kind, stats_kind, request, response):
    stats = stats_kind(get_crawler())
    middleware = kind(stats)
    assert middleware.process_request(request) is None
    assert middleware.process_response(request, response) is response
    return stats.get_stats()


CASES = [(request, RESPONSES[0]) for request in REQUESTS] + [(REQUESTS[0], response) for response in RESPONSES]


@pytest.mark.parametrize(("request_", "response"), CASES, ids=str)
def test_requests_and_responses_count_as_in_scrapy(request_, response):
    ours = counted(LeanDownloaderStats, LeanStats, request_, response)
    assert ours == counted(DownloaderStats, MemoryStatsCollector, request_, response)

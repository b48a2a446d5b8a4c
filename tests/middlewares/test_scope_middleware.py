"""Requests of a visit to anything but the public web are refused."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from crawler.middlewares.scope import ScopeMiddleware
from crawler.worker.visits.refused import RefusedError


def middleware(allow=0):
    return ScopeMiddleware.from_crawler(get_crawler(settings_dict={"ALLOW_PRIVATE_ADDRESSES": allow}))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1/", "private-address"),
        ("http://0x7f000001/", "private-address"),
        ("http://[::ffff:10.0.0.1]/", "private-address"),
        ("ftp://a.test/", "bad-url"),
        ("file:///etc/passwd", "bad-url"),
    ],
)
async def test_other_schemes_and_private_addresses_are_refused(recorded, url, reason):
    with pytest.raises(RefusedError) as caught:
        middleware().process_request(recorded.request(url))
    assert caught.value.outcome == ("fail", reason)


async def test_public_hosts_pass_and_private_ones_where_allowed(recorded):
    middleware().process_request(recorded.request("https://example.org/"))
    middleware(1).process_request(recorded.request("http://127.0.0.1:8000/"))


def test_requests_of_other_spiders_pass():
    middleware().process_request(Request("http://127.0.0.1/"))

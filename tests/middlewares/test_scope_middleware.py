"""What the crawler never asks for, whoever linked to it."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.utils.test import get_crawler

from crawler.middlewares.scope import ScopeMiddleware
from crawler.worker.refused import RefusedError


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
async def test_it_is_refused(held, url, reason):
    with pytest.raises(RefusedError) as caught:
        middleware().process_request(held.request(url))
    assert caught.value.outcome == ("fail", reason)


async def test_public_pages_pass_and_private_ones_where_allowed(held):
    middleware().process_request(held.request("https://example.org/"))
    middleware(1).process_request(held.request("http://127.0.0.1:8000/"))


def test_other_spiders_may_do_as_they_like():
    middleware().process_request(Request("http://127.0.0.1/"))

"""A project's own spiders are kept from private addresses by a middleware, whatever handler downloads."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from crawler.base.errors import PrivateAddressError
from crawler.download.dns import DnsCache
from crawler.middlewares.private_addresses import PrivateAddressMiddleware

NAMES = {"public.test": ["8.8.8.8"], "inner.test": ["10.0.0.1"], "both.test": ["8.8.8.8", "10.0.0.1"]}


@pytest.fixture
def middleware():
    def look_up(name):
        if name not in NAMES:
            raise OSError
        return NAMES[name]

    return PrivateAddressMiddleware(DnsCache(10, look_up))


@pytest.mark.parametrize("host", ["127.0.0.1:80", "[::1]", "10.1.2.3", "inner.test", "both.test", "INNER.test"])
@pytest.mark.parametrize("scheme", ["http", "https", "ftp"])
async def test_a_private_address_is_refused_with_the_setting_that_allows_it(middleware, scheme, host):
    with pytest.raises(PrivateAddressError, match="has a private address, which ALLOW_PRIVATE_ADDRESSES=1 would allow"):
        await middleware.process_request(Request(f"{scheme}://{host}/"))


@pytest.mark.parametrize(
    "url", ["http://public.test/", "https://8.8.8.8/", "http://none.test/", "file:///etc/hosts", "data:,x", "s3://b/k"]
)
async def test_what_is_public_or_no_host_at_all_passes(middleware, url):
    assert await middleware.process_request(Request(url)) is None


@pytest.mark.parametrize("address", ["8.8.8.8", None])
def test_an_answer_from_a_public_or_unknown_address_passes(middleware, address):
    response = Response("http://public.test/", ip_address=address and ip_address(address))
    assert middleware.process_response(Request("http://public.test/"), response) is response


def test_an_answer_from_another_address_than_was_looked_up_is_refused(middleware):
    response = Response("http://public.test/", ip_address=ip_address("127.0.0.1"))
    with pytest.raises(PrivateAddressError, match=r"^public\.test has"):
        middleware.process_response(Request("http://public.test/"), response)


def test_a_proxy_may_stand_anywhere(middleware):
    request = Request("http://public.test/", meta={"proxy": "http://127.0.0.1:3128"})
    response = Response("http://public.test/", ip_address=ip_address("127.0.0.1"))
    assert middleware.process_response(request, response) is response


def test_it_is_off_where_private_addresses_are_allowed():
    with pytest.raises(NotConfigured):
        PrivateAddressMiddleware.from_crawler(get_crawler(settings_dict={"ALLOW_PRIVATE_ADDRESSES": True}))

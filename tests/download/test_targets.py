"""Requests connect to addresses that may be used, and to no others."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.exceptions import UnsupportedURLSchemeError

from crawler.base.errors import PrivateAddressError
from crawler.download import targets
from crawler.download.dns import DnsCache
from crawler.download.targets import Target, Targets, url_to_send

MIXED = ["10.0.0.1", "8.8.8.8", "::1", "2606:4700::1111", "::ffff:127.0.0.1"]
ANSWERS = {"mixed.test": MIXED, "public.test": ["9.9.9.9"], "private.test": ["127.0.0.1"], "none.test": []}


def targets_of(*, allow_private=False):
    return Targets(DnsCache(10, lambda name: list(ANSWERS[name])), allow_private=allow_private)


async def test_private_addresses_are_left_out_and_a_second_time_as_well():
    careful, request = targets_of(), Request("http://mixed.test:81/")
    assert careful.cached(request) is None
    expected = Target("mixed.test", 81, ("8.8.8.8", "2606:4700::1111"), literal=False, proxy=None)
    assert await careful.find(request) == careful.cached(request) == expected
    assert (await targets_of(allow_private=True).find(request)).addresses == tuple(MIXED)


@pytest.mark.parametrize("url", ["http://private.test/", "https://127.0.0.1/", "http://[::1]:8080/"])
async def test_where_all_are_private_that_is_said(url):
    careful = targets_of()
    for _ in range(2):
        with pytest.raises(PrivateAddressError):
            await careful.find(Request(url))
    with pytest.raises(PrivateAddressError):
        careful.cached(Request(url))


@pytest.mark.parametrize("name", ["mixed.test", "private.test", "10.0.0.1"])
async def test_a_proxy_may_be_anywhere_and_is_asked_for_nothing_private(name):
    def through(host):
        return Request(f"http://{host}/", meta={"proxy": "http://private.test:8080"})

    careful = targets_of()
    expected = Target("private.test", 8080, ("127.0.0.1",), literal=False, proxy="http://private.test:8080")
    assert await careful.find(through("public.test")) == await careful.find(through("none.test")) == expected
    with pytest.raises(PrivateAddressError):
        await careful.find(through(name))
    assert await targets_of(allow_private=True).find(through(name)) == expected


async def test_the_addresses_of_a_host_are_those_that_it_may_be_reached_at(monkeypatch):
    careful = targets_of()
    assert await careful.addresses_of("mixed.test") == ("8.8.8.8", "2606:4700::1111")
    assert await careful.addresses_of("[2606:4700::1111]") == ("2606:4700::1111",)
    for host in ("private.test", "127.0.0.1", "none.test"):
        assert await careful.addresses_of(host) == ()
    assert await targets_of(allow_private=True).addresses_of("private.test") == ("127.0.0.1",)
    monkeypatch.setattr(targets, "SHORT_LOOKUP_SECONDS", 0)
    assert await careful.addresses_of("public.test") == ()  # not in time


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("http://a.test/b?c=d@e#f", "http://a.test/b?c=d@e"),
        ("https://user:secret@a.test:81", "https://a.test:81"),
        ("http://user@name@a.test?@", "http://a.test?@"),
    ],
)
def test_credentials_and_fragments_are_not_sent(url, sent):
    assert url_to_send(url) == sent


@pytest.mark.parametrize("url", ["gopher://a.test/", "http:/a.test", "//a.test/", "http://a.test:99999999/"])
async def test_what_names_no_host_of_the_web_is_refused(url):
    with pytest.raises(UnsupportedURLSchemeError):
        await targets_of().find(SimpleNamespace(url=url, meta={}))  # some of them Scrapy wouldn't make a request of

"""The lean downloader knows a server's slot again, and takes no other for it."""

import pytest
from scrapy import Request
from scrapy.core.downloader import Downloader
from scrapy.utils.test import get_crawler

from crawler.fast.downloader import LeanDownloader

URLS = [
    "http://a.com",
    "http://a.co/x",
    "http://a.com/x",
    "http://a.com?b=c/d",
    "http://a.c",
    "https://user:pass@a.example:8443/x",
    "https://a.example:8444",
    "http://[::1]:80/x",
    "http://a/",
]


@pytest.fixture
async def keys():
    """Returns what Scrapy's downloader says and what ours does."""
    settings = {"DOWNLOAD_HANDLERS": {"http": None, "https": None}}  # nothing is downloaded
    downloaders = [kind(get_crawler(settings_dict=settings)) for kind in (Downloader, LeanDownloader)]
    yield [downloader.get_slot_key for downloader in downloaders]
    for downloader in downloaders:
        downloader.close()


async def test_keys_are_scrapys_whatever_was_met_before(keys):
    theirs, ours = keys
    for url in [*URLS, *reversed(URLS)]:
        assert ours(Request(url)) == theirs(Request(url)), url


async def test_a_requests_own_slot_goes_before(keys):
    _, ours = keys
    request = Request("http://a.com/", meta={"download_slot": "own"})
    assert (ours(Request("http://a.com/")), ours(request)) == ("a.com", "own")

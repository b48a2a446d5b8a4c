"""What commands fetch goes the way of a crawl's pages, turns and delays included."""

from __future__ import annotations

from itertools import pairwise

import pytest
from scrapy.settings import Settings

from crawler.base.errors import UnavailableError
from crawler.cli.local_crawl import LocalSpider
from crawler.cli.page_fetcher import PageFetcher
from crawler.cli.request_errors import CrawlRefusesError
from crawler.sites import Site
from crawler.spiders.consumer import ConsumerSpider

DELAY_SECONDS = 0.3


def answer(body, status="200 OK", headers=""):
    return f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()


def redirect(target):
    return answer("", "302 Found", f"Location: {target}\r\n")


@pytest.fixture
def settings():
    settings = Settings({"ALLOW_PRIVATE_ADDRESSES": True, "ROBOTS_MAX_CRAWL_DELAY_SECONDS": 30})
    settings.setmodule("crawler.settings")
    return settings


@pytest.fixture
def site():
    return Site.from_definition({"name": "board", "politeness": {"delay": DELAY_SECONDS}})


def pauses(host):
    begun = [asked.begun for asked in host.asked]
    return [after - before for before, after in pairwise(begun)]


def test_the_middlewares_are_those_of_a_crawl():
    """But for the one that renders, which commands do by themselves to show what it brings."""
    crawl, command = Settings(), Settings()
    ConsumerSpider.update_settings(crawl)
    LocalSpider.update_settings(command)
    differing = {
        path
        for path, order in crawl.getwithbase("DOWNLOADER_MIDDLEWARES").items()
        if command.getwithbase("DOWNLOADER_MIDDLEWARES")[path] != order
    }
    assert differing == {"crawler.middlewares.rendering.RenderMiddleware"}
    assert command["DOWNLOAD_HANDLERS"] == crawl["DOWNLOAD_HANDLERS"]


async def test_a_host_is_asked_no_faster_than_its_site_says(serve, settings, site):
    host = serve(lambda path: [redirect("/page") if path == "/moved" else answer("<p>text")])
    async with PageFetcher.open(settings, site) as fetcher:
        page = await fetcher.get(f"{host.url}/moved")
        await fetcher.get(f"{host.url}/other")
    assert (page.url, page.body) == (host.page, b"<p>text")
    assert [asked.path for asked in host.asked] == ["/robots.txt", "/moved", "/page", "/other"]
    assert min(pauses(host)) > DELAY_SECONDS * 0.9


async def test_a_crawl_delay_is_kept(serve, settings, site):
    rules = answer("User-agent: *\nCrawl-delay: 0.8\nDisallow: /private")
    host = serve(lambda _path: [answer("<p>text")], robots=lambda _path: [rules])
    async with PageFetcher.open(settings, site) as fetcher:
        await fetcher.get(host.page)
        await fetcher.get(host.page)
        with pytest.raises(CrawlRefusesError, match="robots "):
            await fetcher.get(f"{host.url}/private")
    assert len(host.pages()) == 2
    assert min(pauses(host)) > 0.8 * 0.9


async def test_a_host_that_asks_for_it_is_left_alone(serve, settings, site):
    host = serve(lambda _path: [answer("", "429 Too Many Requests", "Retry-After: 30\r\n")])
    async with PageFetcher.open(settings, site) as fetcher:
        assert (await fetcher.get(host.page)).status == 429
        with pytest.raises(UnavailableError, match=r"left alone for now .*a backoff of 30 s"):
            await fetcher.get(host.page)
    assert len(host.pages()) == 1


async def test_a_page_whose_secret_is_missing_is_not_asked_for(serve, settings):
    host = serve(lambda _path: [answer("<p>text")])
    site = Site.from_definition({"name": "board", "base": host.url, "cookies": {"session": "${SITE_SECRET_BOARD}"}})
    async with PageFetcher.open(settings, site) as fetcher:
        with pytest.raises(CrawlRefusesError, match="SITE_SECRET_HOSTS binds it"):
            await fetcher.get(host.page)
    assert not host.asked


async def test_what_redirects_to_another_host_is_asked_for_there_by_its_rules(serve, settings, site):
    there = serve(lambda _path: [answer("<p>text")], address="127.0.0.2")
    here = serve(lambda _path: [redirect(there.page)])
    async with PageFetcher.open(settings, site) as fetcher:
        page = await fetcher.get(here.page)
    assert page.url == there.page
    assert [asked.path for asked in there.asked] == ["/robots.txt", "/page"]


async def test_robots_txt_alone_is_asked_whether_it_forbids_a_page(serve, settings, site):
    host = serve(lambda _path: [], robots=lambda _path: [answer("User-agent: *\nDisallow: /search")])
    async with PageFetcher.open(settings, site) as fetcher:
        assert "robots.txt forbids it" in await fetcher.refusal(f"{host.url}/search?q=flood", site)
        assert await fetcher.refusal(f"{host.url}/other", site) == ""
    assert [asked.path for asked in host.asked] == ["/robots.txt"]

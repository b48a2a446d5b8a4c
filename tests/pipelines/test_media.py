"""An item's files are fetched once and on turns, and stored by their content; one that can't be had says why."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from types import SimpleNamespace

import pytest
from pipelines.sink_samples import Outages, page
from scrapy import Spider
from scrapy.http import Response
from scrapy.pipelines.files import FilesPipeline
from scrapy.utils.test import get_crawler

from crawler.errors import HostBackoffError, PageTimeoutError, UnavailableError
from crawler.item import Media
from crawler.pipelines import media as module
from crawler.pipelines.media import PageMediaPipeline

PNG = "http://a.test/x.png"


class Crawl(Outages):
    """What the pipeline has around it; `answers` says what comes for an address."""

    def __init__(self, folder, most=10):
        super().__init__()
        self.answers, self.asked, self.log = {}, [], []
        self.stopping = asyncio.Event()
        self.turns = SimpleNamespace(acquire=self.acquire, release=lambda lane: self.log.append(f"release {lane.host}"))
        crawler = get_crawler(Spider, {"FILES_STORE": str(folder), "MEDIA_ALLOW_REDIRECTS": True})
        crawler.engine = SimpleNamespace(download_async=self.download)
        crawler.spider = Spider("s")
        self.pipeline = PageMediaPipeline(crawler, self, FilesPipeline.from_crawler(crawler), most)

    async def acquire(self, host, _visit):
        self.log.append(f"acquire {host}")
        if host == "backoff.test":
            raise HostBackoffError(host, 60)
        return SimpleNamespace(host=host)

    async def download(self, request):
        self.asked.append(request.url)
        await asyncio.sleep(0)
        answer = self.answers.get(request.url, b"content")
        if isinstance(answer, Exception):
            raise answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        return Response(request.url, status, {"Content-Type": "image/png"}, body)

    async def media(self, *found):
        """Processes an item of a page on a.test and returns its media."""
        item = page(images=[Media(url) for url in found], videos=[])
        item.visit = SimpleNamespace(
            lane=SimpleNamespace(host="a.test"),
            end_fetch=lambda: self.log.append("end fetch"),
            deadline=SimpleNamespace(paused=contextlib.nullcontext),
        )
        assert await self.pipeline.process_item(item) is item
        return item.images


async def test_a_file_is_stored_under_the_hash_of_its_content(tmp_path):
    (found,) = await Crawl(tmp_path).media(PNG)
    sha256 = hashlib.sha256(b"content").hexdigest()
    assert found == Media(PNG, f"{sha256[:2]}/{sha256}.png", sha256, 7)
    assert (tmp_path / found.path).read_bytes() == b"content"


async def test_pages_with_the_same_file_fetch_it_once(tmp_path):
    crawl = Crawl(tmp_path)
    together = await asyncio.gather(crawl.media(PNG), crawl.media(PNG))
    later = await crawl.media(PNG)
    assert crawl.asked == [PNG]
    assert together[0] == together[1] == later


async def test_files_of_other_hosts_wait_for_the_page_s_own_and_take_turns(tmp_path):
    crawl = Crawl(tmp_path)
    await crawl.media("http://b.test/1", PNG, "http://b.test/2", "http://c.test/")
    assert crawl.asked == [PNG, "http://b.test/1", "http://b.test/2", "http://c.test/"]
    assert crawl.log == ["end fetch", "acquire b.test", "release b.test", "acquire c.test", "release c.test"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((404, b""), "http-404"),
        (b"", "empty-body"),
        (PageTimeoutError("late"), "page-timeout"),
        (ZeroDivisionError(), "download-error"),
    ],
)
async def test_a_file_that_cannot_be_had_says_why_and_is_tried_again_for_the_next_page(tmp_path, answer, reason):
    crawl = Crawl(tmp_path)
    crawl.answers[PNG] = answer
    assert [one.error for one in await crawl.media(PNG, "http://a.test/y")] == [reason, None]
    del crawl.answers[PNG]
    assert (await crawl.media(PNG))[0].error is None


async def test_a_file_that_is_not_asked_for_says_why(tmp_path):
    crawl = Crawl(tmp_path, most=3)
    found = await crawl.media("mailto:a@b", "http://backoff.test/", PNG, "http://a.test/y")
    assert [one.error for one in found] == ["bad-url", "left-alone", None, "over-limit"]
    assert crawl.asked == [PNG]


@pytest.mark.parametrize("stops", [False, True])
async def test_a_full_store_is_waited_for_until_the_worker_stops(tmp_path, monkeypatch, stops):
    crawl, failures = Crawl(tmp_path), [OSError(28, "No space left on device")] * 2

    async def persist(_path, _body):
        if failures:
            raise failures.pop()

    monkeypatch.setattr(module, "STORE_RETRY_S", 0)
    monkeypatch.setattr(crawl.pipeline, "_persist", persist)
    if stops:
        crawl.stopping.set()
        with pytest.raises(UnavailableError, match="media store: No space left"):
            await crawl.media(PNG)
    else:
        assert (await crawl.media(PNG))[0].error is None
    assert crawl.told == ["media down"] if stops else ["media down", "media down", "media up"]

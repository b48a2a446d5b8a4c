"""An item's files are fetched once and on turns, and stored by their content; one that can't be had says why."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hashlib
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
from pipelines.sink_samples import Outages, PrintSink, page, pipeline
from scrapy import Spider
from scrapy.http import Response
from scrapy.pipelines.files import FilesPipeline
from scrapy.utils.test import get_crawler

from crawler.base.errors import HostBackoffError, PageTimeoutError, SessionLostError, UnavailableError
from crawler.base.events import Events
from crawler.base.item import Media
from crawler.pipelines import media as module
from crawler.pipelines.media import MAX_PAUSE_SECONDS, MAX_TRIES, PageMediaPipeline
from crawler.worker.settling.delivery import UndeliveredError
from crawler.worker.visits.outcomes import Outcome
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.visit import FetchFailed

PNG = "http://a.test/x.png"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(module, "RETRY_PAUSE_SECONDS", 0.001)


class Crawl(Outages):
    """What the pipeline has around it.

    Attributes:
        answers: What comes for an address: content, a status and content, an error, or a list of such, one a request.
        backoff_s: Of each turn, after its requests.
    """

    def __init__(self, folder, most=10):
        super().__init__()
        self.answers, self.asked, self.log, self.backoff_s = {}, [], [], 0.0
        self.events, self.failed = Events(), []
        self.events.subscribe(FetchFailed, lambda event: self.failed.append(event[:4]))
        self.life = self.claiming = self  # it plays all parts of the worker
        self.stopping, self.was_asked = asyncio.Event(), asyncio.Event()
        self.turns = SimpleNamespace(acquire=self.acquire, release=lambda lane: self.log.append(f"release {lane.host}"))
        crawler = get_crawler(Spider, {"FILES_STORE": str(folder), "MEDIA_ALLOW_REDIRECTS": True})
        crawler.engine = SimpleNamespace(download_async=self.download)
        crawler.spider = Spider("s")
        self.pipeline = PageMediaPipeline(crawler, self, FilesPipeline.from_crawler(crawler), most)

    async def acquire(self, host, _visit):
        self.log.append(f"acquire {host}")
        if host == "backoff.test":
            raise HostBackoffError(host, 60)
        return SimpleNamespace(host=host, backoff_s=self.backoff_s)

    async def download(self, request):
        self.asked.append(request.url)
        self.was_asked.set()
        await asyncio.sleep(0)
        answer = self.answers.get(request.url, b"content")
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        return Response(request.url, status, {"Content-Type": "image/png"}, body)

    async def media(self, *found):
        """Processes an item of a page on a.test and returns its media."""
        return (await self.item(*found)).images

    async def item(self, *found):
        """Processes an item of a page on a.test."""

        async def run(coroutine):
            return await coroutine

        item = page(images=[Media(url) for url in found], videos=[])
        item.visit = SimpleNamespace(
            scope=None,
            lane=SimpleNamespace(host="a.test", backoff_s=self.backoff_s),
            end_fetch=lambda: self.log.append("end fetch"),
            deadline=SimpleNamespace(paused=contextlib.nullcontext),
            run=run,
        )
        assert await self.pipeline.process_item(item) is item
        return item


async def test_a_file_is_stored_under_the_hash_of_its_content(tmp_path):
    (found,) = await Crawl(tmp_path).media(PNG)
    sha256 = hashlib.sha256(b"content").hexdigest()
    assert found == Media(PNG, f"{sha256[:2]}/{sha256}.png", sha256, 7)
    assert (tmp_path / found.path).read_bytes() == b"content"


async def test_a_folder_that_another_worker_makes_at_the_same_moment_is_taken(tmp_path, monkeypatch):
    (tmp_path / "media").mkdir()
    monkeypatch.setattr(Path, "exists", lambda _path: False)  # as it was a moment ago
    crawler = get_crawler(Spider, {"FILES_STORE": str(tmp_path / "media"), "MEDIA_MAX_PER_PAGE": 10})
    crawler.spider = Spider("s")
    monkeypatch.setattr(crawler, "get_extension", lambda _kind: SimpleNamespace())
    assert PageMediaPipeline.from_crawler(crawler)


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
    ("answer", "reason", "gaps"),
    [
        ((404, b""), "http-404", 0),
        ((503, b""), "http-503", 1),
        ((206, b"a part"), "http-206", 1),
        (b"", "empty-body", 1),
        (PageTimeoutError("late"), "page-timeout", 1),
        (ZeroDivisionError(), "download-error", 1),
    ],
)
async def test_a_file_that_cannot_be_had_says_why_and_is_tried_again_for_the_next_page(tmp_path, answer, reason, gaps):
    crawl = Crawl(tmp_path)
    crawl.answers[PNG] = answer
    item = await crawl.item(PNG, "http://a.test/y")
    assert [one.error for one in item.images] == [reason, None]
    assert item.gaps == gaps
    assert crawl.asked.count(PNG) == (MAX_TRIES if gaps else 1)
    assert crawl.failed == [("a.test", "media", reason, PNG)] * crawl.asked.count(PNG)
    del crawl.answers[PNG]
    assert (await crawl.media(PNG))[0].error is None


@pytest.mark.parametrize("host", ["a.test", "b.test"])
async def test_a_file_that_is_missing_for_a_moment_is_tried_again_on_a_turn_of_its_own(tmp_path, host):
    crawl = Crawl(tmp_path)
    url = f"http://{host}/x.png"
    crawl.answers[url] = [(503, b""), ZeroDivisionError(), b"content"]
    item = await crawl.item(url)
    assert (item.images[0].error, item.images[0].bytes, item.gaps) == (None, 7, 0)
    turns = [line for line in crawl.log if line.startswith("acquire")]
    assert turns == [f"acquire {host}"] * (2 if host == "a.test" else 3)
    assert crawl.log.index("end fetch") < crawl.log.index(f"acquire {host}")


async def test_a_host_that_asks_for_a_long_pause_is_not_waited_for(tmp_path):
    crawl = Crawl(tmp_path)
    crawl.backoff_s = MAX_PAUSE_SECONDS + 1
    crawl.answers[PNG] = (429, b"")
    item = await crawl.item(PNG)
    assert (crawl.asked, item.images[0].error, item.gaps) == ([PNG], "http-429", 1)


@pytest.mark.parametrize(
    "error",
    [SessionLostError("gone"), UnavailableError("stops"), RefusedError(Outcome("release", "no-session"))],
)
async def test_an_error_of_the_worker_leaves_the_item_to_a_later_visit(tmp_path, error):
    crawl = Crawl(tmp_path)
    crawl.answers[PNG] = error
    with pytest.raises(UndeliveredError):
        await crawl.item(PNG)
    assert crawl.asked == [PNG]
    assert "end fetch" in crawl.log


@pytest.mark.parametrize("error", [SessionLostError("gone"), RefusedError(Outcome("release", "no-session"))])
async def test_a_page_that_may_fetch_no_more_leaves_its_file_to_the_page_that_waits_for_it(tmp_path, error):
    crawl = Crawl(tmp_path)
    crawl.answers[PNG] = [error, b"content"]
    aborted, item = await asyncio.gather(crawl.item(PNG), crawl.item(PNG), return_exceptions=True)
    assert isinstance(aborted, UndeliveredError)
    assert item.images[0].bytes == 7


@pytest.mark.parametrize("cancelled", ["who fetches", "who waits"])
async def test_a_page_that_is_cancelled_takes_no_other_one_with_it(tmp_path, cancelled):
    crawl = Crawl(tmp_path)
    pages = [asyncio.create_task(crawl.item(PNG)) for _ in range(2)]
    await crawl.was_asked.wait()
    gone, left = pages if cancelled == "who fetches" else reversed(pages)
    gone.cancel()
    assert (await left).images[0].bytes == 7
    assert gone.cancelled()


async def test_a_file_that_is_not_asked_for_says_why(tmp_path):
    crawl = Crawl(tmp_path, most=3)
    found = await crawl.media("mailto:a@b", "http://backoff.test/", PNG, "http://a.test/y")
    assert [one.error for one in found] == ["bad-url", "left-alone", None, "over-limit"]
    assert crawl.asked == [PNG]


@pytest.mark.parametrize("stops", [False, True])
async def test_a_full_store_is_waited_for_until_the_worker_stops(tmp_path, monkeypatch, stops):
    crawl, failures = Crawl(tmp_path), [OSError(28, "No space left on device"), LookupError()]

    async def persist(_path, _body):
        if failures:
            raise failures.pop()

    monkeypatch.setattr(module, "STORE_RETRY_SECONDS", 0)
    monkeypatch.setattr(crawl.pipeline, "_persist", persist)
    if stops:
        crawl.stopping.set()
        with pytest.raises(UndeliveredError, match="media store: LookupError"):
            await crawl.media(PNG)
    else:
        assert (await crawl.media(PNG))[0].error is None
    assert crawl.told == ["media down"] if stops else ["media down", "media down", "media up"]


@pytest.mark.parametrize("how", ["changed", "made anew"])
async def test_an_item_in_place_of_one_that_lacks_a_file_lacks_it_in_every_sink(tmp_path, how):
    crawl = Crawl(tmp_path)
    crawl.answers[PNG] = (503, b"")
    found = await crawl.item(PNG)
    found.missing_pages = ["http://a.test/2"]
    crawl.gaps.note(found)
    assert found.visit.has_gaps  # no later plan is told of it
    sent = []

    class Records(PrintSink):
        async def send(self, batch):
            sent.extend(batch)
            return {}

    sink = pipeline("records", Records(""), crawl)
    changed = dataclasses.replace(found, title="short") if how == "changed" else page(title="short")
    await sink.process_item(changed)
    await sink.process_item(page(2))
    await sink.close_spider()
    assert [(record.gaps, orjson.loads(record.value)["missing_pages"]) for record in sent] == [
        (1, ["http://a.test/2"]),
        (0, []),
    ]

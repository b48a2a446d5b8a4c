"""Fetches an item's images and videos into Scrapy's file store, as politely as pages.

Files on the page's own host are fetched on the turn that the page holds. Then that turn is released, and turns of other
hosts are acquired, one host after the other. A page never holds two turns, so no two pages can wait for each other.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import mimetypes
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.pipelines.files import FilesPipeline, FSFilesStore
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.defer import ensure_awaitable

from crawler import config, urls
from crawler.errors import (
    AnswerError,
    HostBackoffError,
    PageTimeoutError,
    SessionLostError,
    UnavailableError,
    UrlError,
)
from crawler.item import Item, Media
from crawler.worker.outcomes import UNKNOWN_ERROR, outcome_of_error
from crawler.worker.request_state import RequestState
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.worker.lanes import Lane
    from crawler.worker.visits import Visit

logger = logging.getLogger(__name__)
REMEMBERED_FILES = 10_000  # whose results are kept in memory: a logo that is on every page is fetched once
STORE_RETRY_S = 2.0  # between two tries while the store takes nothing, as with a full disk
STORE = "media"  # the store's name among the sinks that are down


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in the store: its path there, the SHA-256 of its content in hex, its size."""

    path: str
    sha256: str
    bytes: int


class PageMediaPipeline:
    """Fetches and stores the files of an `Item`; items of other classes pass through untouched.

    Args:
        crawler: Runs the requests.
        worker: Has the turns.
        files: Scrapy's pipeline, for its store (a folder, S3, Google Cloud Storage or FTP) and its statistics.
        max_files: MEDIA_MAX_PER_PAGE.
    """

    def __init__(self, crawler: Crawler, worker: Worker, files: FilesPipeline, max_files: int) -> None:
        self._crawler, self._worker, self._scrapy, self._max_files = crawler, worker, files, max_files
        self._info = FilesPipeline.SpiderInfo(crawler.spider)  # type: ignore[arg-type]  # there is one by now
        self._files: LocalCache[str, asyncio.Task[StoredFile]] = LocalCache(REMEMBERED_FILES)  # by URL

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the pipeline.

        Raises:
            NotConfigured: FILES_STORE is empty. Items then name their media, and no file is fetched.
            ConfigError: MEDIA_MAX_PER_PAGE is out of range.
        """
        worker = crawler.get_extension(Worker)
        if not crawler.settings["FILES_STORE"] or worker is None:
            raise NotConfigured
        max_files = config.whole(crawler.settings, "MEDIA_MAX_PER_PAGE", 0, 10_000)
        return cls(crawler, worker, FilesPipeline.from_crawler(crawler), max_files)

    async def process_item(self, item: Any) -> Any:
        """Fetches the files that an item names; where one can't be had, the item says why.

        Raises:
            UnavailableError: No turn can be acquired any more, or the worker stops while the store is down.
        """
        if not isinstance(item, Item) or item.visit is None:
            return item
        visit: Visit = item.visit
        by_host = self._by_host([*item.images, *item.videos])
        try:
            await self._fetch(by_host.pop(visit.lane.host, ()), visit, visit.lane)
        finally:
            visit.end_fetch()  # releases the page's turn: only now may another one be waited for
        for host, media in by_host.items():
            try:
                lane = await self._worker.turns.acquire(host, visit)
            except (HostBackoffError, PageTimeoutError) as error:
                for one in media:
                    one.error = outcome_of_error(error).reason
                continue
            except SessionLostError as error:
                raise UnavailableError(str(error)) from error
            try:
                await self._fetch(media, visit, lane)
            finally:
                self._worker.turns.release(lane)
        return item

    def _by_host(self, media: Iterable[Media]) -> dict[str, Sequence[Media]]:
        """Returns media by their host; those that won't be fetched get the reason instead."""
        by_host: dict[str, list[Media]] = {}
        for number, one in enumerate(media):
            if number >= self._max_files:
                one.error = "over-limit"
                continue
            try:
                by_host.setdefault(urls.host(urls.canonical(one.url)), []).append(one)
            except UrlError:
                one.error = "bad-url"
        return {**by_host}

    async def _fetch(self, media: Iterable[Media], visit: Visit, lane: Lane) -> None:
        """Fetches files of one host, one by one: a request that waits for the turn holds one of CONCURRENT_REQUESTS.

        Raises:
            UnavailableError: The worker stops while the store is down.
        """
        for one in media:
            try:
                file = await self._file(one.url, visit, lane)
            except UnavailableError:
                raise
            except Exception as error:  # whatever a download raises has an outcome
                outcome = outcome_of_error(error)
                if outcome == UNKNOWN_ERROR:
                    logger.exception("can't fetch %s", one.url)
                one.error = outcome.reason
            else:
                one.path, one.sha256, one.bytes = file.path, file.sha256, file.bytes

    async def _file(self, url: str, visit: Visit, lane: Lane) -> StoredFile:
        """Returns a file: one that is remembered, or that another page is just fetching, or a new one."""
        task = self._files.get(url)
        if task is None:
            task = self._files[url] = asyncio.create_task(self._download(url, visit, lane), name="media file")
        try:
            return await task
        except BaseException:  # not remembered: for the next page it is tried again
            if self._files.get(url) is task:
                del self._files[url]
            raise

    async def _download(self, url: str, visit: Visit, lane: Lane) -> StoredFile:
        """Fetches a file and stores it.

        Raises:
            AnswerError: The answer is no file.
            UnavailableError: The worker stops while the store is down.
            Exception: What the download raised.
        """
        assert self._crawler.engine is not None  # it runs the pipelines
        meta = RequestState(visit, lane).meta(handle_httpstatus_all=not self._scrapy.allow_redirects)
        request = Request(url, callback=NO_CALLBACK, meta=meta, dont_filter=True)
        response = await self._crawler.engine.download_async(request)
        if response.status != 200:  # noqa: PLR2004 -- HTTP's own number
            raise AnswerError(f"http-{response.status}")
        if not response.body:
            raise AnswerError("empty-body")
        sha256 = hashlib.sha256(response.body).hexdigest()
        path = f"{sha256[:2]}/{sha256}{_ending(response)}"  # nothing of the URL
        with visit.deadline.paused():  # what the store takes of the time doesn't count as the page's
            await self._store(path, response.body)
        self._scrapy.inc_stats("downloaded")
        return StoredFile(path, sha256, len(response.body))

    async def _store(self, path: str, body: bytes) -> None:
        """Stores a file as soon as the store takes it.

        Raises:
            UnavailableError: The worker stops while the store is down.
        """
        while True:
            try:
                await self._persist(path, body)
            except OSError as error:
                self._worker.sink_down(STORE)
                if self._worker.stopping.is_set():
                    raise UnavailableError(f"media store: {error.strerror}") from error
                logger.warning("the media store takes nothing: %s", error.strerror)
                await asyncio.sleep(STORE_RETRY_S)
            else:
                self._worker.sink_up(STORE)
                return

    async def _persist(self, path: str, body: bytes) -> None:
        store = self._scrapy.store
        if isinstance(store, FSFilesStore):  # writing to a disk would stop the event loop
            await asyncio.to_thread(store.persist_file, path, BytesIO(body), self._info)
        else:
            await ensure_awaitable(store.persist_file(path, BytesIO(body), self._info))


def _ending(response: Response) -> str:
    """Returns the ending of a file's name by its type, such as `.png`; empty for what is no image or video."""
    kind = (response.headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0].strip().lower()
    return (mimetypes.guess_extension(kind) if kind.startswith(("image/", "video/")) else None) or ""

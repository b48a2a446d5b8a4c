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
from scrapy.pipelines.files import FilesPipeline, FSFilesStore
from scrapy.pipelines.media import _MediaRequestFiltered
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.defer import ensure_awaitable
from twisted.python.failure import Failure

from crawler import config, urls
from crawler.errors import HostBackoffError, PageTimeoutError, SessionLostError, UnavailableError, UrlError
from crawler.item import Item, Media
from crawler.worker.outcomes import UNKNOWN_ERROR, outcome_of_error
from crawler.worker.request_state import RequestState
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.pipelines.media import MediaPipeline

    from crawler.worker.lanes import Lane
    from crawler.worker.visits import Visit

logger = logging.getLogger(__name__)
REMEMBERED_FILES = 10_000  # whose results are kept in memory: a logo that is on every page is fetched once
STORE_RETRY_S = 2.0  # between two tries while the store takes nothing, as with a full disk
STORE = "media"  # the store's name among the sinks that are down


class MediaError(_MediaRequestFiltered):
    """A file that can't be had; the item shows the text. Scrapy would log another class as an error of this code."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file of an item and the turn that it is fetched on: what Scrapy's pipeline takes for its item."""

    media: Media
    visit: Visit
    lane: Lane


class PageMediaPipeline(FilesPipeline):
    """Scrapy's files pipeline for `Item`: files are named by the hash of their content, and fetched on turns.

    Args:
        store_uri: FILES_STORE.
        most: MEDIA_MAX_PER_PAGE.
    """

    def __init__(self, store_uri: str, crawler: Crawler, worker: Worker, most: int) -> None:
        super().__init__(store_uri, crawler=crawler)
        self._worker = worker
        self._most = most

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the pipeline.

        Raises:
            NotConfigured: FILES_STORE is empty. Items then name their media, and no file is fetched.
            ConfigError: MEDIA_MAX_PER_PAGE is out of range.
        """
        settings, worker = crawler.settings, crawler.get_extension(Worker)
        if not settings["FILES_STORE"] or worker is None:
            raise NotConfigured
        cls._update_stores(settings)
        return cls(settings["FILES_STORE"], crawler, worker, config.whole(settings, "MEDIA_MAX_PER_PAGE", 0, 10_000))

    def open_spider(self, *_: Any) -> None:
        """Starts with an empty, bounded memory of fetched files."""
        super().open_spider()
        self.spiderinfo.downloaded = _Fetched(limit=REMEMBERED_FILES)

    async def process_item(self, item: Any, *_: Any) -> Any:
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

    async def _fetch(self, media: Sequence[Media], visit: Visit, lane: Lane) -> None:
        """Fetches files of one host one by one: a request that waits for the turn holds one of CONCURRENT_REQUESTS."""
        for one in media:
            await super().process_item(Wanted(one, visit, lane))

    def get_media_requests(self, item: Wanted, info: MediaPipeline.SpiderInfo) -> list[Request]:
        """Returns the request of a file."""
        return [Request(item.media.url, meta=RequestState(item.visit, item.lane).meta(), dont_filter=True)]

    def media_to_download(self, request: Request, info: MediaPipeline.SpiderInfo, *, item: Any = None) -> None:
        """Returns None, so that the file is fetched: whether it is in the store shows only by its content."""

    async def media_downloaded(
        self, response: Response, request: Request, info: MediaPipeline.SpiderInfo, *, item: Any = None
    ) -> Any:
        """Stores a file; waits as long as the store takes nothing.

        Raises:
            MediaError: The answer is no file.
            UnavailableError: The worker stops while the store is down.
        """
        if response.status != 200:  # noqa: PLR2004 -- HTTP's own number
            raise MediaError(f"http-{response.status}")
        if not response.body:
            raise MediaError("empty-body")
        sha256 = hashlib.sha256(response.body).hexdigest()
        path = self.file_path(request, response, info, item=item)
        with item.visit.deadline.paused():  # what the store takes of the time doesn't count as the page's
            await self._store(path, response.body, info)
        self.inc_stats("downloaded")
        size = len(response.body)
        return {"url": request.url, "path": path, "checksum": sha256, "status": "downloaded", "bytes": size}

    def media_failed(self, failure: Failure, request: Request, info: MediaPipeline.SpiderInfo) -> Any:
        """Says in a word of the ledger why a file can't be had.

        Raises:
            MediaError: With that word.
            Exception: The error itself, when it is none that a download is known to raise.
        """
        error = failure.value
        assert error is not None  # it is never None, though Twisted's types allow it
        outcome = outcome_of_error(error)
        if isinstance(error, MediaError) or outcome == UNKNOWN_ERROR:
            raise error
        raise MediaError(outcome.reason) from error

    def item_completed(self, results: Any, item: Wanted, info: MediaPipeline.SpiderInfo) -> Wanted:
        """Writes what became of a file into the item that names it.

        Raises:
            UnavailableError: The worker is stopping; the seed is released.
        """
        media, [(is_stored, result)] = item.media, results
        if is_stored:
            media.path, media.sha256, media.bytes = result["path"], result["checksum"], result["bytes"]
            return item
        error = result.value
        if isinstance(error.__cause__, UnavailableError):
            raise error.__cause__
        media.error = str(error) if isinstance(error, MediaError) else outcome_of_error(error).reason
        return item

    def file_path(
        self,
        request: Request,
        response: Response | None = None,
        info: MediaPipeline.SpiderInfo | None = None,
        *,
        item: Any = None,
    ) -> str:
        """Returns `aa/aabbcc....ext`: the hash of the content, and an ending by its type; nothing of the URL."""
        assert response is not None  # only media_downloaded calls this
        digest = hashlib.sha256(response.body).hexdigest()
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0].strip().lower()
        ending = mimetypes.guess_extension(kind) if kind.startswith(("image/", "video/")) else None
        return f"{digest[:2]}/{digest}{ending or ''}"

    def _by_host(self, media: list[Media]) -> dict[str, list[Media]]:
        """Returns media by their host; those that won't be fetched get the reason instead."""
        by_host: dict[str, list[Media]] = {}
        for number, one in enumerate(media):
            if number >= self._most:
                one.error = "over-limit"
                continue
            try:
                by_host.setdefault(urls.host(urls.canonical(one.url)), []).append(one)
            except UrlError:
                one.error = "bad-url"
        return by_host

    async def _store(self, path: str, body: bytes, info: MediaPipeline.SpiderInfo) -> None:
        """Stores a file as soon as the store takes it.

        Raises:
            UnavailableError: The worker stops while the store is down.
        """
        while True:
            try:
                await self._persist(path, body, info)
            except OSError as error:
                self._worker.sink_down(STORE)
                if self._worker.stopping.is_set():
                    raise UnavailableError(f"media store: {error.strerror}") from error
                logger.warning("the media store takes nothing: %s", error.strerror)
                await asyncio.sleep(STORE_RETRY_S)
            else:
                self._worker.sink_up(STORE)
                return

    async def _persist(self, path: str, body: bytes, info: MediaPipeline.SpiderInfo) -> None:
        if isinstance(self.store, FSFilesStore):  # writing to a disk would stop the event loop
            await asyncio.to_thread(self.store.persist_file, path, BytesIO(body), info)
        else:
            await ensure_awaitable(self.store.persist_file(path, BytesIO(body), info))


class _Fetched(LocalCache[bytes, Any]):
    """Remembers files, and no failures: a file that couldn't be had is tried again for the next page."""

    def __setitem__(self, key: bytes, value: Any) -> None:
        if not isinstance(value, Failure):
            super().__setitem__(key, value)

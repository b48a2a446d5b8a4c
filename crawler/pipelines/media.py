"""Fetches an item's images and videos into Scrapy's file store, as politely as pages.

Files on the page's own host are fetched on the turn that the page holds. Then that turn is released, and turns of other
hosts are acquired, one host after the other. A page never holds two turns, so no two pages can wait for each other.
Files that can't be had for the moment are tried again, each time on a turn acquired for them, after the pause that
their host asks for; what is missing in the end, the item says. Errors that are the worker's leave no gap: they abort
the item.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import mimetypes
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.pipelines.files import FilesPipeline, FSFilesStore
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.defer import ensure_awaitable

from crawler import config
from crawler.base import log_events, reasons, urls
from crawler.base.errors import HostBackoffError, PageTimeoutError, SessionLostError, UnavailableError, UrlError
from crawler.base.item import Item, Media
from crawler.base.redaction import without_credentials
from crawler.base.seldom import Seldom
from crawler.worker.settling.delivery import UndeliveredError
from crawler.worker.visits.outcomes import UNKNOWN_ERROR, Outcome, outcome_of_error, outcome_of_status
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import Purpose, RequestState
from crawler.worker.visits.visit import FetchFailed
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawler.base.log_events import EventLogger
    from crawler.worker.visits.visit import Lane, Visit
    from crawler.worker.visits.visit_scope import VisitScope

logger: EventLogger = logging.getLogger(__name__)
MAX_TRIES = 3  # how often a file is tried for one page
RETRY_PAUSE_SECONDS = 2.0  # the pause before the second try; the one before the third is twice as long
# Longest pause that a page waits for: behind a host that is broken or asks for more, pages would pile up.
MAX_PAUSE_SECONDS = 30.0
REMEMBERED_FILES = 10_000  # most files whose results are kept in memory: a logo that is on every page is fetched once
STORE_RETRY_SECONDS = 2.0  # the pause between two tries while the store takes nothing, as with a full disk
STORE = "media"  # the store's name among the sinks that are down


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in the store: its path there, the SHA-256 of its content in hex, its size."""

    path: str
    sha256: str
    bytes: int


@dataclass(slots=True, eq=False)
class _HostFiles:
    """The files of one host that an item still lacks.

    Attributes:
        due_s: When they may be tried again, by the event loop's clock.
    """

    host: str
    media: list[Media]
    tries: int = 0
    due_s: float = 0.0


class _NoFileError(Exception):
    """An answer is no file."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


class _Folder(FSFilesStore):
    """Scrapy's store in a folder, which the workers of a node may make at the same moment."""

    def _mkdir(self, dirname: Path, domain: Any = None) -> None:
        with contextlib.suppress(FileExistsError):
            super()._mkdir(dirname, domain)


class _Files(FilesPipeline):
    STORE_SCHEMES: ClassVar[dict[str, Any]] = {**FilesPipeline.STORE_SCHEMES, "": _Folder, "file": _Folder}


def media_place(settings: Mapping[str, Any]) -> str:
    """Returns where images and videos land: a folder, or an address without credentials; empty: nowhere.

    Raises:
        ConfigError: FILES_STORE has a value that it can't have.
    """
    store = config.FILES_STORE.of(settings)
    return without_credentials(store) if "://" in store or not store else str(Path(store).resolve())


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
        self._warn = Seldom(logger.warning)
        # By URL: the task that stores the file.
        self._files: LocalCache[str, asyncio.Task[StoredFile]] = LocalCache(REMEMBERED_FILES)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the pipeline.

        Raises:
            NotConfigured: FILES_STORE is empty. Items then name their media, and no file is fetched.
            ConfigError: MEDIA_MAX_PER_PAGE is out of range.
        """
        worker = crawler.get_extension(Worker)
        if not config.FILES_STORE.of(crawler.settings) or worker is None:
            raise NotConfigured
        max_files = config.MEDIA_MAX_PER_PAGE.of(crawler.settings)
        return cls(crawler, worker, _Files.from_crawler(crawler), max_files)

    async def process_item(self, item: Any) -> Any:
        """Fetches the files that an item names; where one can't be had, the item says why.

        Raises:
            UndeliveredError: The visit isn't this worker's any more, or the worker stops while the store is down.
        """
        if isinstance(item, Item) and item.visit is not None:
            try:
                await self._fetch_all(item, item.visit)
            except UnavailableError as error:
                raise UndeliveredError(error) from error
        return item

    async def _fetch_all(self, item: Item, visit: Visit) -> None:
        """Fetches an item's files, those on the page's host first; counts its gaps.

        Raises:
            UnavailableError: The item is to be left to a later visit, as in `process_item`.
        """
        missing = self._by_host([*item.images, *item.videos], visit.scope)
        try:
            if own := missing.get(visit.lane.host):
                await self._fetch(own, visit, visit.lane)
        finally:
            visit.end_fetch()  # releases the page's turn: only now may another one be waited for
        while waiting := [files for files in missing.values() if _may_try(files)]:
            await self._fetch_on_turn(min(waiting, key=lambda files: files.due_s), visit)
        item.gaps += sum(len(files.media) for files in missing.values())
        self._worker.claiming.gaps.note(item)

    def _by_host(self, media: Iterable[Media], scope: VisitScope | None) -> dict[str, _HostFiles]:
        """Returns media by their host; those that won't be fetched get the reason instead."""
        by_host: dict[str, _HostFiles] = {}
        for number, file in enumerate(media):
            if number >= self._max_files:
                file.error = "over-limit"
                continue
            try:
                url = urls.canonical(file.url)
                host = urls.host(url)
                if scope is not None:
                    scope.judge(url, "media")
            except UrlError:
                file.error = "bad-url"
                continue
            except RefusedError as error:
                file.error = error.outcome.reason
                continue
            by_host.setdefault(host, _HostFiles(host, [])).media.append(file)
        return by_host

    async def _fetch_on_turn(self, files: _HostFiles, visit: Visit) -> None:
        """Fetches files of one host when they are due, on a turn that is acquired for them.

        Raises:
            UnavailableError: As `_fetch_all`.
        """
        try:
            await visit.run(asyncio.sleep(files.due_s - _now()))
            lane = await self._worker.turns.acquire(files.host, visit)
        except (HostBackoffError, PageTimeoutError) as error:
            for missing in files.media:
                missing.error = missing.error or outcome_of_error(error).reason
            files.tries += 1
            files.due_s = _now() + getattr(error, "wait_s", 0.0)
            return
        except SessionLostError as error:
            raise UnavailableError(str(error)) from error
        try:
            await self._fetch(files, visit, lane)
        finally:
            self._worker.turns.release(lane)

    async def _fetch(self, files: _HostFiles, visit: Visit, lane: Lane) -> None:
        """Fetches files of one host, one by one: a request that waits for the turn holds one of CONCURRENT_REQUESTS.

        Afterwards `files` has those that couldn't be had for the moment, and when to try again.

        Raises:
            UnavailableError: As `_fetch_all`.
        """
        still_missing = []
        for missing in files.media:
            try:
                file = await self._file(missing.url, visit, lane)
            except UnavailableError:
                raise
            except Exception as error:  # whatever a download raises has an outcome
                outcome = outcome_of_error(error)
                if outcome.operation == "release":
                    raise UnavailableError(f"{missing.url}: {outcome.reason}") from error
                if outcome == UNKNOWN_ERROR:
                    logger.exception(log_events.MEDIA_ERROR, missing.url)
                if outcome.leaves_gap:
                    still_missing.append(missing)
                missing.error = outcome.reason
                self._worker.events.publish(FetchFailed(files.host, "media", outcome.reason, missing.url, str(error)))
            else:
                missing.path, missing.sha256, missing.bytes, missing.error = file.path, file.sha256, file.bytes, None
        files.media = still_missing
        files.due_s = _now() + max(RETRY_PAUSE_SECONDS * 2**files.tries, lane.backoff_s)
        files.tries += 1

    async def _file(self, url: str, visit: Visit, lane: Lane) -> StoredFile:
        """Returns a file: one that is remembered, or that another page is just fetching, or a new one."""
        other = self._files.get(url)
        if other is not None:
            if not other.done():
                await asyncio.wait({other})  # cancelled only if this page is, and without cancelling the other one
            if not _ended_with_its_page(other):
                return other.result()
        task = self._files[url] = asyncio.create_task(self._download(url, visit, lane), name="media file")
        try:
            return await task
        except BaseException:  # it isn't remembered: for the next page the file is tried again
            if self._files.get(url) is task:
                del self._files[url]
            raise

    async def _download(self, url: str, visit: Visit, lane: Lane) -> StoredFile:
        """Fetches a file and stores it.

        Raises:
            _NoFileError: The answer is no file.
            UnavailableError: The worker stops while the store is down.
            Exception: What the download raised.
        """
        assert self._crawler.engine is not None  # it runs the pipelines
        meta = RequestState(Purpose(visit, lane, is_media=True)).meta(
            handle_httpstatus_all=not self._scrapy.allow_redirects
        )
        request = Request(url, callback=NO_CALLBACK, meta=meta, dont_filter=True)
        response = await self._crawler.engine.download_async(request)
        if response.status != HTTPStatus.OK:
            raise _NoFileError(
                outcome_of_status(response.status) or Outcome("fail", reasons.status_reason(response.status))
            )
        if not response.body:
            raise _NoFileError(Outcome("retry", reasons.EMPTY_BODY))
        sha256 = hashlib.sha256(response.body).hexdigest()
        path = f"{sha256[:2]}/{sha256}{_ending(response)}"  # nothing of the URL is in the path
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
            except Exception as error:  # a disk's, or whatever the library of another kind of store raises
                why = getattr(error, "strerror", None) or type(error).__name__
                self._worker.claiming.sink_down(STORE, why)
                if self._worker.life.stopping.is_set():
                    raise UnavailableError(f"media store: {why}") from error
                self._warn(log_events.MEDIA_STORE_DOWN, why)
                await asyncio.sleep(STORE_RETRY_SECONDS)
            else:
                self._worker.claiming.sink_up(STORE)
                return

    async def _persist(self, path: str, body: bytes) -> None:
        store = self._scrapy.store
        if isinstance(store, FSFilesStore):  # writing to a disk would stop the event loop
            await asyncio.to_thread(store.persist_file, path, BytesIO(body), self._info)
        else:
            await ensure_awaitable(store.persist_file(path, BytesIO(body), self._info))


def _ended_with_its_page(fetch: asyncio.Task[StoredFile]) -> bool:
    """Returns whether a file wasn't had for a reason that concerns the page it was fetched for, and no other one."""
    if fetch.cancelled():
        return True
    error = fetch.exception()
    if error is None or isinstance(error, (HostBackoffError, PageTimeoutError, RefusedError)):
        return error is not None
    return outcome_of_error(error).operation in ("release", "postpone")


def _may_try(files: _HostFiles) -> bool:
    return bool(files.media) and files.tries < MAX_TRIES and files.due_s - _now() <= MAX_PAUSE_SECONDS


def _now() -> float:
    return asyncio.get_running_loop().time()


def _ending(response: Response) -> str:
    """Returns the ending of a file's name by its type, such as `.png`; empty for what is no image or video."""
    media_type = (response.headers.get("Content-Type") or b"").decode("latin-1").partition(";")[0].strip().lower()
    return (mimetypes.guess_extension(media_type) if media_type.startswith(("image/", "video/")) else None) or ""

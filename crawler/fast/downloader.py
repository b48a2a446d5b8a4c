"""Scrapy's downloader with one coroutine per request, in place of a chain of Deferreds, futures and tasks.

Downloader middlewares, download slots and signals are Scrapy's and see the same, in the same order. A request whose
slot paces it (DOWNLOAD_DELAY, AutoThrottle, DOWNLOAD_SLOTS, a full slot) takes Scrapy's own way.
"""

from __future__ import annotations

from time import monotonic
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader import Downloader
from scrapy.exceptions import _InvalidOutput
from scrapy.http import Request, Response
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.defer import _process_pending_io, deferred_from_coro, ensure_awaitable
from scrapy.utils.python import global_object_name

from crawler.fast.signals import LeanSignals

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

SLOT_KEYS_REMEMBERED = 10_000  # servers, some 200 bytes each


class LeanDownloader(Downloader):
    """A downloader for the setting DOWNLOADER."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        old = self.middleware._mw_methods_requiring_spider  # noqa: SLF001 -- which Scrapy 2.19 calls with the spider
        methods = self.middleware.methods
        self._on_request = [(method, method in old) for method in methods["process_request"] if method is not None]
        self._on_response = [(method, method in old) for method in methods["process_response"] if method is not None]
        self._heard = self.signals.heard if isinstance(self.signals, LeanSignals) else None
        self._slot_keys: LocalCache[str, str] = LocalCache(SLOT_KEYS_REMEMBERED)

    def get_slot_key(self, request: Request) -> str:
        """Returns Scrapy's key; of a server that was met before, without parsing the URL again."""
        if self.ip_concurrency or self.DOWNLOAD_SLOT in request.meta:
            return super().get_slot_key(request)
        end = request.url.find("/", len("https://"))
        server = request.url if end < 0 else request.url[:end]  # all that the host's name depends on
        key = self._slot_keys.get(server)
        if key is None:
            key = self._slot_keys[server] = super().get_slot_key(request)
        return key

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:  # noqa: ARG002 -- Scrapy's interface
        """Returns what `fetch_async` does, as Scrapy's engine likes it."""
        self.active.add(request)  # at once: it counts for needs_backout
        return deferred_from_coro(self.fetch_async(request))

    async def fetch_async(self, request: Request) -> Response | Request:
        """Sends a request through the downloader middlewares and back.

        Raises:
            Exception: What a middleware or the download handler raised, where no middleware knew better.
        """
        self.active.add(request)
        try:
            try:
                result = await self._request(request)
            except Exception as error:  # noqa: BLE001 -- middlewares may have an answer to anything
                await _process_pending_io()
                result = await self.middleware._process_exception(error, request)  # noqa: SLF001
            return result if isinstance(result, Request) else await self._response(request, result)
        finally:
            self.active.remove(request)

    async def _request(self, request: Request) -> Response | Request:
        """Asks each `process_request`, the last of all the network."""
        for method, is_old in self._on_request:
            result = method(request=request, spider=self.crawler.spider) if is_old else method(request=request)
            if result is None:
                continue
            result = await _resolved(result, method)
            if result is not None:
                return _checked(result, method, "None, Response or Request")
        return await self._send(request)

    async def _response(self, request: Request, response: Response) -> Response | Request:
        if response is None:
            raise TypeError("Received None in process_response")
        result: Response | Request = response
        for method, is_old in self._on_response:
            if is_old:
                result = method(request=request, response=result, spider=self.crawler.spider)
            else:
                result = method(request=request, response=result)
            if not isinstance(result, Response):
                result = _checked(await _resolved(result, method), method, "Response or Request")
                if isinstance(result, Request):
                    break
        return result

    async def _send(self, request: Request) -> Response:
        key, slot = self._get_slot(request)
        if slot.queue or slot.latercall or slot.delay or slot.free_transfer_slots() <= 0:
            return await self._enqueue_request(request)
        request.meta[self.DOWNLOAD_SLOT] = key
        slot.active.add(request)
        self._tell(signals.request_reached_downloader, request=request)
        slot.lastseen = monotonic()
        try:
            return await self._transfer(slot, request)
        finally:
            slot.active.remove(request)

    async def _transfer(self, slot: Slot, request: Request) -> Response:
        slot.transferring.add(request)
        try:
            response = await self.handlers.download_request_async(request)
            self._tell(signals.response_downloaded, response=response, request=request)
        except Exception:
            await _process_pending_io()
            raise
        else:
            return response
        finally:
            slot.transferring.remove(request)
            if slot.queue:
                self._process_queue(slot)
            self._tell(signals.request_left_downloader, request=request)

    def _tell(self, signal: object, **arguments: Any) -> None:
        if self._heard is not None and not self._heard(signal):
            return
        self.signals.send_catch_log(signal=signal, spider=self.crawler.spider, **arguments)


async def _resolved(value: Any, method: Callable[..., Any]) -> Any:
    """Returns what a middleware's method returned, awaited where it has to be."""
    if isinstance(value, CoroutineType):
        return await value
    if isinstance(value, (Request, Response)):
        return value
    return await ensure_awaitable(value, _warn=global_object_name(method))


def _checked(result: Any, method: Callable[..., Any], expected: str) -> Response | Request:
    if isinstance(result, (Request, Response)):
        return result
    raise _InvalidOutput(f"Middleware {method.__qualname__} must return {expected}, got {type(result)}")

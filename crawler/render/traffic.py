"""The requests of one page: which are answered, how many are on their way, and what JSON they brought."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from crawler.base.models import REDIRECTION
from crawler.base.urls import origin_as_written
from crawler.render.errors import PageCrashedError
from crawler.render.json_log import JsonLog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.render.exchange import Fetch, PageAnswer, PageRequest
    from crawler.render.wish import Wish

MAX_REQUESTS = 2_000  # most requests of one page; heavy applications make some hundred
# Most documents that a page leads itself to, redirects counted: Chromium follows as many hops of one redirect.
MAX_DOCUMENTS = 20
# An answer reaches its page within ms; on a busy machine, where quiet would else come too early, later. Of what workers
# ask for, the browser doesn't tell.
DELIVERY_SECONDS = 2.0
DATA_TYPES = frozenset({"XHR", "Fetch", "Other"})  # the last is what the browser calls a <link rel=preload as=fetch>
STAYS_AT = frozenset({204, 205})  # a browser that gets these statuses stays where it is


class PageTraffic:
    """What one page asks for.

    Attributes:
        json: The JSON that came.
        document: The answer that brought the document which the page shows; None: none has come.
        ended: Fails with what ends the page's rendering before its time.
        origins: Of the documents that were asked for: the page's, and those of its frames.
        takes_tabs: What tabs ask for that the page opens counts as the page's.
    """

    def __init__(self, wish: Wish, fetch: Fetch) -> None:
        self.json = JsonLog(wish.wants_json)
        self.document: PageAnswer | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.takes_tabs = wish.takes_tabs
        self.origins: set[str] = set()
        self._wish = wish
        self._fetch = fetch
        self._asking: set[asyncio.Task[Any]] = set()
        self._quiet_since = time.monotonic()
        self._delivering: dict[str, float] = {}  # by URL: until when an answer counts that the page may not have yet
        self._requests = self._documents = 0

    def quiet_seconds(self) -> float:
        """Returns for how long no request, and no answer, has been on its way."""
        now = time.monotonic()
        if self._asking or any(until > now for until in self._delivering.values()):
            return 0.0
        return now - self._quiet_since

    @property
    def has_wanted_json(self) -> bool:
        """Whether JSON that is waited for has come; true where none is."""
        return self._wish.wants_json is None or self.json.has_wanted

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Has the page count as not quiet while this lasts."""
        task = asyncio.current_task()
        assert task is not None
        self._asking.add(task)
        try:
            yield
        finally:
            self._asking.discard(task)
            self._quiet_since = time.monotonic()

    def note_message(self) -> None:
        """Notes that something has come for the page, or was sent by it, though it asked for nothing."""
        self._quiet_since = time.monotonic()

    def note_delivered(self, url: str) -> None:
        """Notes that a frame of the page has what it asked for: only now can its scripts go on."""
        if self._delivering.pop(url.partition("#")[0], None) is not None:
            self._quiet_since = time.monotonic()

    def end(self, error: Exception) -> None:
        """Ends the page's rendering with this error, unless it has ended."""
        if not self.ended.done():
            self.ended.set_exception(error)
            self.ended.exception()  # whoever renders the page may be gone: then nobody needs it

    def begin_again(self) -> None:
        """Has the page's bounds count anew, since it is loaded anew; what it asked for is answered from memory."""
        self._requests = self._documents = 0

    def stop(self) -> None:
        """Cancels what is fetched for the page."""
        for task in self._asking:
            task.cancel()

    async def ask(self, request: PageRequest) -> PageAnswer | None:
        """Returns the answer to one request of the page; None: it is refused, or can't be had."""
        if not self._wish.wants(_resource_type(request)) or not self._may_ask(request):
            return None
        number = self._requests
        if request.resource_type == "Document":
            self.origins.add(origin_as_written(request.url))
        try:
            with self.waiting():
                answer = await self._fetch(request)
        except Exception as error:  # noqa: BLE001 -- of the page itself it is what render raises, of others a failed request
            if request.is_page:
                self.end(error)
            return None
        self._delivering[request.url] = time.monotonic() + DELIVERY_SECONDS
        if request.is_page and answer.status // 100 != REDIRECTION and not (self.document and is_no_document(answer)):
            self.document = answer
        if request.resource_type in DATA_TYPES:
            self.json.note(number, request, answer)
        return answer

    def _may_ask(self, request: PageRequest) -> bool:
        self._requests += 1
        self._documents += request.is_page
        if self._documents > MAX_DOCUMENTS:
            self.end(PageCrashedError(f"the page led itself to more than {MAX_DOCUMENTS} documents"))
            return False
        return self._requests <= MAX_REQUESTS


def is_no_document(answer: PageAnswer) -> bool:
    """Returns whether a browser shows no document for an answer by its status, or since it is sent as an attachment."""
    return answer.status in STAYS_AT or is_attachment(answer)


def is_attachment(answer: PageAnswer) -> bool:
    """Returns whether a browser is told to save an answer rather than to show it."""
    disposition = next((value for name, value in answer.headers if name.lower() == b"content-disposition"), b"")
    return disposition.strip().lower().startswith(b"attachment")


def _resource_type(request: PageRequest) -> str:
    """Returns the type of resource that is asked for; the browser calls favicons Other, and EventSource XHR."""
    accepted = request.header("accept")
    if accepted.startswith("text/event-stream"):
        return "EventSource"
    if request.resource_type == "Other" and accepted.startswith("image/"):
        return "Image"
    return request.resource_type

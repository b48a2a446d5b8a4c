"""What the forum answers to each path and query. `server.py` receives the requests and sends the responses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from testbed.forum import ajax, content, files, kinds, pages
from testbed.forum.query import BadQueryError, Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from testbed.forum.content import Sort, Thread

MAX_PAGE_SIZE = 100  # results on one page
DEFAULT_PAGE_SIZE = 20
MAX_NUMBER = 1_000_000  # of a page or an offset
ROBOTS = b"User-agent: *\nDisallow: /private/\n"


@dataclass(frozen=True, slots=True)
class Response:
    """What the server sends.

    Attributes:
        location: For the Location header; empty: none.
        slow: Whether the server waits before it sends this.
        stream: Sent instead of `body`, piece by piece and without a Content-Length.
    """

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""
    slow: bool = False
    stream: files.BigPage | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks for.

    Attributes:
        path: As the client sent it, without the query.
        raw_query: What follows the question mark, one character per byte.
        origin: Scheme and host, as the client named them.
    """

    path: str
    raw_query: str
    origin: str

    def query(self, encoding: str = "utf-8") -> Query:
        """Returns the parsed query."""
        return Query(self.raw_query, encoding)


class Forum:
    """The forum's pages, and the little that it remembers: which pages have healed, and the last search."""

    def __init__(self) -> None:
        self._healed: set[int] = set()
        self._last_search = {"path": "", "q": "", "raw_query": ""}
        self._paths: dict[str, Callable[[Request], Response]] = {
            "/": lambda _: _html(pages.index()),
            "/robots.txt": lambda _: Response(ROBOTS, "text/plain; charset=utf-8"),
            "/search": self._search,
            "/gbk/search": lambda request: self._search(request, "gbk"),
            "/ajax/": lambda _: _html(ajax.LIST_PAGE),
            "/ajax/browse": lambda _: _html(ajax.BROWSE_PAGE),
            "/api/search": self._api_search,
            "/echo/last": lambda _: _json(self._last_search),
            "/big": lambda _: Response(b"", stream=files.BigPage()),
        }

    def respond(self, request: Request) -> Response:
        """Returns the response to a GET request: 404 for an unknown path, 400 for a query that can't be used."""
        try:
            if request.path in self._paths:
                return self._paths[request.path](request)
            match = re.fullmatch(r"(/[a-z/-]+/)([0-9]{1,9})((?:\.[a-z0-9]+)?)", request.path)
            if match:
                return self._numbered(request, match[1] + "{id}" + match[3], int(match[2]))
        except BadQueryError as error:
            return _html(pages.message("Bad request", str(error)), status=400)
        return _not_found()

    def _numbered(self, request: Request, pattern: str, number: int) -> Response:
        if pattern == "/img/{id}.png" and number in content.image_ids():
            return Response(files.image(number), "image/png")
        if pattern == "/video/{id}.mp4" and number in content.video_ids():
            return Response(files.video(number), "video/mp4")
        thread = content.thread(number)
        if thread is None:
            return _not_found()
        if pattern == "/ajax/thread/{id}" and thread.kind is kinds.API:
            return _html(ajax.THREAD_PAGE)
        if pattern == kinds.PLAIN.path and thread.kind in (kinds.MOVED, kinds.AWAY):
            return self._thread(request, thread)  # the page that they redirect to
        return self._of_kind(request, thread) if pattern == thread.kind.path else _not_found()

    def _of_kind(self, request: Request, thread: Thread) -> Response:
        kind = thread.kind
        if kind is kinds.GONE:
            return _not_found()
        if kind is kinds.HEALING and thread.id not in self._healed:
            self._healed.add(thread.id)
            return _html(pages.message("Error", "Try again"), status=500)
        if kind in (kinds.MOVED, kinds.AWAY):
            base, status = ("", 301) if kind is kinds.MOVED else (_other_name(request.origin), 302)
            return Response(b"", status=status, location=base + kinds.PLAIN.path.format(id=thread.id))
        if kind is kinds.EMPTY:
            return Response(b"", status=204)
        if kind is kinds.NOT_HTML:
            return Response(files.not_html(thread.title), "application/pdf")
        return self._thread(request, thread)

    def _thread(self, request: Request, thread: Thread) -> Response:
        number = request.query().number("page", 1, 1, MAX_NUMBER)
        if number > len(thread.pages):
            return _not_found()
        if thread.kind is kinds.API:
            return _json(ajax.thread_json(thread, number, request.origin))
        if thread.kind is kinds.GBK:
            return _html(pages.thread_page(thread, number, request.origin, charset=""), "gbk")
        if thread.kind is kinds.GBK_META:
            body = pages.thread_page(thread, number, request.origin, charset="gbk")
            return Response(body.encode("gbk", "xmlcharrefreplace"), "text/html")
        body = pages.thread_page(thread, number, request.origin)
        header = "gbk" if thread.kind is kinds.MISLABELLED else "utf-8"
        return Response(body.encode(), f"text/html; charset={header}", slow=thread.kind is kinds.SLOW)

    def _search(self, request: Request, charset: str = "utf-8") -> Response:
        query = request.query(charset)
        page = query.number("page", 1, 1, MAX_NUMBER)
        size = query.number("size", DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
        results = self._find(request, query, "html", "from")
        shown = results[(page - 1) * size : page * size]
        next_url = ""
        if page * size < len(results):
            words = {name: query.text(name) for name in ("q", "size", "sort", "from") if query.text(name)}
            next_url = f"{request.path}?{urlencode({**words, 'page': page + 1}, encoding=charset, errors='replace')}"
        text = pages.search(query.text("q"), shown, len(results), next_url, action=request.path, charset=charset)
        return _html(text, charset)

    def _api_search(self, request: Request) -> Response:
        query = request.query()
        offset = query.number("offset", 0, 0, MAX_NUMBER)
        limit = query.number("limit", DEFAULT_PAGE_SIZE, 1, MAX_PAGE_SIZE)
        results = self._find(request, query, "ajax", "since")
        following = offset + limit if offset + limit < len(results) else None
        items = ajax.results(results[offset : offset + limit])
        return _json({"total": len(results), "items": items, "next_offset": following})

    def _find(self, request: Request, query: Query, board: content.Board, since: str) -> list[Thread]:
        words = query.text("q")
        self._last_search = {"path": request.path, "q": words, "raw_query": request.raw_query}
        sort = cast("Sort", query.choice("sort", "new", ("new", "rel")))
        return content.expected_results(words, board, sort=sort, since=query.day(since))


def _html(text: str, charset: str = "utf-8", status: int = 200) -> Response:
    # A character that the charset lacks becomes a character reference.
    return Response(text.encode(charset, "xmlcharrefreplace"), f"text/html; charset={charset}", status)


def _json(value: dict[str, Any]) -> Response:
    return Response(json.dumps(value, ensure_ascii=False).encode(), "application/json")


def _not_found() -> Response:
    return _html(pages.message("Not found", "There is no such page"), status=404)


def _other_name(origin: str) -> str:
    """Returns the forum's origin under its other name, which is another host to a crawler."""
    name, other = ("127.0.0.1", "localhost") if "127.0.0.1" in origin else ("localhost", "127.0.0.1")
    return origin.replace(name, other)

"""Serves the forum over HTTP/1.1 with keep-alive, by Twisted, and writes down who asked for what and when."""

# mypy: disallow-untyped-calls=False
# Most of twisted.web has no annotations.

from __future__ import annotations

import json
import re
import time
from typing import IO, TYPE_CHECKING, Any

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site
from twisted.web.static import NoRangeStaticProducer

from testbed.forum import content
from testbed.forum.routes import Answer, Asked, Forum

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure

ADDRESS = "127.0.0.1"  # a demo is nobody else's business
BACKLOG_CONNECTIONS = 128


class AccessLog:
    """One JSON line per request, written when it ends.

    A request has ended when its last byte was handed to the connection or the client hung up. Each line:
    `start`, `end` (s since the epoch, to the ms), `method`, `path` (with query), `client_port`, `status` (0: the client
    hung up first), `in_progress` (requests in progress when this one started, itself included; the highest of a log
    is the most that ever ran at once).

    Args:
        file: Open for text; None: requests are counted but not written.
    """

    def __init__(self, file: IO[str] | None) -> None:
        self._file = file
        self._in_progress = 0

    def enter(self) -> int:
        """Counts a request in; returns how many are in progress now."""
        self._in_progress += 1
        return self._in_progress

    def leave(self, request: ForumRequest, status: int) -> None:
        """Counts a request out and writes its line."""
        self._in_progress -= 1
        if self._file is None:
            return
        line = {
            "start": round(request.started_s, 3),
            "end": round(time.time(), 3),
            "method": request.method.decode("latin-1"),
            "path": request.uri.decode("latin-1"),
            "client_port": request.getClientAddress().port,
            "status": status,
            "in_progress": request.in_progress,
        }
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()  # tests read along


class ForumRequest(Request):
    """A request that enters and leaves the access log."""

    site: ForumSite
    started_s = 0.0
    in_progress = 0  # 0: has left, or never came in

    def process(self) -> None:
        """Answers the request, now that all of it has arrived."""
        log: AccessLog = self.channel.site.access_log  # type: ignore[attr-defined]  # Twisted sets it
        self.started_s, self.in_progress = time.time(), log.enter()
        super().process()

    def finish(self) -> None:
        """Ends the answer. The request leaves first: by then its client can't have sent the next one."""
        self._leave(self.code)
        super().finish()

    def connectionLost(self, reason: Failure) -> None:  # noqa: N802 -- Twisted's name
        """The client hung up before the end of the answer."""
        self._leave(0)
        super().connectionLost(reason)

    def _leave(self, status: int) -> None:
        if self.in_progress:
            self.site.access_log.leave(self, status)
            self.in_progress = 0


class ForumResource(Resource):
    """Every path of the forum; methods other than GET and HEAD are answered with 405.

    Args:
        delay_s: How long a slow page takes.
        reactor: Twisted's, whose clock waits for it.
    """

    isLeaf = True  # noqa: N815 -- Twisted's name

    def __init__(self, forum: Forum, delay_s: float, reactor: Any) -> None:
        super().__init__()
        self._forum, self._delay_s, self._reactor = forum, delay_s, reactor

    def render_GET(self, request: ForumRequest) -> int:  # noqa: N802 -- Twisted's name
        """Starts the answer."""
        answer = self._forum.answer(_asked(request))
        if answer.slow:
            waiting = self._reactor.callLater(self._delay_s, _send, request, answer)
            request.notifyFinish().addErrback(lambda _: waiting.active() and waiting.cancel())
        else:
            _send(request, answer)
        return NOT_DONE_YET


class ForumSite(Site):
    """Twisted's HTTP server for the forum.

    Args:
        access_log: Where every request enters and leaves.
    """

    def __init__(self, resource: Resource, access_log: AccessLog) -> None:
        super().__init__(resource, requestFactory=ForumRequest, parsePOSTFormSubmission=False)
        self.access_log = access_log


def serve(
    port: int, delay_s: float, other: str, access_log: IO[str] | None, on_listening: Callable[[str], object]
) -> None:
    """Serves the forum on loopback until SIGTERM or SIGINT.

    Args:
        port: TCP port, 0 for a free one.
        delay_s: How long a slow page takes.
        other: Origin that `/away/ID` redirects to; empty: this forum by its other name, see `Forum`.
        access_log: Where to write `AccessLog`'s lines; None: nowhere.
        on_listening: Called with the forum's origin when it answers.

    Raises:
        twisted.internet.error.CannotListenError: The port is taken; nothing runs.
    """
    from twisted.internet import reactor as installed  # the import installs it, so it stands in the server only

    reactor: Any = installed  # a module to type checkers

    content.threads()  # made now, so that the first request is as fast as the rest
    site = ForumSite(ForumResource(Forum(other), delay_s, reactor), AccessLog(access_log))
    listening = reactor.listenTCP(port, site, BACKLOG_CONNECTIONS, ADDRESS)
    on_listening(f"http://{ADDRESS}:{listening.getHost().port}")
    reactor.run()


def _asked(request: ForumRequest) -> Asked:
    path, _, raw_query = request.uri.decode("latin-1").partition("?")
    name = request.getHeader("host") or ""
    if not re.fullmatch(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?", name):
        host = request.getHost()
        name = f"{host.host}:{host.port}"
    return Asked(path, raw_query, f"http://{name}")


def _send(request: ForumRequest, answer: Answer) -> None:
    request.setResponseCode(answer.status)
    request.setHeader("Content-Type", answer.content_type)
    if answer.location:
        request.setHeader("Location", answer.location)
    if answer.stream is not None and request.method != b"HEAD":
        NoRangeStaticProducer(request, answer.stream).start()
        return
    if answer.stream is None:
        request.setHeader("Content-Length", str(len(answer.body)))
        request.write(answer.body)
    request.finish()

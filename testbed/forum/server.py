"""Serves the forum over HTTP/1.1 with keep-alive, by Twisted, and logs what is asked for."""

# mypy: disallow-untyped-calls=False
# Most of twisted.web has no annotations.

from __future__ import annotations

import json
import re
import time
from typing import IO, TYPE_CHECKING, Any

from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Site
from twisted.web.static import NoRangeStaticProducer

from testbed.forum import content
from testbed.forum.routes import Forum, Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.web.server import Request as TwistedRequest

ADDRESS = "127.0.0.1"  # the forum is for this machine alone
BACKLOG_CONNECTIONS = 128
HOST_HEADER = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?")


class ForumResource(Resource):
    """Answers every path of the forum; methods other than GET and HEAD get the status 405.

    Args:
        delay_s: How long a slow page takes.
        access_log: Gets a JSON line for each request as soon as it has arrived: `start`, in seconds since the epoch,
            `method`, and `path` with the query. None: there is no log.
        reactor: Twisted's, whose clock measures the delay.
    """

    isLeaf = True  # noqa: N815 -- Twisted's name

    def __init__(self, delay_s: float, access_log: IO[str] | None, reactor: Any) -> None:
        super().__init__()
        self._forum = Forum()
        self._delay_s, self._access_log, self._reactor = delay_s, access_log, reactor

    def render(self, request: TwistedRequest) -> Any:
        """Logs the request and answers it."""
        if self._access_log is not None:
            method, path = request.method.decode("latin-1"), request.uri.decode("latin-1")
            self._access_log.write(json.dumps({"start": time.time(), "method": method, "path": path}) + "\n")
            self._access_log.flush()  # it is read meanwhile
        return super().render(request)

    def render_GET(self, request: TwistedRequest) -> int:  # noqa: N802 -- Twisted's name
        """Begins to answer a GET or HEAD request."""
        response = self._forum.respond(_parsed(request))
        if response.slow:
            waiting = self._reactor.callLater(self._delay_s, _send, request, response)
            request.notifyFinish().addErrback(lambda _: waiting.active() and waiting.cancel())
        else:
            _send(request, response)
        return NOT_DONE_YET


def serve(port: int, delay_s: float, access_log: IO[str] | None, on_listening: Callable[[str], object]) -> None:
    """Serves the forum on loopback until SIGTERM or SIGINT.

    Args:
        port: TCP port, 0 for a free one.
        delay_s: How long a slow page takes.
        access_log: As for `ForumResource`.
        on_listening: Called with the forum's origin as soon as it answers.

    Raises:
        twisted.internet.error.CannotListenError: The port is taken; nothing runs.
    """
    from twisted.internet import reactor as installed  # importing it chooses the event loop, so only a server does

    reactor: Any = installed  # to type checkers it is a module

    content.threads()  # made now, so that the first request takes no longer than the others
    site = Site(ForumResource(delay_s, access_log, reactor), parsePOSTFormSubmission=False)
    listening = reactor.listenTCP(port, site, BACKLOG_CONNECTIONS, ADDRESS)
    on_listening(f"http://{ADDRESS}:{listening.getHost().port}")
    reactor.run()


def _parsed(request: TwistedRequest) -> Request:
    path, _, raw_query = request.uri.decode("latin-1").partition("?")
    host = request.getHeader("host") or ""
    if not HOST_HEADER.fullmatch(host):
        host = f"{request.getHost().host}:{request.getHost().port}"
    return Request(path, raw_query, f"http://{host}")


def _send(request: TwistedRequest, response: Response) -> None:
    request.setResponseCode(response.status)
    request.setHeader("Content-Type", response.content_type)
    if response.location:
        request.setHeader("Location", response.location)
    if response.stream is not None and request.method != b"HEAD":
        NoRangeStaticProducer(request, response.stream).start()
        return
    if response.stream is None:
        request.setHeader("Content-Length", str(len(response.body)))
        request.write(response.body)
    request.finish()

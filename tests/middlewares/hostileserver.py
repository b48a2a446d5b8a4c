"""A web server whose robots.txt is whatever a test wants, on a host (port) of its own."""

from __future__ import annotations

import contextlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = (
    b"<html><head><title>T</title></head><body><article><p>"
    + b"Some words of a page. " * 30
    + b"</p></article></body></html>"
)


class Place(ThreadingHTTPServer):
    """One host. `robots(place, handler)` answers for robots.txt; every path below /page is a page.

    Attributes:
        requests: (time, path) of each request, by this machine's monotonic clock.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, robots):
        super().__init__(("127.0.0.1", 0), Handler)
        self.robots = robots
        self.requests = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.page = f"{self.url}/page"
        self.ending = threading.Event()

    def asked(self, path="/robots.txt"):
        """Returns when a path was asked for."""
        return [at for at, asked in self.requests if asked == path]

    def handle_error(self, *_):
        """Says nothing: clients that go away are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.requests.append((time.monotonic(), self.path))
        if self.path.startswith("/page"):
            self.answer(200, PAGE, Content_Type="text/html")
        else:
            self.server.robots(self.server, self)

    def answer(self, status, body=b"", **headers):
        """Answers at once."""
        if isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        for name, value in {"Content_Type": "text/plain", "Content_Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Says nothing."""


@contextlib.contextmanager
def serving(robots):
    """Runs a place."""
    place = Place(robots)
    thread = threading.Thread(target=place.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield place
    finally:
        place.ending.set()
        place.shutdown()
        thread.join()
        place.server_close()

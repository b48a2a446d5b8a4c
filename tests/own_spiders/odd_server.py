"""The server that `odd_spider.py` crawls; it remembers what it is asked."""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SHOWN = ("User-Agent", "Accept", "Accept-Language", "Accept-Encoding", "Cookie", "Referer")
LINKS = f"<a href='/once'>1</a><a href='/once'>2</a><a href='/long?{'x' * 2_100}'>3</a>"
PAGES = {
    "/robots.txt": "User-agent: *\nDisallow: /forbidden/\n",
    "/refresh": "<html><head><meta http-equiv='refresh' content='0; url=/refreshed'></head></html>",
    "/links": f"<html><body>{LINKS}</body></html>",
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path
        origin = f"http://127.0.0.1:{self.server.server_port}"
        shown = {name: self.headers[name].replace(origin, "") for name in SHOWN if name in self.headers}
        self.server.requests.append((path, shown))
        times = Counter(known for known, _ in self.server.requests)[path]
        if path == "/redirected":
            self.answer(302, Location="/landed")
        elif path.startswith("/loop"):
            self.answer(302, Location="/loop?again" if path == "/loop" else "/loop")
        elif path == "/away":
            self.answer(302, Location=f"{origin.replace('127.0.0.1', 'localhost')}/elsewhere")
        elif path == "/overloaded" or (path == "/busy" and times < 3):
            self.answer(503)
        elif path == "/cookie/set":
            self.answer(200, "set", **{"Set-Cookie": "jar=full"})
        elif path.startswith("/missing"):
            self.answer(404)
        elif path == "/packed":
            self.answer(200, gzip.compress(b"unpacked", mtime=0), **{"Content-Encoding": "gzip"})
        else:
            self.answer(200, PAGES.get(path, f"page {path}"))

    def answer(self, status, body="", **headers):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", "Content-Length": len(body), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, _timestamp=None):
        return "Sun, 22 Nov 2026 12:00:00 GMT"  # the same in every answer

    def log_message(self, *_):
        pass


@contextmanager
def odd_server():
    """Yields a server; `requests` are the paths and headers of what it was asked, in order."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.requests = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

"""The server that `odd_spider.py` crawls; it remembers what it is asked."""

from __future__ import annotations

import gzip
from collections import Counter

from page_server import PageHandler, serving

SHOWN = ("User-Agent", "Accept", "Accept-Language", "Accept-Encoding", "Cookie", "Referer")
LINKS = f"<a href='/once'>1</a><a href='/once'>2</a><a href='/long?{'x' * 2_100}'>3</a>"
PAGES = {
    "/robots.txt": "User-agent: *\nDisallow: /forbidden/\n",
    "/refresh": "<html><head><meta http-equiv='refresh' content='0; url=/refreshed'></head></html>",
    "/links": f"<html><body>{LINKS}</body></html>",
}


class Handler(PageHandler):
    def do_GET(self):  # noqa: N802 -- as http.server names it
        path = self.path
        origin = f"http://127.0.0.1:{self.server.server_port}"
        shown = {name: self.headers[name].replace(origin, "") for name in SHOWN if name in self.headers}
        self.server.state.append((path, shown))
        times = Counter(known for known, _ in self.server.state)[path]
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

    def date_time_string(self, _timestamp=None):
        return "Sun, 22 Nov 2026 12:00:00 GMT"  # the same in every answer


def odd_server(requests):
    """Gives the origin of a server; `requests` gets the paths and headers of what it is asked, in order."""
    return serving(Handler, requests)

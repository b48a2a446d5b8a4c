"""A web server of a test's own, whose answers are a handler's."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class PageHandler(BaseHTTPRequestHandler):
    """Answers pages over connections that are kept."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, status, body="", **headers):
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Says nothing where a client hangs up, which may be at any byte: what it writes would be the output of a test."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(handler, state=None):
    """Gives the origin of a server; its handlers may keep what they like in `self.server.state`."""
    with Server(("127.0.0.1", 0), handler) as server:
        server.state = state
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()

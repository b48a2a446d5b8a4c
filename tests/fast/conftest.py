"""Runs a script with many crawls against a server of the test's own."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import scrapy

import crawler
from crawler.fast.addon import TESTED_VERSIONS

# On other versions the add-on steps back, which test_addon.py shows: the rest has nothing to compare.
OURS = [] if scrapy.__version__.startswith(TESTED_VERSIONS) else Path(__file__).parent.glob("test_*.py")
collect_ignore = [path.name for path in OURS if path.name != "test_addon.py"]

HERE = Path(__file__).parent
ROOT = Path(crawler.__file__).parent.parent
CRAWLS_SECONDS = 120.0  # a script takes 4 s on an idle machine


class PageHandler(BaseHTTPRequestHandler):
    """Answers pages over connections that are kept."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, status, body, **headers):
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def run_crawls():
    """Returns a function that runs a script of this folder and returns what it prints as JSON.

    `handler` answers the script's requests; it may keep what it likes in `handler.server.state`.
    """

    def run(script, handler, state):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.state = state
        threading.Thread(target=server.serve_forever).start()
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", str(HERE / script), f"http://127.0.0.1:{server.server_port}"],
                capture_output=True,
                text=True,
                timeout=CRAWLS_SECONDS,
                check=False,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        finally:
            server.shutdown()
            server.server_close()
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run

"""Both engines do the same: an odd crawl gives the same items, statistics and signals, those in order per request."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

import crawler
from crawler.errors import ConfigError
from crawler.fast import engine

CRAWL = Path(__file__).with_name("odd_crawl.py")


class Board(BaseHTTPRequestHandler):
    """Answers by the path; `/flaky` works at the third try."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        path = self.path.partition("?")[0]
        status, body, headers = 200, b"<html><body>a page</body></html>", {}
        match path:
            case "/missing":
                status = 404
            case "/moved":
                status, headers = 302, {"Location": "/page?moved"}
            case "/loop":
                status, headers = 301, {"Location": "/loop?" + "x" * (len(self.path) % 7 + 1)}
            case "/busy":
                status = 503
            case "/empty":
                body = b""
            case "/flaky":
                self.server.tries[path] += 1
                status = 503 if self.server.tries[path] % 3 else 200
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def board():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Board)
    server.tries = Counter()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


ROOT = Path(crawler.__file__).parent.parent


def crawl(board, fast, items_at_once, middleware):
    command = [sys.executable, "-W", "ignore", str(CRAWL), board, fast, str(items_at_once), middleware]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    results = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert done.returncode == 0, done.stderr
    assert results, done.stderr
    return json.loads(results[0].removeprefix("RESULT "))


@pytest.mark.parametrize("middleware", ["Outputs", "Inputs"])
@pytest.mark.parametrize("items_at_once", [1, 8])
def test_an_odd_crawl_is_the_same_on_both_engines(board, items_at_once, middleware):
    slow = crawl(board, "0", items_at_once, middleware)
    fast = crawl(board, "1", items_at_once, middleware)
    assert (slow.pop("engine"), fast.pop("engine")) == ("ExecutionEngine", "LeanEngine")
    assert len(slow["items"]) > 50
    assert fast["items"] == slow["items"]
    assert fast["stats"] == slow["stats"]
    if items_at_once > 1:  # a page's items overtake each other
        for result in (slow, fast):
            result["signals"] = {path: sorted(heard) for path, heard in result["signals"].items()}
    assert fast["signals"] == slow["signals"]


@pytest.mark.parametrize(("version", "flag"), [("2.20.0", True), ("2.18.4", True), ("2.19.0", False)])
def test_scrapys_own_engine_runs_where_this_one_is_off_or_was_not_tested(monkeypatch, caplog, version, flag):
    monkeypatch.setattr(engine.scrapy, "__version__", version)
    crawler = get_crawler(settings_dict={"FAST_ENGINE": flag})
    with pytest.raises(NotConfigured):
        engine.FastEngine(crawler).update_settings(crawler.settings)
    assert "_create_engine" not in vars(crawler)
    assert (f"not tested with Scrapy {version}" in caplog.text) == flag


def test_neither_on_nor_off_is_refused():
    crawler = get_crawler(settings_dict={"FAST_ENGINE": "perhaps"})
    with pytest.raises(ConfigError, match="FAST_ENGINE"):
        engine.FastEngine(crawler).update_settings(crawler.settings)

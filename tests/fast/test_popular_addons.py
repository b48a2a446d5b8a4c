"""Popular add-ons work in a user's own spiders, on both engines, as they do in a project that is Scrapy alone."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import crawler

HERE = Path(__file__).parent
ROOT = Path(crawler.__file__).parent.parent
ALONE = {"SCRAPY_SETTINGS_MODULE": "addon_spiders"}
OURS = {"SCRAPY_SETTINGS_MODULE": "crawler.settings"}
TO_OURS = {"SPIDER_MODULES": "addon_spiders", "USER_AGENT": "of the settings", "ALLOW_PRIVATE_ADDRESSES": 1}
UNSTEADY = ("time", "memusage", "log_count", "per_minute")
PAGES = {
    "/shelf": "<a href='/book/1'>1</a><a href='/book/2'>2</a><a href='/book/3'>3</a>",
    "/book/1": "<h1>One</h1><i>10</i>",
    "/book/2": "<h1>Two</h1><i>20</i>",
    "/book/3": "<h1>Three</h1><i>30</i>",
    "/book/1/price": "<b>11</b>",
    "/book/2/price": "<b>22</b>",
    "/book/3/price": "<b>33</b>",
    "/own": "",
}


class Shop(BaseHTTPRequestHandler):
    """A shelf of books; the third comes half at first."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        seen = self.server.seen
        seen.append((self.path, {name.title(): value for name, value in self.headers.items() if name != "Host"}))
        is_half = self.path == "/book/3" and Counter(path for path, _ in seen)[self.path] == 1
        body = "" if is_half else PAGES.get(self.path)
        answer = f"<html><body>{body}</body></html>".encode()
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def shop():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def crawl(shop, folder, spider, environment, **settings):
    """Returns what came of `scrapy crawl SPIDER`, with what the shop saw of it."""
    shop.seen = []
    told = folder / "told.json"
    words = [sys.executable, "-W", "ignore", "-m", "scrapy", "crawl", spider]
    words += ["-a", f"base=http://127.0.0.1:{shop.server_port}"]
    words += [word for name, value in (settings | {"TOLD_FILE": told}).items() for word in ("-s", f"{name}={value}")]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}", **environment},
    )
    assert done.returncode == 0, done.stderr
    assert told.exists(), done.stderr
    result = json.loads(told.read_text())
    told.unlink()
    result["stats"] = {name: value for name, value in result["stats"].items() if not any(map(name.count, UNSTEADY))}
    result["items"].sort(key=str)  # two pages' further requests may overtake each other
    return {**result, "seen": sorted(shop.seen, key=str)}


def same_everywhere(shop, folder, spider):
    """Returns what came of a spider in our project, which is what comes of it on the other engine, and elsewhere."""
    alone = crawl(shop, folder, spider, ALONE)
    slow = crawl(shop, folder, spider, OURS, **TO_OURS, FAST_ENGINE=0)
    fast = crawl(shop, folder, spider, OURS, **TO_OURS)
    engines = [result.pop("engine") for result in (alone, slow, fast)]
    assert engines == ["ExecutionEngine", "ExecutionEngine", "LeanEngine"]
    assert slow == alone
    assert fast == slow
    return fast


def test_scrapy_poet_injects_pages(shop, tmp_path):
    result = same_everywhere(shop, tmp_path, "poet")
    assert result["items"] == [
        {"response": "DummyResponse", "path": "/only-an-address"},
        {"shelf": "first", "title": "One", "price": "11"},
        {"shelf": "first", "title": "Three", "price": "33"},
        {"shelf": "first", "title": "Two", "price": "22"},
    ]
    assert Counter(path for path, _ in result["seen"]) == {
        "/shelf": 1,
        "/book/1": 1,
        "/book/2": 1,
        "/book/3": 2,  # half at first
        "/book/1/price": 1,
        "/book/2/price": 1,
        "/book/3/price": 1,
    }
    stats = result["stats"]
    assert stats["poet/injector/addon_spiders.BookPage"] == 4
    assert stats["retry/reason_count/half a page"] == 1
    assert stats["scrapy_poet/dummy_response_count"] == 1
    assert stats["downloader/response_count"] == 8  # the one that was spared isn't among them


def test_spidermon_validates_and_monitors(shop, tmp_path):
    result = same_everywhere(shop, tmp_path, "monitored")
    assert result["items"] == [{"title": "One", "price": "10"}, {"title": "Two", "price": "20"}]
    ((dropped, reason),) = result["dropped"]
    assert reason == "Validation failed!"
    assert set(dropped["_validation"]) == {"title", "price"}
    at_close, at_stop = result["monitors"]
    assert at_close == at_stop
    assert {name.partition("/")[2]: status for name, status, _ in at_close} == {
        "test_all_books_were_seen": "OK",
        "test_it_ends_well": "OK",
        "test_no_book_is_wrong": "FAIL",
    }
    stats = result["stats"]
    assert stats["spidermon/validation/items"] == 3
    assert stats["spidermon/validation/items/dropped"] == 1
    assert stats["spidermon_field_coverage/Offer/title"] == 1.0


def test_scrapy_fake_useragent_disguises_each_request(shop, tmp_path):
    result = same_everywhere(shop, tmp_path, "disguised")
    seen = {path: headers["User-Agent"] for path, headers in result["seen"]}
    assert seen.pop("/own") == "of the request"
    assert len(seen) == 4
    assert all(agent.startswith("Mozilla/5.0 (") for agent in seen.values())
    assert len(set(seen.values())) > 1
    assert {*seen.values(), "of the request"} == {item["agent"] for item in result["items"]}

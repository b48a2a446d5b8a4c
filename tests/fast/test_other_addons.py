"""Popular add-ons work in a user's own spiders, on both engines, as they do in a project that is Scrapy alone."""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from command_line import ROOT
from page_server import PageHandler, serving

pytestmark = pytest.mark.process

CRAWLS_SECONDS = 120.0  # a script takes 4 s on an idle machine
VARYING = ("time", "memusage", "log_count", "per_minute")  # in the names of statistics that differ between two crawls
PAGES = {
    "shelf": "<a href='book/1'>1</a><a href='book/2'>2</a><a href='book/3'>3</a>",
    "book/1": "<h1>One</h1><i>10</i>",
    "book/2": "<h1>Two</h1><i>20</i>",
    "book/3": "<h1>Three</h1><i>30</i>",
    "book/1/price": "<b>11</b>",
    "book/2/price": "<b>22</b>",
    "book/3/price": "<b>33</b>",
}


class Shop(PageHandler):
    """A shelf of books below `/SPIDER/NUMBER/`; at its first request, the third book's page comes without content."""

    def do_GET(self):  # noqa: N802 -- as http.server names it
        _, spider, number, page = self.path.split("/", 3)
        crawl = f"{spider}/{number}"
        headers = {name.title(): value.replace(crawl, "") for name, value in self.headers.items() if name != "Host"}
        requests = self.server.state[crawl]
        requests.append((page, headers))
        is_half = page == "book/3" and Counter(path for path, _ in requests)[page] == 1
        body = "" if is_half else PAGES.get(page)
        self.answer(404 if body is None else 200, f"<html><body>{body}</body></html>")


@pytest.fixture(scope="module")
def crawls():
    """What each crawl of `addon_spiders.py` yielded, with the requests that the shop received from it."""
    requests = defaultdict(list)
    with serving(Shop, requests) as origin:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", Path(__file__).with_name("addon_spiders.py"), origin],
            capture_output=True,
            text=True,
            timeout=CRAWLS_SECONDS,
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    for name, result in results.items():
        result["stats"] = {key: value for key, value in result["stats"].items() if not any(map(key.count, VARYING))}
        result["items"].sort(key=str)  # further requests of two pages may overtake each other
        result["requests"] = sorted(requests[name], key=str)
    return results


def same_everywhere(crawls, spider):
    """Returns what a spider yields in our project, after comparing it with the other two projects."""
    alone, scrapys, fast = (crawls[f"{spider}/{number}"] for number in range(3))
    engines = [result.pop("engine") for result in (alone, scrapys, fast)]
    assert engines == ["ExecutionEngine", "ExecutionEngine", "LeanEngine"]
    assert scrapys == alone
    assert fast == scrapys
    return fast


def test_scrapy_poet_injects_pages(crawls):
    result = same_everywhere(crawls, "poet")
    assert result["items"] == [
        {"response": "DummyResponse", "path": "/only-an-address"},
        {"shelf": "first", "title": "One", "price": "11"},
        {"shelf": "first", "title": "Three", "price": "33"},
        {"shelf": "first", "title": "Two", "price": "22"},
    ]
    assert Counter(path for path, _ in result["requests"]) == {
        "shelf": 1,
        "book/1": 1,
        "book/2": 1,
        "book/3": 2,  # half at first
        "book/1/price": 1,
        "book/2/price": 1,
        "book/3/price": 1,
    }
    stats = result["stats"]
    assert stats["poet/injector/__main__.BookPage"] == 4
    assert stats["retry/reason_count/half a page"] == 1
    assert stats["scrapy_poet/dummy_response_count"] == 1
    assert stats["downloader/response_count"] == 8  # without the one that scrapy-poet made itself


def test_spidermon_validates_and_monitors(crawls):
    result = same_everywhere(crawls, "monitored")
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

"""scrapy-poet works in a user's own spider on the fast engine as it does in a project that is Scrapy alone."""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from command_line import ROOT
from page_server import PageHandler, serving

CRAWLS_SECONDS = 120.0  # the script takes 3 s on an idle machine
VARYING = ("time", "memusage", "log_count", "per_minute")  # in the names of statistics that differ between two crawls
PAGES = {
    "shelf": "<a href='book/1'>1</a><a href='book/2'>2</a><a href='book/3'>3</a>",
    "book/1": "<h1>One</h1>",
    "book/2": "<h1>Two</h1>",
    "book/3": "<h1>Three</h1>",
    "book/1/price": "<b>11</b>",
    "book/2/price": "<b>22</b>",
    "book/3/price": "<b>33</b>",
}


class Shop(PageHandler):
    """A shelf of books below `/PROJECT/`; at its first request, the third book's page comes without content.

    The names of the projects have as many letters, so that requests have as many bytes.
    """

    def do_GET(self):  # noqa: N802 -- as http.server names it
        _, project, page = self.path.split("/", 2)
        headers = {name.title(): value.replace(project, "") for name, value in self.headers.items() if name != "Host"}
        requests = self.server.state[project]
        requests.append((page, headers))
        is_half = page == "book/3" and Counter(path for path, _ in requests)[page] == 1
        body = "" if is_half else PAGES.get(page)
        self.answer(404 if body is None else 200, f"<html><body>{body}</body></html>")


@pytest.mark.process
def test_pages_are_injected_and_counted_as_in_scrapy_alone():
    requests = defaultdict(list)
    with serving(Shop, requests) as origin:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", Path(__file__).with_name("poet_spider.py"), origin],
            capture_output=True,
            text=True,
            timeout=CRAWLS_SECONDS,
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    for project, result in results.items():
        result["stats"] = {key: value for key, value in result["stats"].items() if not any(map(key.count, VARYING))}
        result["items"].sort(key=str)  # further requests of two pages may overtake each other
        result["requests"] = sorted(requests[project], key=str)
    bare, ours = results.values()
    assert [result.pop("engine") for result in results.values()] == ["ExecutionEngine", "LeanEngine"]
    assert ours == bare
    assert ours["items"] == [
        {"response": "DummyResponse", "path": "/only-an-address"},
        {"shelf": "first", "title": "One", "price": "11"},
        {"shelf": "first", "title": "Three", "price": "33"},
        {"shelf": "first", "title": "Two", "price": "22"},
    ]
    stats = ours["stats"]
    assert stats["poet/injector/__main__.BookPage"] == 4  # one was half at first
    assert stats["retry/reason_count/half a page"] == 1
    assert stats["scrapy_poet/dummy_response_count"] == 1
    assert stats["downloader/response_count"] == 8  # without the one that scrapy-poet made itself

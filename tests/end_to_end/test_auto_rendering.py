"""Sites that leave it to the crawl whether a browser renders their pages: what lacks something is rendered."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import yaml
from waiting import until

pytestmark = [
    pytest.mark.faults,  # crawls with a browser, one after the other
    pytest.mark.usefixtures("chromium_path"),
]

CONTENT = {"title": "css:h1", "author": "css:.by", "content": {"select": "css:.posts", "required": True}}
RENDER = {"when": "auto", "settle": {"selector": "css:body.done"}}
POLITENESS = {"delay": 0, "concurrency": 2}
SCRIPT = """
fetch('/data').then((answer) => answer.json()).then((data) => {
  document.querySelector('.posts').textContent = data.text;
  document.querySelector('.by').textContent = data.by;
}).finally(() => { document.body.className = 'done'; });
"""


def answered(body, kind="text/html"):
    head = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(body.encode())}", "Connection: close"]
    return ["\r\n".join([*head, "", body]).encode()]


def document(by, text, script="document.body.className = 'done'"):
    body = f"<h1>page</h1><p class=by>{by}</p><div class=posts>{text}</div><script>{script}</script>"
    return answered(f"<!DOCTYPE html><body>{body}")


def host_of(serve, page):
    def answer(path):
        return (
            answered(json.dumps({"text": "data", "by": "Ann"}), "application/json") if path == "/data" else page(path)
        )

    return serve(answer, robots=lambda _path: answered("User-agent: *\n", "text/plain"))


def site(name, **keys):
    render = {"content": RENDER}
    return yaml.safe_dump({"name": name, "content": CONTENT, "render": render, "politeness": POLITENESS} | keys)


def verdicts(crawl):
    found = crawl.json("site", "verdicts")["verdicts"]
    return {(one["site"], one["pages"]): (one["needs_browser"], one["lacked"], one["brought"]) for one in found}


def test_pages_are_rendered_where_that_brings_what_they_lack(crawl, serve):
    """One site's pages are empty before their script has run, one's have all, one's lack what nothing brings."""
    scripted = host_of(serve, lambda _path: document("", "", SCRIPT))
    whole = host_of(serve, lambda _path: document("Ann", "data"))
    half = host_of(serve, lambda _path: document("", "data"))
    hosts = {"scripted": scripted, "whole": whole, "half": half}
    for name, host in hosts.items():
        crawl.write_site(name, site(name))
        crawl.offer([f"{host.url}/{number}" for number in range(6)], site=name)
    crawl.finish()
    items = crawl.items()
    assert Counter(item["resource"] for item in items) == dict.fromkeys(hosts, 6)
    assert {item["content"] for item in items} == {"data"}
    assert {item["author"] for item in items if item["resource"] != "half"} == {"Ann"}
    rendered = Counter(item["resource"] for item in items if item["rendered"])
    assert rendered["scripted"] == 6
    assert "whole" not in rendered
    assert "half" not in rendered  # what came is delivered where rendering brings nothing
    assert verdicts(crawl) == {
        ("scripted", "content"): (True, ["no-content"], ["no-content"]),
        ("whole", "content"): (False, [], []),
        ("half", "content"): (False, ["author"], []),
    }


def test_results_that_scripts_write_are_found(crawl, serve):
    script = (
        "document.body.innerHTML = '<a class=r href=/1>1</a><a class=r href=/2>2</a>'; document.body.className = 'done'"
    )

    def page(path):
        return document("Ann", "data") if path in ("/1", "/2") else document("", "", script)

    host = host_of(serve, page)
    definition = {
        "search": {"url": f"{host.url}/search?q={{query}}"},
        "results": {"links": "css:a.r"},
        "render": {"results": RENDER},
    }
    crawl.write_site("s", site("s", **definition))
    plan = {"name": "plan", "sites": ["s"], "keywords": {"word": {"required": ["flood"]}}}
    (crawl.folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    crawl.scrapy("plan", "submit", crawl.folder / "plan.yaml")
    crawl.finish(producers=1)
    assert {item["url"].rpartition("/")[2] for item in crawl.items()} == {"1", "2"}
    assert verdicts(crawl) == {("s", "results"): (True, ["results"], ["results"])}


def test_without_a_browser_pages_wait_that_may_need_one_and_others_are_read(crawl, serve):
    whole = host_of(serve, lambda _path: document("Ann", "data"))
    scripted = host_of(serve, lambda _path: document("", "", SCRIPT))
    crawl.write_site("whole", site("whole"))
    crawl.write_site("scripted", site("scripted"))
    crawl.offer([f"{whole.url}/{number}" for number in range(3)], site="whole")
    crawl.offer([f"{scripted.url}/{number}" for number in range(3)], site="scripted")
    blind = crawl.worker(BROWSER_PATH="/nowhere/chromium", SESSION_SECONDS=2)
    until(lambda: crawl.counts()["finished"] == 3, "pages that need no browser")
    assert blind.stop() == 0
    assert {item["resource"] for item in crawl.items()} == {"whole"}
    assert crawl.counts()["failed"] == 0
    assert crawl.counts()["ready"] == 3
    assert len([one for one in scripted.asked if one.path != "/robots.txt"]) <= 2

"""Sites that leave it to the crawl whether a browser renders their pages: what lacks something is rendered."""

from __future__ import annotations

from collections import Counter

import pytest
from hostile.hostile_wire_bodies import answer
from waiting import until

pytestmark = [
    pytest.mark.faults,  # crawls with a browser, one after the other
    pytest.mark.usefixtures("chromium_path"),
]

AUTO = {"when": "auto", "settle": {"selector": "css:body.done"}}
SITE = {
    "content": {"title": "css:h1", "author": "css:.by", "content": {"select": "css:.posts", "required": True}},
    "render": {"content": AUTO},
    "politeness": {"delay": 0, "concurrency": 2},
}
SCRIPT = """
fetch('/data').then((answer) => answer.json()).then((data) => {
  document.querySelector('.posts').textContent = data.text;
  document.querySelector('.by').textContent = data.by;
}).finally(() => { document.body.className = 'done'; });
"""


def document(by, text, script="document.body.className = 'done'"):
    body = f"<h1>page</h1><p class=by>{by}</p><div class=posts>{text}</div><script>{script}</script>"
    return answer(f"<!DOCTYPE html><body>{body}")


SCRIPTED, WHOLE, HALF = document("", "", SCRIPT), document("Ann", "data"), document("", "data")


def showing(page):
    """Returns the script of a host of such pages, with the data that some of them load."""
    data = answer('{"text": "data", "by": "Ann"}', kind=b"application/json")
    return lambda path: [data if path == "/data" else page]


def verdicts(crawl):
    """Returns of each site and kind of pages if they need a browser, what they lacked, and what it brought."""
    rows = crawl.json("site", "verdicts")["verdicts"]
    return {(row["site"], row["pages"]): (row["needs_browser"], row["lacked"], row["brought"]) for row in rows}


def test_pages_are_rendered_where_that_brings_what_they_lack(crawl, serve):
    """One site's pages are empty before their script has run, one's have all, one's lack what nothing brings."""
    for name, page in {"scripted": SCRIPTED, "whole": WHOLE, "half": HALF}.items():
        crawl.write_site(name, SITE)
        host = serve(showing(page))
        crawl.offer([f"{host.url}/{number}" for number in range(6)], site=name)
    crawl.finish()
    items = crawl.items()
    assert Counter(item["resource"] for item in items) == {"scripted": 6, "whole": 6, "half": 6}
    assert {item["content"] for item in items} == {"data"}
    assert {item["author"] for item in items if item["resource"] != "half"} == {"Ann"}
    # What came is delivered where rendering brings nothing.
    assert Counter(item["resource"] for item in items if item["rendered"]) == {"scripted": 6}
    assert verdicts(crawl) == {
        ("scripted", "content"): (True, ["no-content"], ["no-content"]),
        ("whole", "content"): (False, [], []),
        ("half", "content"): (False, ["author"], []),
    }


def test_results_that_scripts_write_are_found(crawl, serve):
    links = "<a class=r href=/1>1</a><a class=r href=/2>2</a>"
    results = document("", "", f"document.body.innerHTML = '{links}'; document.body.className = 'done'")
    host = serve(lambda path: [WHOLE if path in ("/1", "/2") else results])
    search = {"search": {"url": f"{host.url}/search?q={{query}}"}, "results": {"links": "css:a.r"}}
    crawl.write_site("s", SITE | search | {"render": {"results": AUTO}})
    crawl.submit(["s"], ["flood"])
    crawl.finish(producers=1)
    assert {item["url"].rpartition("/")[2] for item in crawl.items()} == {"1", "2"}
    assert verdicts(crawl) == {("s", "results"): (True, ["results"], ["results"])}


def test_without_a_browser_pages_wait_that_may_need_one_and_others_are_read(crawl, serve):
    hosts = {"whole": serve(showing(WHOLE)), "scripted": serve(showing(SCRIPTED))}
    for name, host in hosts.items():
        crawl.write_site(name, SITE)
        crawl.offer([f"{host.url}/{number}" for number in range(3)], site=name)
    blind = crawl.worker(BROWSER_PATH="/nowhere/chromium", SESSION_SECONDS=2)
    until(lambda: crawl.counts()["finished"] == 3, "pages that need no browser")
    assert blind.stop() == 0
    assert {item["resource"] for item in crawl.items()} == {"whole"}
    assert (crawl.counts()["failed"], crawl.counts()["ready"]) == (0, 3)
    assert len(hosts["scripted"].pages()) <= 2

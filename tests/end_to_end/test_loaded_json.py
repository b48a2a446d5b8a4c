"""Sites whose results and items are read from the JSON that their pages load, by a real crawl."""

from __future__ import annotations

import json

import pytest
from end_to_end.test_auto_rendering import verdicts
from hostile.hostile_wire_bodies import answer

pytestmark = [
    pytest.mark.faults,  # several seconds of a browser
    pytest.mark.usefixtures("chromium_path"),
]

# Shows one row at a time: what has gone by stands in what was loaded alone.
LIST = """<!DOCTYPE html><p></p><button onclick="more()">more</button><script>
let page = 0;
async function more() {
  const found = await (await fetch('/api/search?page=' + ++page)).json();
  document.querySelector('p').textContent = found.items.map((one) => one.title).join();
  if (page === 3) document.querySelector('button').remove();
}
more();
</script>"""
THREAD = """<!DOCTYPE html><h1></h1><script>
(async () => {
  const at = '/api' + location.pathname;
  for (const part of [1, 2]) {
    const thread = await (await fetch(at + '?part=' + part)).json();
    document.querySelector('h1').textContent = thread.title + ' ' + Math.random();
  }
})();
</script>"""


def site(path):
    name, _, query = path.partition("?")
    if not path.startswith("/api/"):
        return [answer(LIST if path.startswith("/search") else THREAD)]
    first = int(query.rpartition("=")[2])
    if name == "/api/search":
        loaded = {"items": [{"id": number, "title": f"thread {number}"} for number in (first, first + 1)]}
    else:
        thread = name.rpartition("/")[2]
        posts = [{"text": f"post {number} of {thread}"} for number in (first, first + 1)]
        loaded = {"title": f"thread {thread}", "posts": posts}
    return [answer(json.dumps(loaded), kind=b"application/json")]


def test_items_and_results_are_read_from_what_pages_load(crawl, serve):
    host = serve(site)
    steps = [{"repeat": {"steps": [{"click": "button"}]}}]
    polite = {"base": host.url, "politeness": {"delay": 0, "concurrency": 2}}
    searched = {
        "search": {"url": "{base}/search?q={query}"},
        "results": {"from": {"xhr": "/api/search"}, "links": "json:items[].id", "link": "{base}/thread/{value}"},
        "content": {
            "from": {"xhr": "/api/thread/"},
            "title": {"select": "css:h1", "pattern": r"thread \d+"},
            "content": {"select": "json:posts[].text", "all": True},
            "comments": {"each": "json:posts", "text": "json:text"},
        },
        "render": {"content": "auto", "results": {"when": "always", "steps": steps}},
    }
    crawl.write_site("s", polite | searched)
    crawl.submit(["s"], ["flood"])
    never = {"from": {"xhr": "/api/nothing"}, "content": "json:posts[].text"}
    crawl.write_site("never", polite | {"content": never, "render": {"content": "always"}})
    crawl.offer([f"{host.url}/thread/9"], site="never")
    crawl.finish(producers=1)
    items = {item["url"].rpartition("/")[2]: item for item in crawl.items()}
    assert sorted(items) == ["1", "2", "3", "4"]
    for number, item in items.items():
        assert item["title"] == f"thread {number}"
        assert item["content"].splitlines() == [f"post {post} of {number}" for post in (1, 2, 2, 3)]
        assert [one["text"] for one in item["comments"]] == [f"post {post} of {number}" for post in (1, 2, 3)]
        assert item["rendered"] == "quiet"
    assert verdicts(crawl) == {("s", "content"): (True, ["no-xhr"], ["no-xhr"])}
    assert [reason for _state, reason in crawl.unfinished().values()] == ["no-xhr"]

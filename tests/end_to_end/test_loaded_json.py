"""Sites whose results and items are read from the JSON that their pages load, by a real crawl."""

from __future__ import annotations

import json

import pytest
import yaml
from end_to_end.test_auto_rendering import answered, verdicts

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


def api(path):
    name, _, query = path.partition("?")
    number = query.rpartition("=")[2]
    if name == "/api/search":
        items = [{"id": one, "title": f"thread {one}"} for one in (int(number), int(number) + 1)]
        return answered(json.dumps({"items": items}), "application/json")
    thread = name.rpartition("/")[2]
    posts = [{"text": f"post {part} of {thread}"} for part in (int(number), int(number) + 1)]
    return answered(json.dumps({"title": f"thread {thread}", "posts": posts}), "application/json")


def page(path):
    if path.startswith("/api/"):
        return api(path)
    return answered(LIST if path.startswith("/search") else THREAD)


@pytest.fixture
def host(serve):
    return serve(page, robots=lambda _path: answered("User-agent: *\n", "text/plain"))


def site(name, host, **keys):
    definition = {
        "name": name,
        "base": host.url,
        "content": {
            "from": {"xhr": "/api/thread/"},
            "title": {"select": "css:h1", "pattern": r"thread \d+"},
            "content": {"select": "json:posts[].text", "all": True},
            "comments": {"each": "json:posts", "text": "json:text"},
        },
        "render": {"content": "auto"},
        "politeness": {"delay": 0, "concurrency": 2},
    }
    return yaml.safe_dump(definition | keys)


def test_items_and_results_are_read_from_what_pages_load(crawl, host):
    steps = [{"repeat": {"steps": [{"click": "button"}]}}]
    searched = {
        "search": {"url": "{base}/search?q={query}"},
        "results": {"from": {"xhr": "/api/search"}, "links": "json:items[].id", "link": "{base}/thread/{value}"},
        "render": {"content": "auto", "results": {"when": "always", "steps": steps}},
    }
    crawl.write_site("s", site("s", host, **searched))
    plan = {"name": "plan", "sites": ["s"], "keywords": {"word": {"required": ["flood"]}}}
    (crawl.folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    crawl.scrapy("plan", "submit", crawl.folder / "plan.yaml")
    never = site("never", host, content={"from": {"xhr": "/api/nothing"}, "content": "json:posts[].text"})
    crawl.write_site("never", never.replace("auto", "always"))
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

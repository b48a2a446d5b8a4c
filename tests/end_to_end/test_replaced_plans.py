"""A cancelled plan that comes back gets what another plan has had meanwhile, though what led there is finished."""

from __future__ import annotations

from hostile.hostile_wire_bodies import answer
from waiting import until

PAGES = {
    "/thread/1": '<title>One</title><article>flood here</article><a class="more" href="/thread/2">more</a>',
    "/thread/2": "<title>Two</title><article>flood there</article>",
}


def test_a_cancelled_plan_s_followed_page_comes_back_from_the_plan_that_has_had_it(serve, crawl):
    results = '<a class="result" href="/thread/1">first</a>'
    host = serve(lambda path: [answer(PAGES.get(path, results))])
    crawl.write_site(
        "board",
        {
            "base": host.url,
            "search": {"url": "{base}/search?q={query}"},
            "results": {"links": "css:a.result"},
            "content": {"title": "css:title", "content": "css:article"},
            "follow": {"items": [r"/thread/\d+$"]},
            "politeness": {"delay": 3},
        },
    )
    crawl.submit(["board"], ["flood"])
    workers = [crawl.worker(spider) for spider in ("producer", "consumer")]
    until(lambda: crawl.counts()["finished"] == 1, "the first page")
    assert [worker.stop() for worker in workers] == [0, 0]
    assert crawl.counts()["ready"] == 1
    crawl.scrapy("seeds", "offer", "--plan", "other", "--site", "board", f"{host.url}/thread/2")
    crawl.scrapy("plan", "cancel", "plan")
    crawl.finish()
    crawl.submit(["board"], ["flood"], "--replace")
    crawl.finish(producers=1)
    rows = {row["plan"]: row["content"] for row in crawl.json("ledger", "--verify")["rows"]}
    assert (rows["plan"]["finished"], rows["plan"]["failures"]) == (2, {"cancelled": 1})
    assert rows["other"]["finished"] == 1
    assert [asked.path for asked in host.pages() if asked.path in PAGES] == ["/thread/1", "/thread/2"]
    assert sorted((item["title"], item["plan"]) for item in crawl.items() if "title" in item) == [
        ("One", "plan"),
        ("Two", "other"),
    ]

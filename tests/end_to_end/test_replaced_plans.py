"""A plan that comes back gets what it hasn't had yet, though what led there is finished."""

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


def test_a_deleted_plan_that_comes_back_gets_what_finished_pages_led_to(serve, crawl):
    """By a redirect to another host, for good, and by links; what was delivered and led nowhere isn't fetched again."""
    gone = {"/thread/2", "/target", "/new"}
    results = "".join(
        f'<a class="result" href="{path}">result</a>' for path in ("/list", "/moved", "/old", "/thread/3")
    )
    ways = {
        "/moved": lambda: answer(b"", b"Location: " + f"{other.url}/target".encode(), status=b"302 Found"),
        "/old": lambda: answer(b"", b"Location: /new", status=b"301 Moved Permanently"),
        "/list": lambda: answer('<a href="/thread/2">two</a>'),
    }

    def pages(path):
        if path in gone:
            return [answer("gone", status=b"404 Not Found")]
        if path in ways:
            return [ways[path]()]
        return [answer(results if path.startswith("/search") else f"<title>{path}</title><article>flood</article>")]

    host, other = serve(pages), serve(pages)
    crawl.write_site(
        "board",
        {
            "search": {"url": f"{host.url}/search?q={{query}}"},
            "results": {"links": "css:a.result"},
            "content": {"title": "css:title", "content": "css:article"},
            "follow": {"items": ["/thread/", "/moved", "/old", "/target", "/new"]},
            "politeness": {"delay": 0},
        },
    )
    crawl.submit(["board"], ["flood"])
    crawl.finish(producers=1)
    assert crawl.total()["failures"] == {"http-404": 3}
    crawl.scrapy("plan", "delete", "plan")
    gone.clear()
    crawl.submit(["board"], ["flood"])
    crawl.finish(producers=1)
    assert sorted(item["title"] for item in crawl.items()) == ["/new", "/target", "/thread/2", "/thread/3"]
    assert crawl.total()["failures"] == {}
    assert [asked.path for asked in host.pages()].count("/thread/3") == 1

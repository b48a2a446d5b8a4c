"""A plan that begins with addresses: its links are followed breadth-first, as the plan says, and each page once."""

from __future__ import annotations

import gzip
import json
import os
import signal
from collections import Counter

import pytest
import yaml
from hostile.hostile_wire_bodies import answer
from waiting import PATIENCE_SECONDS, until

TEXT = "Some words of a page, one after the other, so that it has a text. " * 5


def page(path, *links, text=TEXT):
    anchors = "".join(f"<a href='{link}'>{link}</a> " for link in links)
    body = (
        f"<html><head><title>{path}</title></head><body><article><p>{text}{path}</p></article>{anchors}</body></html>"
    )
    return [answer(body.encode())]


def redirect(to):
    return [f"HTTP/1.1 301 M\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()]


def moved(to, status=302, *headers):
    return [answer(b"", b"Location: " + to.encode(), *headers, status=b"%d M" % status)]


def submit(crawl, *options, folder=None, **keys):
    """Submits a plan; returns what the command answers."""
    file = (folder or crawl.folder) / "city.yaml"
    file.write_text(yaml.safe_dump({"name": "city"} | keys), encoding="utf-8")
    return crawl.json("plan", "submit", file, *options)


@pytest.fixture
def crawl(crawl):
    """That of all tests, whose pages without selectors are asked for at once."""
    crawl.write_site("web", {"politeness": {"delay": 0}})
    return crawl


def paths(host, crawl):
    return Counter(item["url"].removeprefix(host.url) for item in crawl.items())


class Tree:
    """A site whose pages each lead to two further ones, to the first page and to a print version."""

    def __call__(self, path):
        number = int(path.strip("/") or 1)
        return page(path, f"/{2 * number}", f"/{2 * number + 1}", "/", f"/{number}/print")


def test_links_are_followed_as_far_as_the_plan_says_each_page_once(serve, crawl):
    host, other = serve(Tree()), serve(Tree())
    keys = {"start": [f"{host.url}/"], "follow": {"depth": 3, "deny": ["/print$"]}, "sites": "any"}
    answered = submit(crawl, **keys)
    assert (answered["offered"], answered["new"], answered["nav_seeds"]) == (1, 1, 0)
    assert crawl.json("plan", "show", "city")["done"] is False
    crawl.finish()
    expected = {"/": 1} | {f"/{number}": 1 for number in range(2, 16)}
    assert paths(host, crawl) == expected
    asked = [one.path for one in host.pages()]
    assert sorted(asked) == sorted(expected)
    assert [len(path) for path in asked[:3]] == [1, 2, 2]  # the start page, then those one link away
    assert not other.pages()
    total = crawl.total()
    assert total["finished"] == len(expected)
    assert total["failed"] == total["ready"] == total["executing"] == 0
    shown = crawl.json("plan", "show", "city")
    assert (shown["done"], shown["percent_done"], shown["seconds_left"]) == (True, 100.0, 0.0)
    assert {item["resource"] for item in crawl.items()} == {"web"}
    again = submit(crawl, **keys)
    assert (again["known"], again["resumed"]) == (1, True)


def test_start_files_are_read_line_by_line_and_junk_is_named(serve, crawl):
    host = serve(page)
    long = "http://x.test/" + "y" * 1_000_000
    lines = [
        "\ufeff" + f"{host.url}/a",
        "",
        "# hosts",
        f"  {host.url}/b\r",
        "ftp://x.test/",
        "junk",
        long,
        f"{host.url}/c",
    ]
    (crawl.folder / "hosts.txt").write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\xfd\n" + f"{host.url}/a".encode())
    answered = submit(crawl, start_file=["hosts.txt"])
    assert (answered["offered"], answered["new"]) == (4, 3)
    summary, *named = answered["skipped"]
    assert summary == (
        "4 lines of start files are left out: 2 no http(s) address, 1 more than 32,768 bytes, 1 no UTF-8; the first:"
    )
    assert [line.split(": ")[0].strip() for line in named] == [f"hosts.txt:{number}" for number in (5, 6, 7, 9)]
    assert named[:2] == [
        "  hosts.txt:5: no http(s) address: 'ftp://x.test/'",
        "  hosts.txt:6: no http(s) address: 'junk'",
    ]
    record = json.loads(crawl.redis.hget(crawl.keys.plans, "city"))
    assert host.url not in json.dumps(record)
    crawl.finish()
    assert paths(host, crawl) == {"/a": 1, "/b": 1, "/c": 1}
    assert crawl.json("plan", "check", crawl.folder / "city.yaml")["start_pages"] == 4


def test_hosts_have_sites_of_their_own_and_redirects_are_held_to_the_plan(serve, crawl):
    other = serve(page)

    def pages(path):
        elsewhere = {"/moved": "/there", "/away": f"{other.url}/x", "/": ""}
        if path == "/":
            return page(path, "/a", "/moved", "/away", f"{other.url}/linked")
        return redirect(elsewhere[path]) if path in elsewhere else page(path, "/deeper")

    host = serve(pages)
    crawl.write_site("board", {"content": {"title": "css:title", "content": "css:article p"}})
    sites = [{"use": "board", "hosts": ["127.0.0.1"]}]
    answered = submit(crawl, start=[f"{host.url}/"], sites=sites, follow={"depth": 1})
    assert answered["sites"] == [{"site": "board", "version": 1, "base": ""}]
    crawl.finish()
    assert paths(host, crawl) == {"/": 1, "/a": 1, "/there": 1}
    assert {item["resource"] for item in crawl.items()} == {"board"}
    assert crawl.unfinished() == {f"{host.url}/away": ("failed", "out-of-scope")}
    assert not other.pages()
    crawl.total()


def test_a_page_of_two_plans_leads_each_as_far_as_it_says(serve, crawl):
    host = serve(Tree())
    for name, depth in (("near", 1), ("far", 2)):
        submit(crawl, name=name, start=[f"{host.url}/"], follow={"depth": depth, "deny": ["print"]})
    crawl.finish()
    accounts = crawl.json("ledger", "far")["total"], crawl.json("ledger", "near")["total"]
    assert [account["finished"] for account in accounts] == [7, 3]
    assert len(host.pages()) == 7
    crawl.total()


def test_searches_and_start_pages_of_one_plan_both_lead_on(serve, crawl):
    def pages(path):
        if path.startswith("/search"):
            return page(path, "/result-1", "/result-2")
        return page(path, f"{path.rstrip('/')}/next" if path.count("/next") < 2 else "/")

    host = serve(pages)
    crawl.write_site(
        "board",
        {
            "search": {"url": f"{host.url}/search?q={{query}}"},
            "results": {"links": "css:a"},
            "content": {"title": "css:title", "content": "css:article"},
        },
    )
    keywords = {"word": {"required": ["Some"]}}
    submit(crawl, start=[f"{host.url}/start"], sites=["board"], keywords=keywords, follow={"depth": 1}, match_text=True)
    crawl.finish(producers=1)
    assert paths(host, crawl) == dict.fromkeys(
        ["/start", "/start/next", "/result-1", "/result-1/next", "/result-2", "/result-2/next"], 1
    )
    assert all(item["keywords"] == ["Some"] for item in crawl.items())
    crawl.total()


def test_a_plan_is_edited_from_keywords_to_start_paused_and_cancelled(serve, crawl):
    host = serve(Tree())
    crawl.write_site("board", {"search": {"url": f"{host.url}/search?q={{query}}"}, "results": {"links": "css:a"}})
    submit(crawl, sites=["board"], keywords={"word": {"required": ["flood"]}})
    start = {"start": [f"{host.url}/"], "follow": {"depth": 2, "deny": ["print"]}}
    submit(crawl, "--replace", **start)
    crawl.scrapy("plan", "pause", "city")
    crawl.finish()  # nothing may be claimed
    assert not host.pages()
    crawl.scrapy("plan", "resume", "city")
    crawl.finish()
    assert len(paths(host, crawl)) == 7
    submit(crawl, "--replace", **(start | {"start": [f"{host.url}/100"]}))
    crawl.scrapy("plan", "cancel", "city")
    crawl.scrapy("plan", "delete", "city")
    assert crawl.json("plan", "list")["plans"] == []
    crawl.total()


def test_pages_say_what_is_not_indexed_and_not_followed(serve, crawl):
    def pages(path):
        if path == "/":
            links = "".join(f"<a href='/{name}'>x</a>" for name in ("noindex", "nofollow", "header", "copy", "a", "b"))
            return [answer(f"<title>t</title><p>{TEXT}</p>{links}<a rel='nofollow' href='/never'>n</a>".encode())]
        head = {
            "/noindex": "<meta name='robots' content='noindex'>",
            "/nofollow": "<meta name='robots' content='nofollow'>",
            "/copy": "<link rel='canonical' href='/whole'>",
            "/a": "<link rel='canonical' href='/a?utm_source=x'>",
            "/b": "<link rel='canonical' href='http://elsewhere.test/b'>",
        }.get(path, "")
        body = f"<html><head><title>t</title>{head}</head><body><p>{TEXT}</p><a href='{path}-next'>x</a></body></html>"
        return [answer(body.encode(), *([b"X-Robots-Tag: none"] if path == "/header" else []))]

    host = serve(pages)
    submit(crawl, start=[f"{host.url}/"], follow={"depth": 2})
    crawl.finish()
    asked = {one.path for one in host.pages()}
    assert asked == {
        *("/", "/noindex", "/noindex-next", "/nofollow", "/header", "/copy", "/copy-next", "/whole", "/whole-next"),
        *("/a", "/a-next", "/b", "/b-next"),
    }
    no_item = {"/noindex", "/header", "/copy"}
    assert paths(host, crawl) == dict.fromkeys(asked - no_item, 1)
    assert {url.removeprefix(host.url): reason for url, (_, reason) in crawl.unfinished().items()} == {
        "/noindex": "noindex",
        "/header": "noindex",
    }
    notes = crawl.total()["notes"]
    assert (notes["canonical"], notes["nofollow"]) == (1, 3)


def test_list_pages_make_no_item_and_are_asked_again_by_schedule(serve, crawl):
    def pages(path):
        return page(path, "/page/2", "/article/1", "/about", "/logout")

    host = serve(pages)
    follow = {"depth": 2, "list": ["/page/"], "detail": ["/article/"], "never": ["/logout"]}
    submit(crawl, start=[f"{host.url}/", f"{host.url}/article/7"], follow=follow, schedule="every 1m")
    worker = crawl.worker(IDLE_WAIT_SECONDS=0.2)

    def only_waits():
        total = crawl.json("ledger")["total"]
        return total["notes"].get("waiting") == total["ready"] == 2 and not total["executing"]

    until(only_waits, "two lists that wait, and nothing else")
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(PATIENCE_SECONDS) == 0
    assert paths(host, crawl) == {"/article/1": 1, "/article/7": 1}
    total = crawl.total()
    assert (total["ready"], total["finished"]) == (2, 3)
    assert total["notes"] == {"visits": 2, "waiting": 2, "list-page": 3}
    left = {seed["url"].removeprefix(host.url): seed["state"] for seed in crawl.json("seeds", "list")["seeds"]}
    assert left == {"/": "ready", "/page/2": "ready"}
    assert crawl.json("seeds", "show", f"{host.url}/page/2")["seeds"][0]["state"] == "ready"
    assert crawl.json("plan", "show", "city")["slowest_site"] == ""
    submit(crawl, "--replace", start=[f"{host.url}/article/8"], follow=follow)
    crawl.finish()
    assert crawl.total()["ready"] == 0


def test_sitemaps_and_feeds_name_pages_to_begin_with(serve, crawl):
    def pages(path):
        if path == "/sitemap.xml":
            return [answer(b"<sitemapindex><sitemap><loc>/one.xml.gz</loc></sitemap></sitemapindex>")]
        if path == "/one.xml.gz":
            entries = ("/listed", "/print", "http://elsewhere.test/x")
            urls = "".join(f"<url><loc>{entry}</loc></url>" for entry in entries)
            return [answer(gzip.compress(f"<urlset>{urls}</urlset>".encode()))]
        if path == "/feed.xml":
            entry = "<item><title>News of today</title><link>/news</link><author>Ann</author></item>"
            return [answer(f"<rss version='2.0'><channel>{entry}</channel></rss>".encode())]
        return page(path, f"{path}/deeper")

    host = serve(pages)
    lists = {"sitemaps": [f"{host.url}/sitemap.xml"], "feeds": [f"{host.url}/feed.xml"]}
    answered = submit(crawl, **lists, follow={"depth": 1, "deny": ["/print"]})
    assert (answered["nav_seeds"], answered["new"]) == (2, 2)
    crawl.finish(producers=1)
    assert paths(host, crawl) == dict.fromkeys(("/listed", "/listed/deeper", "/news", "/news/deeper"), 1)
    assert {item["resource"] for item in crawl.items()} == {"web"}
    assert crawl.unfinished() == {}
    assert "past-the-end" not in crawl.total()["notes"]  # nobody knows how many sitemaps there might have been
    said = crawl.scrapy("plan", "submit", crawl.folder / "city.yaml")
    assert said.startswith("plan city goes on: 2 sitemaps or feeds offered: 0 new, 2 known")


def test_lists_that_reading_tells_make_no_item_and_are_asked_again_by_schedule(serve, crawl):
    story = "".join(
        f"<p>The flood took bridge number {n} and the road behind it, people of the town say.</p>" for n in range(9)
    )
    article = f"<meta property=og:type content=article><title>Flood</title><article><h1>Flood</h1>{story}</article>"
    board = "".join(f"<div><a href='/article/{n}'>Article {n}</a></div>" for n in range(20))

    def pages(path):
        return {"/": page(path, "/board"), "/board": [answer(f"<title>Board</title>{board}".encode())]}.get(
            path, [answer(article.encode())]
        )

    host = serve(pages)
    follow = {"depth": 2, "links": 3, "list_types": ["listing", "collection"]}
    submit(crawl, start=[f"{host.url}/"], follow=follow, schedule="every 1m")
    crawl.finish()  # what waits for its next time keeps no crawl going
    assert paths(host, crawl) == {f"/article/{n}": 1 for n in range(3)}
    assert Counter(one.path for one in host.pages()) == {"/": 1, "/board": 1} | {f"/article/{n}": 1 for n in range(3)}
    total = crawl.total()
    assert (total["ready"], total["finished"]) == (2, 4)
    assert total["notes"] == {"visits": 1, "waiting": 2, "list-page": 2}
    due = crawl.json("seeds", "show", f"{host.url}/board")["seeds"]
    assert {seed["state"] for seed in due} == {"finished", "ready"}

"""One page is one item, whatever leads there; and nothing is lost by what pages say of their addresses."""

from __future__ import annotations

from collections import Counter

from end_to_end.test_start_pages import TEXT, crawl, moved, page, paths, submit
from hostile.hostile_wire_bodies import answer

from crawler.worker.visits.moved_page import MAX_SENT_TO_ONE

__all__ = ["crawl"]  # the fixture


def head(text):
    return [answer(f"<html><head><title>t</title>{text}</head><body><p>{TEXT}</p></body></html>".encode())]


def test_whatever_redirects_to_a_page_is_one_item_with_it(serve, crawl):
    kinds = [f"/{status}" for status in (301, 302, 303, 307, 308)]

    def pages(path):
        if path in kinds:
            return moved("/page", int(path[1:]))
        others = {
            "/": page(path, *kinds, "/refresh", "/cookie", "/chain", "/page"),
            "/refresh": head("<meta http-equiv='refresh' content='0; url=/page'>"),
            "/cookie": moved("/page", 302, b"Set-Cookie: session=1"),
            "/chain": moved("/302"),
        }
        return others.get(path) or page(path)

    host = serve(pages)
    submit(crawl, start=[f"{host.url}/"], follow={"depth": 1})
    crawl.finish()
    assert paths(host, crawl) == {"/": 1, "/page": 1}
    assert [one.path for one in host.pages()].count("/page") == 2  # once behind what had set a cookie
    assert crawl.total()["notes"]["moved"] == 8
    shown = crawl.json("seeds", "show", f"{host.url}/chain")
    assert f"{host.url}/302 is crawled in its place" in str(shown)


def test_a_chain_that_leads_elsewhere_than_before_is_told(serve, crawl):
    targets = {"/old": "/first"}
    host = serve(lambda path: moved(targets[path]) if path in targets else page(path))
    submit(crawl, start=[f"{host.url}/old"])
    crawl.finish()
    targets["/old"] = "/second"
    submit(crawl, name="later", start=[f"{host.url}/old"])
    crawl.finish()
    assert paths(host, crawl) == {"/first": 1, "/second": 1}
    assert crawl.json("ledger", "later")["total"]["notes"]["changed-target"] == 1
    crawl.total()


def test_a_page_behind_a_gate_or_a_round_is_where_it_was(serve, crawl):
    """A round that depends on what was asked before, as browsers go it."""
    asked = []

    def pages(path):
        asked.append(path)
        if path == "/gated":
            return page(path) if asked.count("/gate") else moved("/gate", 302, b"Set-Cookie: pass=1")
        if path == "/gate":
            return moved("/gated")
        if path == "/round":
            return page(path) if asked.count("/again") else moved("/again")
        return moved("/round") if path == "/again" else moved("/loop") if path == "/loop?x=1" else moved("/loop?x=1")

    host = serve(pages)
    submit(crawl, start=[f"{host.url}/gated", f"{host.url}/round", f"{host.url}/loop"])
    crawl.finish()
    assert paths(host, crawl) == {"/gated": 1, "/round": 1}
    assert crawl.unfinished() == {f"{host.url}/loop?x=1": ("failed", "too-many-redirects")}


def test_one_of_two_pages_that_name_each_other_makes_the_item(serve, crawl):
    names = {"/a": "/b", "/b": "/a", "/x": "/y", "/y": "/z", "/z": "/x"}
    host = serve(lambda path: head(f"<link rel='canonical' href='{names[path]}'>"))
    submit(crawl, start=[f"{host.url}{path}" for path in ("/a", "/b", "/x")])
    crawl.finish()
    delivered = paths(host, crawl)
    assert sum(delivered[path] for path in ("/a", "/b")) == 1
    assert sum(delivered[path] for path in ("/x", "/y", "/z")) == 1
    assert not crawl.unfinished()
    assert crawl.total()["notes"]["canonical"] == 2


def test_a_page_makes_the_item_if_the_one_that_it_names_cant_be_had(serve, crawl):
    names = {"/1": "/gone", "/2": "/forbidden", "/3": "/back", "/4": "/moved", "/5": "/never", "/6": "/hidden"}

    def pages(path):
        others = {
            "/gone": [answer(b"", status=b"404 N")],
            "/back": moved("/3"),
            "/moved": moved("/gone-too"),
            "/gone-too": [answer(b"", status=b"404 N")],
            "/hidden": head("<meta name='robots' content='noindex'>"),
        }
        return others.get(path) or head(f"<link rel='canonical' href='{names[path]}'>")

    host = serve(pages, robots=lambda _path: [answer(b"User-agent: *\nDisallow: /forbidden")])
    submit(crawl, start=[f"{host.url}{path}" for path in names], follow={"depth": 0, "never": ["/never"]})
    crawl.finish()
    assert paths(host, crawl) == dict.fromkeys(names, 1)
    account = crawl.total()
    assert account["failures"] == {"http-404": 2, "robots": 1, "noindex": 1}
    assert account["finished"] == 8  # they, and two that have moved


def test_a_page_that_names_what_leads_to_it_makes_the_item(serve, crawl):
    names = {"/dir/": "/dir", "/last": "/first", "/home": ""}
    moves = {"/dir": "/dir/", "/first": "/second", "/second": "/third", "/third": "/last"}

    def pages(path):
        if path in moves:
            return moved(moves[path], 302 if path == "/second" else 301)
        return head(f"<link rel='canonical' href='{names[path] or abroad.url}'>")

    host = serve(pages)
    abroad = serve(lambda path: moved(f"{host.url}/home"), address="127.0.0.2")
    submit(crawl, start=[f"{host.url}/dir", f"{host.url}/first", f"{abroad.url}/"])
    crawl.finish()
    assert paths(host, crawl) == {"/dir/": 1, "/last": 1, "/home": 1}
    assert not crawl.unfinished()


def test_a_page_makes_the_item_if_the_one_that_it_names_only_leads_on(serve, crawl):
    board = "".join(f"<div><a href='/article/{n}'>Article {n}</a></div>" for n in range(20))
    story = "".join(
        f"<p>The flood took bridge {n} and the road behind it, people of the town say.</p>" for n in range(9)
    )
    meta = "<meta property=og:type content=article><link rel='canonical' href='/board'>"
    article = head(f"{meta}</head><article><h1>Flood</h1>{story}</article>")
    host = serve(lambda path: article if path == "/1" else [answer(f"<title>Board</title>{board}".encode())])
    submit(crawl, start=[f"{host.url}/1"], follow={"depth": 0, "list_types": ["listing", "collection"]})
    crawl.finish()
    assert paths(host, crawl) == {"/1": 1}
    assert (crawl.total()["finished"], crawl.total()["notes"]["list-page"]) == (2, 1)


def test_a_page_makes_the_item_if_what_it_names_has_moved_to_one_that_cant_be_had(serve, crawl):
    pages = {
        "/old": moved("/gone"),
        "/gone": [answer(b"", status=b"404 N")],
        "/page": head("<link rel=canonical href=/old>"),
    }
    host = serve(lambda path: pages.get(path) or page(path, "/page"))
    submit(crawl, start=[f"{host.url}/old"])
    crawl.finish()
    submit(crawl, "--replace", start=[f"{host.url}/old", f"{host.url}/page"])
    crawl.finish()
    assert paths(host, crawl) == {"/page": 1}
    assert crawl.total()["failures"] == {"http-404": 1}


def test_a_page_that_plans_refuse_fails_for_each_by_its_own_reason(serve, crawl):
    host = serve(lambda path: head("<meta name='robots' content='noindex'>"))
    scopes = {"by-language": {"scope": {"languages": ["zh"]}}, "by-size": {"scope": {"max_bytes": 10}}, "by-page": {}}
    for name, keys in scopes.items():
        submit(crawl, name=name, start=[f"{host.url}/page"], follow={"depth": 0}, **keys)
    crawl.finish()
    failures = {name: crawl.json("ledger", name)["total"]["failures"] for name in scopes}
    assert failures == {
        "by-language": {"scope-languages": 1},
        "by-size": {"scope-max-bytes": 1},
        "by-page": {"noindex": 1},
    }
    crawl.total()


def test_pages_that_all_redirect_to_one_for_a_while_are_had_later(serve, crawl):
    asked = Counter()

    def pages(path):
        asked[path] += 1
        return page(path) if path == "/mended-soon" or asked[path] > 1 else moved("/mended-soon", 302)

    host = serve(pages)
    starts = [f"/{number}" for number in range(MAX_SENT_TO_ONE + 3)]
    submit(crawl, start=[f"{host.url}{path}" for path in starts])
    crawl.finish()
    delivered = paths(host, crawl)
    assert delivered.pop("/mended-soon") == 1
    assert len(delivered) == 3
    assert crawl.total()["notes"]["moved"] == MAX_SENT_TO_ONE
    assert not crawl.unfinished()

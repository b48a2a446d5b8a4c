"""A plan's scope holds for links, redirects, results, answers, pages and media; what it refuses is counted by name."""

from __future__ import annotations

import time

import pytest
import yaml
from end_to_end.test_start_pages import page, paths, redirect, submit
from scope.mmdb import database
from waiting import until

CHINESE = "这是一篇关于重庆洪水的新闻报道，消防员正在救援被困的居民。" * 4
ENGLISH = "The firefighters are rescuing people who were trapped by the flood in the city. " * 4


def typed(content_type, body=b"<html><title>x</title><article>x</article></html>", *, length=True):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nConnection: close\r\n"
    head += f"Content-Length: {len(body)}\r\n" if length else ""
    return [head.encode() + b"\r\n" + body]


def notes(crawl, plan="city"):
    """Returns what the ledger counts by filters: addresses not offered, and pages that failed."""
    total = crawl.json("ledger", plan)["total"]
    return (
        {name: seeds for name, seeds in total["notes"].items() if name.startswith("scope-")},
        {name: seeds for name, seeds in total["failures"].items() if name.startswith("scope-")},
    )


def test_links_redirects_and_answers_are_held_to_the_scope_and_counted_by_its_filters(serve, crawl):
    other = serve(page)

    def pages(path):
        if path == "/":
            links = ("/a", "/a.zip", "/private/b", "/moved", "/away", "/pdf", "/large", "/long", f"{other.url}/x")
            return page(path, *links, f"{other.url}/y")
        return {
            "/moved": redirect("/private/c"),
            "/away": redirect(f"{other.url}/z"),
            "/pdf": typed("application/pdf"),
            "/large": typed("text/html", b"x" * 50_001),
            "/long": typed("text/html; charset=utf-8", b"x" * 50_001, length=False),
        }.get(path) or page(path)

    host = serve(pages)
    scope = {
        "deny": [f"^{other.url}/", "/private/"],
        "suffixes": ["not .zip"],
        "depth": 1,
        "content_types": ["text/html"],
        "max_bytes": 50_000,
    }
    submit(crawl, start=[f"{host.url}/"], follow={"depth": 3, "hosts": "any"}, scope=scope)
    crawl.finish()
    assert paths(host, crawl) == {"/": 1, "/a": 1}
    assert not other.pages()
    assert not [asked.path for asked in host.pages() if asked.path in ("/a.zip", "/private/b", "/private/c")]
    refused, failed = notes(crawl)
    assert refused == {"scope-deny": 3, "scope-suffixes": 1}
    assert failed == {"scope-deny": 2, "scope-content-types": 1, "scope-max-bytes": 2}
    assert crawl.unfinished()[f"{host.url}/pdf"] == ("failed", "scope-content-types")
    crawl.total()
    shown = crawl.json("seeds", "show", f"{host.url}/a.zip")["seeds"]
    assert shown[0]["why"].endswith("; the scope of plan city refuses it by its filter suffixes")


def test_addresses_are_judged_as_a_host_is_connected_to(serve, crawl):
    host = serve(lambda path: page(path, "/a"))
    named = host.url.replace("127.0.0.1", "localhost")
    submit(crawl, start=[f"{named}/", f"{host.url}/"], scope={"addresses": ["203.0.113.0/24"]})
    crawl.finish()
    assert not host.pages()
    assert notes(crawl) == ({"scope-addresses": 1}, {"scope-addresses": 1})
    assert crawl.unfinished() == {f"{named}/": ("failed", "scope-addresses")}
    crawl.total()


def test_regions_need_a_database_and_pages_wait_for_a_worker_that_has_one(serve, crawl):
    host, file = serve(page), crawl.folder / "regions.mmdb"
    file.write_bytes(database({"127.0.0.0/8": {"country": {"iso_code": "CN"}}}, time.time()))
    scope = {"regions": ["CN"]}
    plan = crawl.folder / "city.yaml"
    plan.write_text(yaml.safe_dump({"name": "city", "start": [f"{host.url}/"], "scope": scope}), encoding="utf-8")
    refused = crawl.run("plan", "check", plan)
    assert refused.returncode == 1
    assert "setting REGION_DB: got '', expected a database of regions" in refused.stderr
    missing = crawl.run("crawl", "consumer", settings={"REGION_DB": file.with_suffix(".none")})
    assert missing.returncode == 1
    assert "expected a file that is there" in missing.stdout + missing.stderr
    crawl.scrapy("plan", "submit", plan, settings={"REGION_DB": file})
    without = crawl.worker()
    until(lambda: "its pages wait for one that can" in without.log.read_text(), "the worker to say what it lacks")
    crawl.finish(REGION_DB=file)
    assert paths(host, crawl) == {"/": 1}
    crawl.total()


def test_a_page_in_a_wrong_language_makes_no_item_and_leads_nowhere(serve, crawl):
    texts = {"/": ENGLISH, "/zh": CHINESE, "/en": ENGLISH, "/zh/next": CHINESE, "/en/next": CHINESE}
    host = serve(lambda path: page(path, "/zh", "/en", f"{path}/next", text=texts.get(path, "?")))
    keys = {"follow": {"depth": 2, "deny": ["next/next"]}}
    submit(crawl, start=[f"{host.url}/zh", f"{host.url}/en"], scope={"languages": ["zh"]}, **keys)
    submit(crawl, name="both", start=[f"{host.url}/zh"], scope={"languages": ["zh", "en"]}, **keys)
    crawl.finish()
    assert paths(host, crawl).keys() == {"/zh", "/zh/next", "/en", "/en/next"}
    assert [crawl.json("ledger", plan)["total"]["finished"] for plan in ("city", "both")] == [2, 4]
    assert "city" not in {item["plan"] for item in crawl.items() if "/en" in item["url"]}
    # Met again after the other plan had it, it is new to this one, and fails once more.
    assert notes(crawl)[1].keys() == {"scope-languages"}
    assert notes(crawl, "both") == ({}, {})
    crawl.total()


def test_a_list_without_a_text_has_the_language_of_its_links(serve, crawl):
    links = {"/zh": "这是一篇关于重庆洪水的新闻报道", "/en": "The firefighters rescue people of the city"}

    def pages(path):
        if path not in links:
            return page(path, text=CHINESE)
        anchors = "".join(f"<div><a href='{path}/{n}'>{links[path]}</a></div>" for n in range(20))
        return typed("text/html; charset=utf-8", f"<title>-</title>{anchors}".encode())

    host = serve(pages)
    start = [f"{host.url}/zh", f"{host.url}/en"]
    submit(crawl, start=start, scope={"languages": ["zh"]}, follow={"depth": 1, "links": 2})
    crawl.finish()
    assert sorted(asked.path for asked in host.pages()) == ["/en", "/zh", "/zh/0", "/zh/1"]
    assert crawl.unfinished()[f"{host.url}/en"] == ("failed", "scope-languages")
    crawl.total()


def test_two_plans_of_one_page_each_follow_it_by_their_own_scope(serve, crawl):
    host = serve(lambda path: page(path, *(("/a/1", "/b/1") if path == "/" else ())))
    for name in ("a", "b"):
        submit(crawl, name=name, start=[f"{host.url}/"], follow={"depth": 1}, scope={"deny": [f"/{name}/"]})
    crawl.finish()
    assert sorted(asked.path for asked in host.pages()) == ["/", "/a/1", "/b/1"]
    assert {plan: notes(crawl, plan)[0] for plan in "ab"} == {"a": {"scope-deny": 1}, "b": {"scope-deny": 1}}
    assert crawl.json("ledger", "a")["total"]["finished"] == crawl.json("ledger", "b")["total"]["finished"] == 2
    crawl.total()


def test_results_of_searches_and_links_of_their_sites_are_in_scope_and_pages_come_back_with_it(serve, crawl):
    def pages(path):
        return page(path, *(("/r/1", "/r/2") if path.startswith("/search") else (f"{path}/x", f"{path}/y")))

    host = serve(pages)
    crawl.write_site(
        "board",
        {
            "search": {"url": f"{host.url}/search?q={{query}}"},
            "results": {"links": "css:a"},
            "follow": {"depth": 1},
            "content": {"title": "css:title", "content": "css:article p"},
        },
    )
    plan = {"name": "city", "sites": ["board"], "pages": 1, "keywords": {"word": {"optional": ["flood"]}}}
    file = crawl.folder / "city.yaml"
    file.write_text(yaml.safe_dump(plan | {"scope": {"deny": ["/r/2", "/y$"]}}), encoding="utf-8")
    crawl.scrapy("plan", "submit", file)
    crawl.finish(producers=1)
    assert paths(host, crawl) == {"/r/1": 1, "/r/1/x": 1}
    assert notes(crawl)[0] == {"scope-deny": 2}
    file.write_text(yaml.safe_dump(plan), encoding="utf-8")
    crawl.scrapy("plan", "submit", "--replace", file)
    crawl.finish(producers=1)
    assert "/r/2" in paths(host, crawl)
    crawl.total()


def test_a_delivered_page_is_told_to_a_plan_whose_scope_knows_it_by_its_address(serve, crawl):
    host = serve(lambda path: page(path, *(("/r/1", "/r/2") if path.startswith("/search") else ())))
    crawl.write_site(
        "board",
        {
            "search": {"url": f"{host.url}/search?q={{query}}"},
            "results": {"links": "css:a"},
            "content": {"title": "css:title", "content": "css:article p"},
        },
    )
    for name, scope in (("plan", None), ("other", {"deny": ["/r/2"]})):
        crawl.submit(["board"], ["flood"], name=name, **({"scope": scope} if scope else {}))
        crawl.finish(producers=1)
    assert sorted(asked.path for asked in host.pages() if "search" not in asked.path) == ["/r/1", "/r/2"]
    assert crawl.json("ledger", "other")["total"]["finished"] == 2  # its search, and the page that it was told of
    crawl.total()


# Of a plan that wants words, the page is judged anew once its text is read.
@pytest.mark.parametrize("words", [{}, {"keywords": {"who": {"required": ["firefighters"]}}, "match_text": True}])
def test_media_have_bounds_of_their_own(serve, crawl, words):
    pictures = serve(lambda path: typed("image/png" if path == "/a.png" else "image/gif", b"png"))
    body = "".join(f"<img src='{pictures.url}/{name}'>" for name in ("a.png", "b.gif", "private/c.png"))
    host = serve(lambda path: page(path, text=f"{ENGLISH}{body}"))
    search = {"search": {"url": f"{host.url}/search?q={{query}}"}, "results": {"links": "css:a"}} if words else {}
    content = {"title": "css:title", "content": "css:article p", "images": "css:img"}
    crawl.write_site("board", {"content": content} | search)
    scope = {"hosts": ["127.0.0.1"], "media": {"deny": ["/private/"], "content_types": ["image/png"]}}
    submit(crawl, start=[f"{host.url}/"], sites=["board"], scope=scope, **words)
    crawl.finish(producers=len(search) // 2)
    (item,) = crawl.items()
    errors = {image["url"].removeprefix(pictures.url): image.get("error") for image in item["images"]}
    assert errors == {"/a.png": None, "/b.gif": "scope-content-types", "/private/c.png": "scope-deny"}
    assert sorted(asked.path for asked in pictures.pages()) == ["/a.png", "/b.gif"]
    crawl.total()

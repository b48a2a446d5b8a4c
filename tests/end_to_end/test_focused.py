"""A focused crawl: pages that look as if they had the plan's words come first, and `scrapy seeds show` says why."""

from __future__ import annotations

import yaml
from hostile.hostile_wire_bodies import answer

TEXT = "Some words of a page, one after the other, so that it has a text. " * 5
FLOOD = "The flood reached the town, and the flood took the bridge with it. " * 5
LEAVES, MISSING = 12, "/b/11"


def page(path):
    """Three lists, of which the second is about the flood, as are its pages, whose links don't say so."""
    if path == MISSING:
        return [b"HTTP/1.1 404 N\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"]
    links = [(f"{path}/{number}", f"Page {number}") for number in range(LEAVES)] if path.count("/") == 1 else []
    if path == "/":
        links = [("/a", "Shops"), ("/b", "The flood of 1998"), ("/c", "Sports")]
    anchors = "".join(f"<p><a href='{link}'>{words}</a></p>" for link, words in links)
    text = FLOOD if path.startswith("/b") else TEXT
    body = f"<html><head><title>{path}</title></head><body><article><p>{text}</p></article>{anchors}</body></html>"
    return [answer(body.encode())]


def plan_file(crawl, host, **keys):
    file = crawl.folder / "flood.yaml"
    plan = {"name": "flood", "start": [f"{host.url}/"], "follow": {"depth": 2}, "sites": "any"}
    words = {"keywords": {"event": {"required": ["flood"]}}}
    plan = {name: value for name, value in (plan | words | keys).items() if value}
    file.write_text(yaml.safe_dump(plan), encoding="utf-8")
    return file


def asked(crawl, host, order, **keys):
    """Crawls by an order; returns the paths that the host was asked for."""
    crawl.json("plan", "submit", plan_file(crawl, host, order=order, **keys))
    crawl.finish()
    total = crawl.total()
    assert (total["finished"], total["failed"]) == (3 + 3 * LEAVES, 1)
    return [request.path for request in host.pages()]


def test_pages_on_topic_come_first_and_none_is_left_out(serve, crawl):
    host = serve(page)
    paths = asked(crawl, host, "focused")
    assert len(set(paths)) == len(paths) == 4 + 3 * LEAVES
    assert sum(path.startswith("/b") for path in paths[: 4 + LEAVES]) >= LEAVES - 1  # one in ten is of another priority
    (status,) = crawl.json("seeds", "show", f"{host.url}{MISSING}")["seeds"]
    assert status["seed"]["priority"] > 5
    assert "the page with the link is on topic" in status["score"]
    assert f"priority {status['seed']['priority']}: its link" in crawl.scrapy("seeds", "show", f"{host.url}{MISSING}")


def test_breadth_first_gives_all_the_same_priority(serve, crawl):
    host = serve(page)
    asked(crawl, host, "breadth-first", keywords={})
    (status,) = crawl.json("seeds", "show", f"{host.url}{MISSING}")["seeds"]
    assert (status["seed"]["priority"], status["score"]) == (5, "")


def test_an_order_that_there_is_not_is_named(serve, crawl):
    host = serve(page)
    refused = crawl.run("plan", "check", plan_file(crawl, host, order="focussed"))
    assert (refused.returncode, refused.stderr) == (1, "error: order: there is no 'focussed'; did you mean focused?\n")
    refused = crawl.run("plan", "submit", plan_file(crawl, host, order="focused", keywords={}))
    assert "order: got 'focused', expected keywords, by which links are judged; or breadth-first" in refused.stderr

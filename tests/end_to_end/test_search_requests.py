"""How many search pages plans ask the demo forum for, and whether they find all that its searches give."""

from __future__ import annotations

from collections import defaultdict
from urllib.parse import parse_qs, urlsplit

import yaml
from crawl import CRAWL_SECONDS
from hostile.hostile_wire_bodies import answer
from waiting import until

from testbed.forum import content
from testbed.forum.content import expected_results
from testbed.forum.routes import Forum, Request

PAGES, PER_PAGE = 5, 20
MAX_PAGES_PER_NEW = 1.2  # search pages for each that held something new to the plan, first pages not counted
WORDS = yaml.safe_load((content.files("testbed.forum") / "words.yaml").read_text("utf-8"))
PLANS = {
    "persons": {"person": {"optional": WORDS["zh"]["persons"]}},
    "regions": {"region": {"optional": WORDS["zh"]["regions"]}},
    "pairs": {"region": {"optional": WORDS["zh"]["regions"][:4]}, "event": {"optional": WORDS["zh"]["events"][:2]}},
}


def test_few_search_pages_hold_nothing_new_and_no_result_is_missed(serve, crawl):
    forum = Forum()

    def page(path):
        parts = urlsplit(path)
        shown = forum.respond(Request(parts.path, parts.query, "http://forum.test"))
        return [answer(shown.body, status=b"200 OK" if shown.status == 200 else b"404 Not Found")]

    host = serve(page)
    for name, keywords in PLANS.items():
        site = {"use": "demo_forum", "name": name, "base": host.url}
        crawl.submit([site], [], name=name, keywords=keywords, pages=PAGES, per_page=PER_PAGE)
    crawl.worker("producer")
    until(lambda: crawl.has_ended("nav"), "the end of all searches", CRAWL_SECONDS)
    asked = sorted(host.asked, key=lambda one: one.begun)
    queries = [parse_qs(urlsplit(one.path).query) for one in asked if one.path.startswith("/search?")]
    seen, wanted = defaultdict(set), defaultdict(set)  # by plan, whose words no other plan has
    further = new = 0
    for query in queries:
        words, page = query["q"][0], int(query["page"][0])
        plan = "pairs" if " " in words else "persons" if words in WORDS["zh"]["persons"] else "regions"
        results = [thread.path for thread in expected_results(words)]
        held = set(results[(page - 1) * PER_PAGE : page * PER_PAGE])
        further += page > 1
        new += page > 1 and bool(held - seen[plan])
        seen[plan] |= held
        wanted[plan] |= set(results[: PAGES * PER_PAGE])
    assert seen == wanted
    print(f"{further} further search pages, of which {new} held something new")
    assert further <= MAX_PAGES_PER_NEW * new

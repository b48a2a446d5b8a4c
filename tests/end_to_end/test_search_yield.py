"""Searches that bring the most come first; those that bring next to nothing aren't asked for, if the plan says so."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hostile.hostile_wire_bodies import answer

PAGES, PER_PAGE = 3, 10
# 100 combinations; the site knows 3 places and 4 events behind these words, and finds the same threads by all of one.
KEYWORDS = {kind: {"optional": [f"{kind}{number}" for number in range(10)]} for kind in ("event", "place")}
COMBINATIONS, TOPICS = 100, 12


def threads(words):
    """Returns the numbers of the threads that a search finds: two or three pages of them."""
    event, place = (int(word[-1]) for word in sorted(words))
    topic = place % 3 * 4 + event % 4
    return range(topic * 100, topic * 100 + 15 + topic)


def asked_of(path):
    """Returns the words that a search is for, and the number of the first result on its page; None: it is no search."""
    query = parse_qs(urlsplit(path).query)
    return (query["q"][0].split(), (int(query["page"][0]) - 1) * PER_PAGE) if query else None


def site(path):
    """Answers searches, and has threads."""
    if (asked := asked_of(path)) is None:
        return [answer("<title>thread</title><article>some words</article>")]
    words, first = asked
    found = threads(words)
    links = "".join(f'<a class="result" href="/t/{n}">thread</a>' for n in found[first : first + PER_PAGE])
    return [answer(links + '<a class="next" href="?">more</a>' * (len(found) > first + PER_PAGE))]


@pytest.fixture
def crawled(serve, crawl):
    """Crawls a plan; returns the threads on each search page, in the order in which they were asked for."""

    def crawled(**searches):
        host = serve(site)
        crawl.write_site(
            "s",
            {
                "search": {"url": f"{host.url}/find?q={{query}}&page={{page}}", "paging": {"kind": "page"}},
                "results": {"links": "css:a.result", "next": "css:a.next"},
                "content": {"title": "css:title", "content": "css:article"},
                "politeness": {"delay": 0, "concurrency": 2},
            },
        )
        crawl.submit(["s"], [], pages=PAGES, per_page=PER_PAGE, keywords=KEYWORDS, searches=searches)
        crawl.finish(producers=1)
        pages = [asked for one in host.asked if (asked := asked_of(one.path))]
        return [set(threads(words)[first : first + PER_PAGE]) for words, first in pages]

    return crawled


def test_the_best_searches_come_first_and_none_is_left_out(crawl, crawled):
    pages = crawled()
    everything = set().union(*pages)
    enough = next(n for n in range(len(pages)) if len(set().union(*pages[:n])) >= 0.95 * len(everything))
    print(f"95 % of the threads by {enough} of {len(pages)} search pages")
    assert enough <= 0.6 * len(pages)
    assert len(pages) > 2 * COMBINATIONS
    assert (crawl.total()["failures"], len(list(crawl.items()))) == ({}, len(everything))
    rows = [row for row in crawl.json("plan", "show", "plan")["searches"] if row["words"]]
    assert (len(rows), sum(row["pages"] for row in rows)) == (COMBINATIONS, len(pages))


def test_what_is_not_worth_a_request_is_named(crawl, crawled):
    pages = crawled(least_new=0.5)
    failed = crawl.json("seeds", "list", "--state", "failed", "--limit", "1000")["seeds"]
    total = crawl.total()
    print(f"{len(pages)} search pages asked for, {len(failed)} not, {total['notes']}")
    assert total["failures"] == {"low-yield": len(failed)}
    rows = [row for row in crawl.json("plan", "show", "plan")["searches"] if row["words"]]
    not_asked = len(failed) + total["notes"]["low-yield-pages"]
    assert sum(row["low_yield"] for row in rows) == not_asked >= 0.4 * (len(pages) + not_asked)
    assert len(list(crawl.items())) >= 0.95 * sum(15 + topic for topic in range(TOPICS))

"""A search is asked for no page behind the one that says that there are no more results."""

from __future__ import annotations

from collections import Counter
from urllib.parse import parse_qs, urlsplit

from hostile.hostile_wire_bodies import answer

from crawler.worker.reports.item_outbox import MAX_TOLD

PAGES = 5
WITH_RESULTS = 2  # pages of each search
WORDS = [f"word{number}" for number in range(12)]
NO_MORE = '<p class="none">no more</p>'


def search(path):
    """Two pages with results; of the search for what is broken, the second can't be had, and the third has some."""
    query = parse_qs(urlsplit(path).query)
    if not query:
        return [answer("<title>page</title>a thread")]
    word, page = query["q"][0], int(query["page"][0])
    if word == "broken" and page == WITH_RESULTS:
        return [answer("", status=b"500 Broken")]
    has_results = page <= WITH_RESULTS + (word == "broken")
    return [answer(f'<a class="result" href="/thread/{word}/{page}">a thread</a>' if has_results else NO_MORE)]


def test_a_search_is_asked_for_one_page_behind_its_results_at_most(serve, crawl):
    host = serve(search)
    site = {
        "search": {"url": f"{host.url}/find?q={{query}}&page={{page}}", "paging": {"kind": "page"}},
        "results": {"links": "css:a.result", "empty": "css:.none"},
        "content": {"title": "css:title", "content": "css:body"},
        "politeness": {"delay": 0},
    }
    crawl.write_site("s", site)
    crawl.submit(["s"], [*WORDS, "broken"], pages=PAGES)
    crawl.finish(producers=2, MAX_ATTEMPTS=2)
    assert MAX_TOLD <= crawl.redis.hlen(crawl.keys.newest_items) <= len(list(crawl.items()))  # for people to look at
    assert crawl.redis.hlen(crawl.keys.failed_answers) == 1
    asked = Counter(
        (query["q"][0], int(query["page"][0])) for one in host.asked if (query := parse_qs(urlsplit(one.path).query))
    )
    print(f"{asked.total()} requests for {len(WORDS) + 1} searches of {PAGES} pages")
    assert asked == Counter(
        {(word, page): 1 for word in WORDS for page in range(1, WITH_RESULTS + 2)}
        | {("broken", 1): 1, ("broken", 2): 2, ("broken", 3): 1, ("broken", 4): 1}
    )
    total = crawl.total()
    threads = (len(WORDS) + 1) * WITH_RESULTS
    assert (total["failures"], total["finished"]) == ({"http-500": 1}, len(asked) - 1 + threads)  # one page failed
    assert total["notes"] == {"past-the-end": 2 * len(WORDS) + 1, "retried": 1}

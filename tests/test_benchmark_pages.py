"""The benchmark's pages, ours and the peers' reading of them, and the check that no page is lost; nothing is timed."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from urllib.parse import urljoin

import pytest
from parsel import Selector

from benchmarks.side_by_side import checks, ours, pages
from benchmarks.side_by_side.peers import fields as peers
from crawler import extract, sites
from crawler.base.errors import HeadroomError
from crawler.base.models import Fetched

BASE = "http://127.0.0.1:8800"
SOME = [*range(18), 19_998, 19_999]


def page(number):
    """Returns a thread's URL, its page in bytes, and what stands on it."""
    thread = pages.thread(number)
    return BASE + pages.path(number), pages.html(thread).encode(), pages.item(thread, BASE)


@pytest.mark.parametrize("number", SOME)
def test_our_site_definition_and_the_peers_read_what_stands_there(number):
    url, body, expected = page(number)
    site = sites.load(ours.SITE, ours.SITES_FOLDER).named(ours.SITE, BASE)
    fetched = Fetched(url, 200, "text/html; charset=utf-8", body)
    fields = asdict(extract.fields(fetched, site))
    fields["images"] = [{"url": url} for url in fields["images"]]
    assert ours.item({"url": url, **fields}) == expected
    assert list(extract.links(fetched, site).urls) == expected["links"]
    assert peers.read(Selector(body=body, encoding="utf-8"), url, partial(urljoin, url)) == expected


def test_pages_are_some_11_kb_and_the_same_each_time():
    sizes = [len(page(number)[1]) for number in SOME]
    assert min(sizes) > 10_500
    assert max(sizes) < 11_500
    assert page(7) == page(7)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (list, None),
        (lambda items: items[1:], "2 items of 2 pages, expected 3"),
        (lambda items: [*items, items[0]], "4 items of 3 pages, expected 3"),
        (lambda items: [*items[1:], {**items[0], "views": "0"}], "views is '0', expected"),
        (lambda items: [*items[1:], {**items[0], "links": items[0]["links"][1:]}], "links is"),
    ],
)
def test_a_lost_page_and_a_wrong_field_are_found(change, complaint):
    items = change([page(number)[2] for number in range(3)])
    if complaint is None:
        checks.check(items, 3, BASE)
        return
    with pytest.raises(HeadroomError, match=complaint):
        checks.check(items, 3, BASE)

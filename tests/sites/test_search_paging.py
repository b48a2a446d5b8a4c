"""Kinds of paging: which pages are known from the start, and how the next one is asked for."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest

from crawler import extract, sites
from crawler.base.errors import InputError
from crawler.base.models import Fetched, Seed


def targets(search, **options):
    text = f"name: board\nbase: http://127.0.0.1:8800\nsearch: {search}\nresults: {{links: css:a, next: css:b}}\n"
    return sites.parse(text, "board.yaml").search_targets(["a"], sort="newest", **options)


@pytest.mark.parametrize(
    ("paging", "placeholder", "expected"),
    [
        ("{kind: page}", "page", [1, 2, 3]),
        ("{kind: page, first: 0}", "page", [0, 1, 2]),
        ("{kind: page, first: 1, step: 10}", "page", [1, 11, 21]),
        ("{kind: offset}", "offset", [0, 20, 40]),
        ("{kind: offset, first: 1}", "offset", [1, 21, 41]),
        ("{kind: offset, step: 15}", "offset", [0, 15, 30]),
    ],
)
def test_each_page_has_the_number_or_offset_that_its_kind_of_paging_counts_to(paging, placeholder, expected):
    search = f'{{url: "{{base}}/?q={{query}}&p={{{placeholder}}}", paging: {paging}}}'
    pages = targets(search, pages=3, per_page=20)
    assert [parse_qs(urlsplit(target.url).query)["p"] for target in pages] == [[str(number)] for number in expected]
    assert [target.page for target in pages] == [1, 2, 3]


def test_a_site_without_paging_has_one_page_and_one_with_cursors_knows_the_first():
    assert len(targets('{url: "{base}/?q={query}"}', pages=9, per_page=20)) == 1
    cursors = '{url: "{base}/?q={query}&c={cursor}", paging: {kind: cursor}}'
    assert [target.url for target in targets(cursors, pages=9, per_page=20)] == ["http://127.0.0.1:8800/?q=a"]


def test_offsets_step_by_what_the_site_really_gives():
    search = '{url: "{base}/?q={query}&n={per_page}&o={offset}", paging: {kind: offset}, max_per_page: 50}'
    pages = targets(search, pages=2, per_page=200)
    assert [urlsplit(target.url).query for target in pages] == ["q=a&n=50&o=0", "q=a&n=50&o=50"]


def test_a_cursor_needs_a_parameter_of_its_own():
    with pytest.raises(InputError, match=r"expected \{cursor\} to be all of one parameter: name=\{cursor\}$"):
        targets('{url: "{base}/?q={query}&c=x{cursor}", paging: {kind: cursor}}', pages=1, per_page=1)


LINKED = sites.parse(
    "name: board\nsearch: {url: 'http://b.test/?q={query}', paging: {kind: link}}\n"
    "results: {links: css:.hit, next: 'css:.next'}\n",
    "board.yaml",
)


def next_page(links, url="http://b.test/?q=a", site=LINKED, **options):
    page = Fetched(url, 200, "text/html", f"<base href=/s/><a class=hit href=/1>1</a>{links}".encode())
    return extract.links(page, site, **options).next


@pytest.mark.parametrize(("paging", "expected"), [("page", "20000001"), ("offset", "400000000")])
def test_any_page_costs_as_much_as_the_first(paging, expected):
    url = f"http://b.test/?q={{query}}&p={{{paging}}}"
    site = sites.Site.from_definition(LINKED.definition() | {"search": {"url": url, "paging": {"kind": paging}}})
    seed = Seed("http://b.test/", "p", "board", "nav", ("a",), page=20_000_000, per_page=20)
    begun_s = time.process_time()
    following = site.next_page(seed)
    one = site.search_target(["a"], page=20_000_001, per_page=20, sort="newest")
    assert time.process_time() - begun_s < 1
    assert (following.url, following.page) == (f"http://b.test/?q=a&p={expected}", 20_000_001)
    assert (one.url, one.page) == (following.url, following.page)


def test_what_leads_on_may_stand_behind_what_leads_nowhere():
    target = next_page("<a class=next>Next</a><a class=next href=' '>Next</a><a class=next href='/s?p=2'>2</a>")
    assert target == sites.SearchTarget("http://b.test/s?p=2", page=2)


def test_pages_may_link_to_the_next_one():
    assert sites.Site.from_definition(LINKED.definition()) == LINKED
    (first,) = LINKED.search_targets(["a"], pages=5, per_page=20, sort="newest")
    assert first.url == "http://b.test/?q=a"
    target = next_page("<a class=next href='more?at=x&amp;b#c'>more</a><a class=next href=/>", number=3)
    assert target == sites.SearchTarget("http://b.test/s/more?at=x&b", page=4)


@pytest.mark.parametrize(
    "link",
    ["", "/?q=a", "//else.test/2", "javascript:x()", f"/{'x' * 3_000}", "#/2", "http://["],
)
def test_a_search_ends_without_a_link_to_another_page_of_its_host(link):
    assert next_page(f"<a class=next href='{link}'>") is None


def test_a_link_to_the_next_page_of_a_form_is_got():
    search = {"url": "http://b.test/", "body": {"q": "{query}"}, "paging": {"kind": "link"}}
    site = sites.Site.from_definition(LINKED.definition() | {"search": search})
    target = next_page("<a class=next href=/?page=2>", url="http://b.test/", site=site, body='{"q":"a"}')
    assert target == sites.SearchTarget("http://b.test/?page=2", "GET", "", 2)


@pytest.mark.parametrize("kind", ["link", "cursor"])
def test_what_names_the_next_page_must_be_selected(kind):
    text = f"name: b\nsearch: {{url: 'http://b.test/?q={{query}}&c={{cursor}}', paging: {{kind: {kind}}}}}\n"
    text = text if kind == "cursor" else text.replace("&c={cursor}", "")
    with pytest.raises(InputError, match=rf"expected results.next beside paging: \{{kind: {kind}\}}"):
        sites.parse(text + "results: {links: css:a}", "b.yaml")


def test_a_link_has_no_placeholder():
    with pytest.raises(InputError, match=r"not \{link\}"):
        sites.parse(
            "name: b\nsearch: {url: 'http://b.test/?q={query}&c={link}', paging: {kind: link}}\n"
            "results: {links: css:a, next: css:b}",
            "b.yaml",
        )

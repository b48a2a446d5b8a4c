"""The links of a page of results, and the request for the next page."""

import pytest
from extract.pages import API, BASE, BOARD, FEED, changed, html, json, reason

from crawler import extract, sites


def test_links_are_canonical_and_each_is_there_once():
    site = changed(BOARD, drop_parameters=["sid"])
    page = html(
        "<p class=r><a href='/t/1?utm_source=x#a'>1</a><a href=' /t/1 '>1</a><a href='../t/2?sid=9&p=1'>2</a>"
        "<a href='javascript:x()'>x</a><a href='mailto:a@b'>x</a><a>x</a><a href='http://[bad'>x</a></p>",
        url=f"{BASE}/s/search?q=1",
    )
    assert extract.links(page, site).urls == (f"{BASE}/t/1", f"{BASE}/t/2?p=1")


def test_no_results_is_told_from_a_page_that_is_no_results_page():
    assert extract.links(html("<p class=none>Nothing</p>"), BOARD) == extract.Links(empty=True)
    assert reason(extract.links, html("<h1>Log in</h1>"), BOARD) == "not-results"
    assert extract.links(json({"items": []}), API) == extract.Links(empty=True)
    assert reason(extract.links, json({"error": "too fast"}), API) == "not-results"


def test_a_page_without_links_is_no_sign_that_there_are_no_more_where_the_site_names_none():
    site = changed(BOARD, results={"links": "css:.r a"})
    assert extract.links(html("<h1>Log in</h1>"), site) == extract.Links(empty=False)


def test_a_page_without_links_to_which_a_search_is_sent_on_is_no_page_of_results():
    site = changed(BOARD, results={"links": "css:.r a"})
    login = html("<h1>Log in</h1>", url=f"{BASE}/login?next=1")
    assert reason(extract.links, login, site, asked=f"{BASE}/search?q=1") == "not-results"
    assert extract.links(login, site, asked=f"{BASE}/login/?next=2") == extract.Links(empty=False)
    found = html("<p class=r><a href='/t/1'>1</a>", url=f"{BASE}/search/77")
    assert extract.links(found, site, asked=f"{BASE}/search").urls == (f"{BASE}/t/1",)
    none = html("<p class=none>Nothing</p>", url=f"{BASE}/search/77")
    assert extract.links(none, BOARD, asked=f"{BASE}/search").empty


@pytest.mark.parametrize(
    ("at", "is_sent_away"), [("search?login=1", True), ("search?p=1&q=other", True), ("search?q=1", False)]
)
def test_a_page_without_links_whose_address_has_lost_the_words_is_no_page_of_results(at, is_sent_away):
    search = {"url": "{base}/search?q={query}&p={page}", "paging": {"kind": "page"}}
    site = changed(BOARD, search=search, results={"links": "css:.r a"})
    login, asked = html("<h1>Log in</h1>", url=f"{BASE}/{at}"), f"{BASE}/search?p=1&q=1"
    if is_sent_away:
        assert reason(extract.links, login, site, asked=asked) == "not-results"
    else:
        assert extract.links(login, site, asked=asked) == extract.Links(empty=False)


def test_a_phrase_may_say_that_there_are_no_results():
    site = changed(BOARD, results={"links": "css:.r a", "empty": "text:No  results"})
    assert extract.links(html("<p>Sorry, <b>No\n results</b> here"), site).empty
    assert extract.links(html("<p>Sorry, <b>No</b>&nbsp;re&shy;sults here"), site).empty
    assert extract.links(html("<div>No<div>results"), site).empty
    assert reason(extract.links, html("<p>Sorry</p>"), site) == "not-results"


@pytest.mark.parametrize(
    "unseen",
    [
        '<script>var t={none:"No results"}</script>',
        "<style>/* No results */</style>",
        "<p hidden>No results",
        "<p style='display: none'>No results",
        "<template>No results</template>",
        "<!-- No results -->",
    ],
)
def test_a_phrase_that_no_reader_sees_says_nothing(unseen):
    site = changed(BOARD, results={"links": "css:.r a", "empty": "text:No results"})
    assert reason(extract.links, html(f"<h1>Log in</h1>{unseen}"), site) == "not-results"


def test_ids_become_links_in_which_nothing_acts_as_markup():
    page = json({"items": [{"id": 5}, {"id": "a/b?c#d"}, {"id": "{base}"}, {"id": None}, {"id": {"x": 1}}, {}]})
    assert extract.links(page, API).urls == (
        "http://x.org/t/5",
        "http://x.org/t/a%2Fb%3Fc%23d",
        "http://x.org/t/%7Bbase%7D",
    )


@pytest.mark.parametrize(
    ("body_type", "body", "expected"),
    [
        ("json", '{"q":"{x}","after":"old"}', '{"q":"{x}","after":"a&b\\"{query}"}'),
        ("form", "q=%7B&after=old", "q=%7B&after=a%26b%22%7Bquery%7D"),
        ("form", "q=%7B", "q=%7B&after=a%26b%22%7Bquery%7D"),
    ],
)
def test_the_next_cursor_replaces_the_one_in_the_body(body_type, body, expected):
    site = sites.parse(
        f"name: feed\nsearch: {{url: 'http://x.org/', body_type: {body_type}, paging: {{kind: cursor}},"
        " body: {q: '{query}', after: '{cursor}'}}\n"
        "results: {type: json, links: json:items, next: json:next}",
        "feed.yaml",
    )
    page = json({"items": ["/1"], "next": 'a&b"{query}'}, url="http://x.org/")
    found = extract.links(page, site, body=body, number=3)
    assert found.next == sites.SearchTarget("http://x.org/", "POST", expected, 4)


@pytest.mark.parametrize("body_type", ["json", "form"])
@pytest.mark.parametrize("body", ["", "q=a", "[1]", "{"])
def test_without_the_body_that_was_sent_there_is_no_next_page(body, body_type):
    site = sites.parse(
        f"name: feed\nsearch: {{url: 'http://x.org/', body_type: {body_type}, paging: {{kind: cursor}},"
        " body: {q: '{query}', after: '{cursor}'}}\n"
        "results: {type: json, links: json:items, next: json:next}",
        "feed.yaml",
    )
    found = extract.links(json({"items": ["/1"], "next": "b"}, url="http://x.org/"), site, body=body)
    assert found.urls == ("http://x.org/1",)
    assert (found.next is None) == (body_type == "json" or not body)


@pytest.mark.parametrize("cursor", [None, "", [], {}, {"a": 1}, "x" * 100_000, False, "same"])
def test_a_search_ends_without_a_new_cursor(cursor):
    page = json({"items": [{"url": "/1"}], "next_cursor": cursor}, url=f"{BASE}/api/feed?q=a&limit=20&cursor=same")
    assert extract.links(page, FEED).next is None


def test_links_that_only_a_script_can_open_are_counted():
    routes = '<a href="#/thread/1">1</a><a href="/app#!2">2</a><a href="#/thread/1">again</a>'
    found = extract.links(html(f"<p class=r>{routes}</p>"), BOARD)
    assert (found.urls, found.routes, found.empty) == ((), 2, False)


def test_they_are_links_where_a_browser_renders_what_they_lead_to():
    site = changed(BOARD, render={"content": "auto"})
    page = html('<p class=r><a href="#/thread/1">1</a><a href="/app#!2">2</a></p>', url="http://a.test/s?q=1")
    found = extract.links(page, site)
    assert (found.urls, found.routes) == (("http://a.test/s?q=1#/thread/1", "http://a.test/app#!2"), 0)

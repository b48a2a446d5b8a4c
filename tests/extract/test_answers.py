"""Pages that are read from the JSON that they loaded in a browser, with their documents beside it."""

from __future__ import annotations

import orjson
import pytest
from extract.pages import BASE, changed, html, reason

from crawler import extract, sites
from crawler.base.errors import ExtractError, InputError
from crawler.base.models import JsonAnswer, LoadedJson

THREADS = """
name: threads
base: http://127.0.0.1:8800
search: {url: "{base}/search?q={query}&after={cursor}", paging: {kind: cursor}}
results:
  from: {xhr: /api/search}
  rows: json:items
  links: json:id
  link: "{base}/thread/{value}"
  fields: {title: json:title}
  next: json:next
  empty: css:.none
content:
  from: {xhr: '/api/thread/\\d+'}
  title: css:h1
  author: json:by
  content: {select: "json:posts[].html", all: true, html: true}
  images: {select: "json:posts[].html", html: true}
  comments: {each: "json:comments", text: json:text}
  next_page: css:a.next
  extra: {views: json:views}
follow: {links: "json:related", depth: 1}
render: {content: always, results: auto}
"""
SITE = sites.parse(THREADS, "threads.yaml")


def answer(path, value, **more):
    body = value if isinstance(value, bytes) else orjson.dumps(value)
    return JsonAnswer(f"{BASE}{path}", body, is_wanted=True, **more)


def page(body, *answers, others=(), **more):
    return html(body, loaded=LoadedJson(answers, tuple(others), **more))


def test_fields_are_read_from_all_answers_in_their_order_and_from_the_document():
    posts = [
        answer("/api/thread/1?page=1", {"by": "Ann", "posts": [{"html": "<p>one<img src=/1.png>"}, {"html": "two"}]}),
        answer("/api/other", {"by": "nobody", "posts": [{"html": "not named"}]}),
        answer("/api/thread/1?page=2", {"by": "Bob", "posts": [{"html": "three"}], "views": 7, "related": "/thread/2"}),
    ]
    shown = page("<html lang=en><base href=/board/><h1>Flood</h1><a class=next href=2>next</a>", *posts)
    read = extract.read(shown, SITE, max_links=10)
    fields = read.fields()
    assert (fields.title, fields.author, fields.extra) == ("Flood", "Ann", {"views": 7})
    assert fields.content == "one\ntwo\nthree"
    assert [str(one) for one in fields.images] == [f"{BASE}/1.png"]
    assert fields.next_page == f"{BASE}/board/2"
    assert read.links.urls == (f"{BASE}/thread/2",)


def test_the_same_row_of_two_answers_is_one_comment():
    rows = [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}, {"id": 3, "text": "b"}]
    comments = [
        answer("/api/thread/1?c=1", {"comments": rows[:2]}),
        answer("/api/thread/1?c=2", {"comments": rows[1:]}),
    ]
    assert [one.text for one in extract.fields(page("<p>", *comments), SITE).comments] == ["a", "b", "b"]
    answers = b'{"text": "a", "to": [' * 200 + b'{"text": "deep"}' + b"]}" * 200
    deep = b'{"posts": [{"html": "one"}], "comments": [%b, %b]}' % (answers, answers)
    assert len(extract.fields(page("<p>", answer("/api/thread/1", deep)), SITE).comments) == 2


def test_results_of_several_answers_are_joined_each_once():
    first = answer("/api/search?o=0", {"items": [{"id": 1, "title": "one"}, {"id": 2, "title": "two"}], "next": "n2"})
    second = answer("/api/search?o=2", {"items": [{"id": 2, "title": "two"}, {"id": 3}]})
    links = extract.links(page("<p>", first, second), SITE)
    assert links.urls == tuple(f"{BASE}/thread/{number}" for number in (1, 2, 3))
    assert orjson.loads(links.rows[f"{BASE}/thread/2"].said) == {"title": "two"}
    assert links.next.url == f"{BASE}/thread/1?after=n2"


def test_no_results_are_told_by_an_empty_list_or_by_the_document():
    assert extract.links(page("<p>", answer("/api/search", {"items": []})), SITE).empty
    assert extract.links(page("<p class=none>", answer("/api/search", {})), SITE).empty
    assert reason(extract.links, page("<p>", answer("/api/search", {})), SITE) == "not-results"


@pytest.mark.parametrize("read", [extract.links, extract.fields])
def test_a_page_that_loads_none_is_told_with_what_it_loaded_instead(read):
    assert reason(read, html("<h1>Flood</h1>"), SITE) == "no-xhr"
    others = [f"{BASE}/api/{number}" for number in range(7)]
    with pytest.raises(
        ExtractError, match=r"that matches .*; the page loaded JSON from .*/api/0, .*/api/4 and 2 more$"
    ):
        read(page("<h1>Flood</h1>", others=others), SITE)
    with pytest.raises(ExtractError, match="the page loaded no JSON at all"):
        read(page("<h1>Flood</h1>"), SITE)
    broken = page("<p>", answer("/api/search", b"{"), answer("/api/thread/1", b"{"))
    with pytest.raises(ExtractError, match=r"not-json: http://127\.0\.0\.1:8800/api/"):
        read(broken, SITE)


def test_a_page_that_only_leads_on_need_not_load_any():
    site = changed(SITE, follow={"links": "css:a", "items": ["/thread/"]})
    listed = html("<a href=/thread/1>1</a><a href=/thread/2>2</a>", url=f"{BASE}/board")
    read = extract.read(listed, site, max_links=10)
    assert (read.fields(), len(read.links.urls)) == (None, 2)
    assert reason(extract.read, listed, changed(SITE, follow={"links": "json:a"}), max_links=10) == "no-xhr"


def test_an_items_hash_is_that_of_what_it_is_read_from():
    loaded = answer("/api/thread/1", {"posts": [{"html": "one"}]})
    hashes = {page(f"<p id={number}>", loaded).sha256 for number in range(3)}
    assert len(hashes) == 1
    assert page("<p>", loaded, answer("/api/thread/1?p=2", {})).sha256 not in hashes
    assert html("<p>").sha256 != html("<b>").sha256


def test_fields_of_which_not_all_answers_could_be_kept_are_named():
    cut = page("<h1>Flood</h1>", answer("/api/thread/1", {"posts": [{"html": "one"}]}), left_out=1)
    assert set(extract.fields(cut, SITE).truncated) == {"author", "content", "images", "extra.views"}


def test_answers_of_a_status_that_says_there_is_none_are_no_answers():
    loaded = LoadedJson.of([answer("/a", {}), answer("/b", {}, status=404), JsonAnswer(f"{BASE}/c", b"{}")], 0)
    assert [one.url for one in loaded.answers] == [f"{BASE}/a"]
    assert loaded.others == (f"{BASE}/b (status 404)", f"{BASE}/c")


@pytest.mark.parametrize(
    ("part", "change", "says"),
    [
        ("render", {}, "render.content: always, or auto, beside content.from"),
        ("content", {"type": "json"}, "html beside `from`"),
        ("content", {"from": {"xhr": "*/api"}}, "no argument for repetition operator"),
        ("content", {"from": None}, "on pages of type html"),
        ("results", {"from": None}, "on pages of type html"),
        ("results", {"links": "css:a"}, "only json:... within `rows`"),
        ("content", {"comments": {"each": "css:li", "text": "json:text"}}, "no json:... within `each`"),
    ],
)
def test_what_cannot_be_read_so_is_told(part, change, says):
    definition = SITE.definition()
    with pytest.raises(InputError) as caught:
        changed(SITE, **{part: definition[part] | change if change else {}})
    assert any(says in str(error) for error in (caught.value, *caught.value.further))


def test_a_definition_keeps_the_key():
    assert sites.Site.from_definition(SITE.definition()) == SITE
    assert SITE.xhr_of("nav").text == "/api/search"

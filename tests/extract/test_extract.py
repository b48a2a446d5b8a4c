"""Pages of every sort become links and fields, or one reason."""

import contextlib
import time
from dataclasses import replace
from datetime import UTC
from urllib.parse import urlsplit

import orjson
import pytest

from crawler import extract, sites
from crawler.errors import ExtractError
from crawler.extract import Fields
from crawler.extract.limits import MAX_BODY_BYTES
from crawler.models import Fetched
from testbed.forum import content
from testbed.forum.routes import Forum, Request

BASE = "http://127.0.0.1:8800"
URL = f"{BASE}/thread/1"
HTML = """
name: board
search: {url: "http://x.org/?q={query}"}
results: {links: css:.r a, empty: css:.none}
content:
  title: css:h1
  author: css:.author
  published: css:time
  content: {select: css:.post, all: true, remove: [css:.sig]}
  images: css:.post img
  next_page: css:a.next
  extra:
    tags: {select: "css:.tag::text", all: true}
    replies: xpath:count(//*[@class='post'])
    forum: css:meta[name=forum]
"""
JSON = """
name: api
search: {url: "http://x.org/?q={query}"}
results: {type: json, links: "json:items[].id", link: "http://x.org/t/{value}"}
content:
  type: json
  title: json:title
  content: {select: json:html, html: true, remove: [css:.sig]}
  images: {select: json:html, html: true}
  extra: {likes: json:likes, tags: {select: json:tags, all: true}}
"""


def html(body, content_type="text/html; charset=utf-8", url=URL, **more):
    return Fetched(url, 200, content_type, body.encode() if isinstance(body, str) else body, **more)


def json(value, url=URL):
    return Fetched(url, 200, "application/json", value if isinstance(value, bytes) else orjson.dumps(value))


@pytest.fixture
def board():
    return sites.parse(HTML, "board.yaml")


@pytest.fixture
def api():
    return sites.parse(JSON, "api.yaml")


def reason(call, *args, **options):
    with pytest.raises(ExtractError) as caught:
        call(*args, **options)
    return caught.value.reason


# -- Fields ---------------------------------------------------------------------------------------------------------


def test_fields_of_a_page(board):
    page = html("""<!doctype html><html><head><meta name="forum" content="Rain"><title>t</title>
        <base href="/deep/"><style>p {}</style></head><body><h1> Flood\n in <b>Wulong</b> </h1>
        <span class=author>Li  Si</span>
        <time datetime="2026-11-03T14:05:00+08:00">yesterday</time>
        <div class=post><p>First&nbsp; line<br>second</p><script>alert(1)</script><p hidden>hidden</p>
        <p style="color:red; display : none">gone</p><!-- no --><pre>a
  b</pre><table><tr><td>1<td>2</table><img src=a.png><img src="/b.png"><img src="a.png"><img src="data:x"></div>
        <div class=post>Third \u65e5\u672c e\u0301\x00\x1b[31m<div class=sig>bye</div></div>
        <i class=tag>x</i><i class=tag> y </i><a class=next href="?page=2">n</a></body></html>""")
    assert extract.fields(page, board) == Fields(
        title="Flood in Wulong",
        author="Li Si",
        published="2026-11-03T06:05:00Z",
        content="First line\nsecond\na\nb\n1 2\nThird 日本 é",
        images=(f"{BASE}/deep/a.png", f"{BASE}/b.png"),
        extra={"tags": ["x", "y"], "replies": 2, "forum": "Rain"},
        next_page=f"{BASE}/deep/?page=2",
        missing=(),
    )


def test_fields_of_a_json_answer(api):
    value = {
        "title": "Flood\u0000 in\nWulong",
        "html": "<p>One</p><script>x</script><p>Two<img src=/a.png><i class=sig>bye</i></p>",
        "likes": 7,
        "tags": ["a", "", {"no": 1}, 3],
    }
    assert extract.fields(json(value), api) == Fields(
        title="Flood in Wulong",
        content="One\nTwo",
        images=(f"{BASE}/a.png",),
        extra={"likes": 7, "tags": ["a", 3]},
    )


def test_some_fields_missing_is_a_finish_and_no_required_field_a_failure(board):
    assert extract.fields(html("<p class=post>text"), board).missing == (
        "title",
        "author",
        "published",
        "images",
        "extra.tags",
        "extra.forum",
    )
    assert reason(extract.fields, html("<h1>Not found</h1>"), board) == "no-content"


def test_the_next_page_is_another_page_of_the_same_host(board):
    post = "<p class=post>text</p>"
    assert extract.fields(html(f"{post}<a class=next href='http://evil.org/'>"), board).next_page is None
    assert extract.fields(html(f"{post}<a class=next href='{URL}#top'>"), board).next_page is None
    assert extract.fields(html(f"{post}<a class=next href='javascript:go()'>"), board).next_page is None


def test_pages_of_an_item_are_joined():
    one = Fields("T", None, None, "a", ("i1",), (), {"tags": ["x"], "n": 1}, "u2", missing=("author", "published"))
    two = Fields("T2", "A", None, "b", ("i2", "i1"), ("v",), {"tags": ["y", "x"], "n": 2}, None, missing=("published",))
    assert extract.join([one, two]) == Fields(
        "T", "A", None, "a\nb", ("i1", "i2"), ("v",), {"tags": ["x", "y"], "n": 1}, None, missing=("published",)
    )
    assert extract.join([one]) is one


def test_without_selectors_trafilatura_finds_the_article():
    site = sites.parse('name: any\nsearch: {url: "http://x.org/?q={query}"}\nresults: {links: css:a}\n', "any.yaml")
    story = "".join(
        f"<p>The flood of day {n} took the bridge at Wulong and the road behind it, people say.</p>" for n in range(9)
    )
    page = html(
        '<html><head><title>Flood</title><meta property="article:published_time" content="2026-11-03"></head><body>'
        f"<nav><a href=/>Home</a></nav><article><h1>Flood in Wulong</h1>{story}</article>"
        "<footer>Imprint</footer></body></html>"
    )
    found = extract.fields(page, site)
    assert found.title.startswith("Flood")
    assert found.published == "2026-11-03T00:00:00Z"
    assert found.content.count("bridge at Wulong") == 9
    assert "Imprint" not in found.content
    assert reason(extract.fields, html("<html><body></body></html>"), site) == "no-content"


# -- Whatever a page holds ------------------------------------------------------------------------------------------

GBK_TEXT = "<p class=post>重庆洪水，多名群众被困，消防救援正在进行。水位上涨很快。</p>"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (GBK_TEXT.encode("gbk"), "text/html; charset=gbk"),
        (GBK_TEXT.encode("gbk"), "text/html; charset=gb2312"),
        (b"<meta charset=gb2312>" + GBK_TEXT.encode("gbk"), "text/html"),
        (GBK_TEXT.encode("gbk"), "text/html"),
        (GBK_TEXT.encode("gbk"), "text/html; charset=utf-8"),
        (GBK_TEXT.encode(), "text/html; charset=gbk"),
        (GBK_TEXT.encode(), "text/html; charset=nonsense"),
        (GBK_TEXT.encode(), ""),
        (GBK_TEXT.encode("utf-8-sig"), "text/html; charset=gbk"),
        (GBK_TEXT.encode("utf-16"), "text/html"),
        (GBK_TEXT.encode("big5", "replace"), "text/html; charset=big5"),
    ],
)
def test_texts_are_read_in_the_encoding_they_are_in(board, body, content_type):
    assert "重" in extract.fields(html(body, content_type), board).content


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"", "text/html", "empty-body"),
        (b" \n\0", "text/html", "empty-body"),
        (b"%PDF-1.7 <<", "application/pdf", "not-html"),
        (b"%PDF-1.7 <<", "text/html", "not-html"),
        (b"\x89PNG\r\n\x1a\n<", "text/html", "not-html"),
        (b'{"a": "<p class=post>"}', "application/json", "not-html"),
        (b"just text", "text/html", "not-html"),
        (b"a <- b", "text/plain", "not-html"),
        (b"<>", "text/html", "no-content"),
        (b"\xff\xfe\xfd<p>", "text/html", "no-content"),
        (b"<p>nothing that matches</p>", "text/html", "no-content"),
        (b"<!-- only a comment -->", "text/html", "not-html"),
        (b"<p class=post>" + b"x" * MAX_BODY_BYTES, "text/html", "too-large"),
    ],
)
def test_a_bad_page_has_one_reason(board, body, content_type, expected):
    assert reason(extract.fields, html(body, content_type), board) == expected
    on_results = "not-results" if expected == "no-content" else expected
    assert reason(extract.links, html(body, content_type), board) == on_results


@pytest.mark.parametrize("body", [b"{", b"<html>", b"\xff\xfe", b"[" * 100_000, b"NaN", b'"\\ud800"'])
def test_bad_json_has_one_reason(api, body):
    assert reason(extract.fields, json(body), api) == "not-json"
    assert reason(extract.links, json(body), api) == "not-json"


@pytest.mark.parametrize("value", [1, None, [], {}, {"title": None, "html": {"a": 1}}, {"html": []}, [{"html": "x"}]])
def test_json_of_another_shape_has_no_content(api, value):
    assert reason(extract.fields, json(value), api) == "no-content"


def test_json_in_another_encoding_or_with_a_mark(api):
    text = '{"html": "洪水"}'
    assert extract.fields(json(text.encode("utf-8-sig")), api).content == "洪水"
    page = Fetched(URL, 200, "application/json; charset=gbk", text.encode("gbk"))
    assert extract.fields(page, api).content == "洪水"


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 50_000 + "<p class=post>deep",
        "<p class=post>" + "<b>" * 50_000 + "deep",
        "<p class=post>text" + "<p a='" * 10_000,
        "<p class=post>text&" + "#" * 10_000 + "&#99999999999;&#0;",
        "<p class=post>text</p>" + "<img class=x src=/i>" * 20_000,
    ],
    ids=["deep-around", "deep-inside", "open-quotes", "entities", "many"],
)
def test_hostile_markup_ends_soon(board, body):
    start = time.perf_counter()
    with contextlib.suppress(ExtractError):
        extract.fields(html(body), board)
    assert time.perf_counter() - start < 5


# -- Results --------------------------------------------------------------------------------------------------------


def test_links_are_canonical_absolute_and_each_once(board):
    board = replace_site(board, drop_parameters=["sid"])
    page = html(
        "<p class=r><a href='/t/1?utm_source=x#a'>1</a><a href=' /t/1 '>1</a><a href='../t/2?sid=9&p=1'>2</a>"
        "<a href='javascript:x()'>x</a><a href='mailto:a@b'>x</a><a>x</a><a href='http://[bad'>x</a></p>",
        url=f"{BASE}/s/search?q=1",
    )
    assert extract.links(page, board).urls == (f"{BASE}/t/1", f"{BASE}/t/2?p=1")


def test_a_link_on_a_gbk_page_is_sent_as_a_browser_would(board):
    page = html("<p class=r><a href='/洪?q=洪水&x=%20'>1</a></p>".encode("gbk"), "text/html; charset=gbk")
    assert extract.links(page, board).urls == (f"{BASE}/%E6%B4%AA?q=%BA%E9%CB%AE&x=%20",)


def test_no_results_is_told_from_a_page_that_is_no_results_page(board, api):
    assert extract.links(html("<p class=none>Nothing</p>"), board) == extract.Links(empty=True)
    assert reason(extract.links, html("<h1>Log in</h1>"), board) == "not-results"
    assert extract.links(json({"items": []}), api) == extract.Links(empty=True)
    assert reason(extract.links, json({"error": "too fast"}), api) == "not-results"


def test_a_phrase_may_say_that_there_are_none(board):
    board = replace_site(board, results={"links": "css:.r a", "empty": "text:No  results"})
    assert extract.links(html("<p>Sorry, <b>No\n results</b> here"), board).empty
    assert reason(extract.links, html("<p>Sorry</p>"), board) == "not-results"


def test_ids_become_links_and_nothing_in_them_does_more(api):
    page = json({"items": [{"id": 5}, {"id": "a/b?c#d"}, {"id": "{base}"}, {"id": None}, {"id": {"x": 1}}, {}]})
    assert extract.links(page, api).urls == (
        "http://x.org/t/5",
        "http://x.org/t/a%2Fb%3Fc%23d",
        "http://x.org/t/%7Bbase%7D",
    )


FEED = """
name: feed
search: {url: "http://127.0.0.1:8800/api/feed?q={query}&limit={per_page}&cursor={cursor}", paging: {kind: cursor}}
results: {type: json, links: "json:items[].url", next: json:next_cursor}
"""


def test_cursors_lead_through_the_whole_feed():
    site, forum = sites.parse(FEED, "feed.yaml"), Forum()
    target = site.search_targets(["洪水"], pages=99, per_page=20, sort="newest")[0]
    urls, numbers = [], []
    while target:
        answer = forum.respond(request(target.url))
        page = Fetched(target.url, answer.status, answer.content_type, answer.body)
        found = extract.links(page, site, body=target.body, number=target.page)
        urls += found.urls
        numbers.append(target.page)
        target = found.next
    assert urls == [BASE + thread.path for thread in content.expected_results("洪水", "ajax")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == -(-len(urls) // 20) > 1


@pytest.mark.parametrize(
    ("body_type", "body", "expected"),
    [
        ("json", '{"q":"{x}","after":"old"}', '{"q":"{x}","after":"a&b\\"{query}"}'),
        ("form", "q=%7B&after=old", "q=%7B&after=a%26b%22%7Bquery%7D"),
        ("form", "q=%7B", "q=%7B&after=a%26b%22%7Bquery%7D"),
    ],
)
def test_a_cursor_in_a_body(body_type, body, expected):
    site = sites.parse(
        f"name: feed\nsearch: {{url: 'http://x.org/', body_type: {body_type}, paging: {{kind: cursor}},"
        " body: {q: '{query}', after: '{cursor}'}}\n"
        "results: {type: json, links: json:items, next: json:next}",
        "feed.yaml",
    )
    page = json({"items": ["/1"], "next": 'a&b"{query}'}, url="http://x.org/")
    found = extract.links(page, site, body=body, number=3)
    assert found.next == sites.SearchTarget("http://x.org/", "POST", expected, 4)


@pytest.mark.parametrize("cursor", [None, "", [], {}, {"a": 1}, "x" * 100_000, False, "same"])
def test_a_cursor_that_is_none_ends_the_search(cursor):
    site = sites.parse(FEED, "feed.yaml")
    page = json({"items": [{"url": "/1"}], "next_cursor": cursor}, url=f"{BASE}/api/feed?q=a&limit=20&cursor=same")
    assert extract.links(page, site).next is None


# -- Parsers --------------------------------------------------------------------------------------------------------


def good_parser(page, site):
    return Fields(
        title=f" {site.name}\x00 ",
        content=page.body.decode(),
        published="2026-11-03",
        images=("/a.png", "file:///etc/passwd"),
        extra={"n": 1},
        next_page="http://evil.org/",
    )


def raising_parser(page, site):
    raise ZeroDivisionError("by zero")


def refusing_parser(page, site):
    raise ExtractError("login-wall")


def wrong_parser(page, site):
    return Fields(title="x", content=b"bytes")


def none_parser(page, site):
    return None


def parsed(name, modules=(__name__,)):
    own = 'name: own\nsearch: {url: "http://x.org/?q={query}"}\nresults: {links: css:a}\n'
    text = f"{own}parser: {__name__}:{name}\n"
    return extract.fields(html(" text "), sites.parse(text, "own.yaml"), parser_modules=modules)


def test_a_parser_reads_what_yaml_cannot_and_is_cleaned():
    found = parsed("good_parser")
    assert (found.title, found.content, found.published) == ("own", "text", "2026-11-03T00:00:00Z")
    assert (found.images, found.extra, found.next_page) == ((f"{BASE}/a.png",), {"n": 1}, None)


def test_a_parser_that_the_operator_has_not_listed_is_not_imported():
    assert reason(parsed, "good_parser", modules=()) == "parser-refused"
    assert reason(parsed, "good_parser", modules=("os", __name__ + "x", __name__[:-1])) == "parser-refused"


@pytest.mark.parametrize("name", ["raising_parser", "wrong_parser", "none_parser", "no_such_function"])
def test_a_parser_that_fails_has_a_reason(name):
    assert reason(parsed, name) == "parser-error"


def test_a_parser_may_give_its_own_reason():
    assert reason(parsed, "refusing_parser") == "login-wall"


# -- The demo forum's boards ----------------------------------------------------------------------------------------


def request(url):
    parts = urlsplit(url)
    return Request(parts.path, parts.query, BASE)


def read(forum, url, site):
    """Reads a thread over all its pages, following redirects."""
    parts = []
    while url:
        answer = forum.respond(request(url))
        if answer.location:
            url = f"{BASE}{urlsplit(answer.location).path}"
            continue
        if answer.status >= 500:
            continue  # heals on the second request
        parts.append(extract.fields(Fetched(url, answer.status, answer.content_type, answer.body), site))
        url = parts[-1].next_page
    return extract.join(parts)


def test_every_thread_of_both_boards_is_read_whole():
    forum = Forum()
    boards = {"html": sites.load("demo_forum"), "ajax": sites.load("demo_forum_ajax")}
    count = 0
    for thread in content.threads():
        if thread.kind.item != "equal":
            continue
        found = read(forum, BASE + thread.path, boards["ajax" if thread.kind.name == "api" else "html"])
        count += 1
        assert (found.title, found.author, found.content) == (thread.title, thread.author, "\n".join(thread.paragraphs))
        assert found.published == thread.published.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert len(found.images) == len(set(thread.images))
        assert len(found.videos) == (thread.video is not None)
    assert count > 500


def test_equal_threads_on_both_boards_give_equal_items():
    forum = Forum()
    html_board, ajax_board = sites.load("demo_forum"), sites.load("demo_forum_ajax")
    readable = [thread for thread in content.threads() if thread.kind.item == "equal"]
    twins = {(t.title, t.published): t for t in readable if t.kind.name == "api"}
    pairs = [(t, twins[key]) for t in readable if t.kind.name != "api" and (key := (t.title, t.published)) in twins]
    assert len(pairs) >= 10
    for one, other in pairs:
        left, right = read(forum, BASE + one.path, html_board), read(forum, BASE + other.path, ajax_board)
        assert replace(left, images=(), videos=()) == replace(right, images=(), videos=())
        for urls in zip(left.images + left.videos, right.images + right.videos, strict=True):
            assert len({forum.respond(request(url)).body for url in urls}) == 1


def replace_site(site, **changes):
    return sites.Site.from_definition(site.definition() | changes)

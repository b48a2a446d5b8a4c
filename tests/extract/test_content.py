"""The fields of a content page, by a site's rules or by what is usual."""

import pytest
from extract.pages import API, BASE, BOARD, URL, changed, html, json, reason

from crawler import extract, sites
from crawler.extract import Fields

WITHOUT_RULES = sites.parse(
    'name: any\nsearch: {url: "http://x.org/?q={query}"}\nresults: {links: css:a}\n', "any.yaml"
)


def test_fields_of_a_page():
    page = html("""<!doctype html><html><head><meta name="forum" content="Rain"><title>t</title>
        <base href="/deep/"><style>p {}</style></head><body><h1> Flood\n in <b>Wulong</b> </h1>
        <span class=author>Li  Si</span>
        <time datetime="2026-11-03T14:05:00+08:00">yesterday</time>
        <div class=post><p>First&nbsp; line<br>second</p><script>alert(1)</script><p hidden>hidden</p>
        <p style="color:red; display : none">gone</p><!-- no --><pre>a
  b</pre><table><tr><td>1<td>2</table><img src=a.png><img src="/b.png"><img src="a.png"><img src="data:x"></div>
        <div class=post>Third \u65e5\u672c e\u0301\x00\x1b[31m<div class=sig>bye</div></div>
        <i class=tag>x</i><i class=tag> y </i><a class=next href="?page=2">n</a></body></html>""")
    assert extract.fields(page, BOARD) == Fields(
        title="Flood in Wulong",
        author="Li Si",
        published="2026-11-03T06:05:00Z",
        content="First line\nsecond\na\n  b\n1\t2\nThird 日本 é",
        images=(f"{BASE}/deep/a.png", f"{BASE}/b.png"),
        extra={"tags": ["x", "y"], "replies": 2, "forum": "Rain"},
        next_page=f"{BASE}/deep/?page=2",
        missing=(),
    )


def test_fields_of_a_json_answer():
    value = {
        "title": "Flood\u0000 in\nWulong",
        "html": "<p>One</p><script>x</script><p>Two<img src=/a.png><i class=sig>bye</i></p>",
        "likes": 7,
        "tags": ["a", "", {"no": 1}, 3],
    }
    assert extract.fields(json(value), API) == Fields(
        title="Flood in Wulong",
        content="One\nTwo",
        images=(f"{BASE}/a.png",),
        extra={"likes": 7, "tags": ["a", '{"no":1}', 3]},
    )


def test_a_count_of_nothing_is_a_number_in_html_as_in_json():
    assert extract.fields(html("<p class='post x'>text"), BOARD).extra == {"replies": 0}
    assert extract.fields(json({"html": "text", "likes": 0}), API).extra == {"likes": 0}
    board = changed(BOARD, content={"title": "css:h1", "extra": {"no": "xpath:number(//h1)", "not": "xpath:1 > 2"}})
    assert extract.fields(html("<h1>t</h1>"), board).extra == {}


def test_only_a_page_without_required_fields_fails():
    assert extract.fields(html("<p class=post>text"), BOARD).missing == (
        "title",
        "author",
        "published",
        "images",
        "extra.tags",
        "extra.forum",
    )
    assert reason(extract.fields, html("<h1>Not found</h1>"), BOARD) == "no-content"


@pytest.mark.parametrize("link", ["http://evil.org/", f"{URL}#top", "javascript:go()"])
def test_the_next_page_is_another_page_of_the_same_host(link):
    assert extract.fields(html(f"<p class=post>text</p><a class=next href='{link}'>"), BOARD).next_page is None


def test_pages_of_an_item_are_joined():
    first = Fields(
        title="T",
        content="a",
        images=("i1",),
        extra={"tags": ["x"], "n": 1},
        next_page="u2",
        missing=("author", "published"),
    )
    second = Fields(
        title="T2",
        author="A",
        content="b",
        images=("i2", "i1"),
        videos=("v",),
        extra={"tags": ["y", "x"], "n": 2},
        missing=("published",),
    )
    assert extract.join([first, second]) == Fields(
        title="T",
        author="A",
        content="a\nb",
        images=("i1", "i2"),
        videos=("v",),
        extra={"tags": ["x", "y"], "n": 1},
        missing=("published",),
    )
    assert extract.join([first]) is first


def test_without_rules_what_is_usual_tells_the_article():
    story = "".join(
        f"<p>The flood of day {n} took the bridge at Wulong and the road behind it, people say.</p>" for n in range(9)
    )
    page = html(
        '<html><head><title>Flood</title><meta property="article:published_time" content="2026-11-03"></head><body>'
        f"<nav><a href=/>Home</a></nav><article><h1>Flood in Wulong</h1>{story}</article>"
        "<footer>Imprint</footer></body></html>"
    )
    found = extract.fields(page, WITHOUT_RULES)
    assert found.title.startswith("Flood")
    assert found.published == "2026-11-03T00:00:00Z"
    assert found.content.count("bridge at Wulong") == 9
    assert "Imprint" not in found.content
    assert reason(extract.fields, html("<html><body></body></html>"), WITHOUT_RULES) == "no-content"


@pytest.mark.parametrize(
    ("around", "published"),
    [
        ("<p class=date>3 November 2026</p>{}", "2026-11-03T00:00:00Z"),
        ("<time datetime=2026-11-03>yesterday</time>{}", "2026-11-03T00:00:00Z"),
        ("{}<footer>Copyright 2011 Riverside News</footer>", None),
        ("{}<ul><li><a href=/2019/08/11/senate>Senate votes</a> (8/11/2019)</ul>", None),
    ],
)
def test_without_rules_a_date_is_what_the_page_states_not_any_date_on_it(around, published):
    story = "".join(
        f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(9)
    )
    page = html(
        "<html><head><title>Flood</title></head><body>" + around.format(f"<article>{story}</article>") + "</body>"
    )
    assert extract.fields(page, WITHOUT_RULES).published == published


@pytest.mark.parametrize("value", [1, None, [], {}, {"title": None, "html": {"a": 1}}, {"html": []}, [{"html": "x"}]])
def test_json_of_another_shape_has_no_content(value):
    assert reason(extract.fields, json(value), API) == "no-content"

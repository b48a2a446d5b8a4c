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


def test_of_several_links_the_next_page_is_the_first_that_was_not_seen():
    page = html("<a class=next href=/t/1>1</a><a class=next href=/t/2>2</a><a class=next href=/t/3>3</a>")
    links = {"seen": {URL, f"{BASE}/t/1", f"{BASE}/t/2"}, "continues": True}
    assert extract.fields(page, BOARD, **links).next_page == f"{BASE}/t/3"
    assert extract.fields(html(f"<a class=next href={URL}>1</a>{page.body.decode()}"), BOARD, **links).next_page is None


COMMENT = """<div class=comment><b class=author>{}</b> <time datetime=2026-03-0{}T10:00:00Z>March</time>
    <p>I was there with {} and it was terrible, the water rose very fast.</p></div>"""
COMMENTED = html(
    f"""<!doctype html><html lang=en><title>A flood in Wulong - The board</title><h1>A flood in Wulong</h1>
    <p>By <a rel=author href=/u/1>Ann Becker</a> <time datetime=2026-03-02T10:00:00Z>2 March</time></p>
    <article><p>The pumps near the river worked all night, and number seven was the last one to be switched off.</p>
    <p>Nobody was hurt, said the mayor, who was there since early in the morning with a team of engineers.</p>
    <img src=/pump.png></article>
    {"".join(COMMENT.format(name, day, name) for day, name in ((3, "Bob Hill"), (4, "Carl Ode"), (5, "Dora Lee")))}"""
)
AUTO = ("title", "author", "published", "content", "images", "comments")


@pytest.mark.parametrize("name", AUTO)
def test_a_field_that_is_auto_is_read_as_without_selectors_and_says_how_sure_it_is(name):
    plain = extract.fields(COMMENTED, WITHOUT_RULES)
    rules = {"title": "css:title"} | {name: "auto"}
    found = extract.fields(COMMENTED, changed(WITHOUT_RULES, content=rules))
    assert getattr(found, name) == getattr(plain, name)
    assert getattr(found, name)
    assert found.sureness == ({name: plain.sureness[name]} if name != "comments" else {})
    assert found.title == (plain.title if name == "title" else "A flood in Wulong - The board")
    assert not any(found.has(other) for other in AUTO if other not in rules)
    assert found.page_type == (plain.page_type if name == "content" else None)


def test_all_fields_auto_are_those_without_selectors():
    site = changed(WITHOUT_RULES, content=dict.fromkeys(AUTO, "auto"))
    assert extract.fields(COMMENTED, site) == extract.fields(COMMENTED, WITHOUT_RULES)
    assert reason(extract.fields, html("<title>t</title>"), site) == "no-content"


def test_the_first_of_the_comments_that_are_auto_may_be_the_text():
    comments = extract.fields(COMMENTED, WITHOUT_RULES).comments
    rules = {"content": "css:article", "comments": {"each": "auto", "skip_first": True, "max": 1}}
    site = changed(WITHOUT_RULES, content=rules)
    assert len(comments) == 3
    assert (extract.fields(COMMENTED, site).comments, extract.fields(COMMENTED, site).truncated) == (
        comments[1:2],
        ("comments",),
    )
    assert extract.fields(COMMENTED, site, continues=True).comments == comments[:1]


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

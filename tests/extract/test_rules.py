"""What a rule says beside its selector: a pattern that cuts, whitespace that is kept, the first page only."""

import pytest
from extract.pages import BOARD, html, json, reason

from crawler import extract, sites
from crawler.base.errors import InputError
from crawler.base.models import Fetched
from crawler.extract.rows import Row, found_by
from crawler.extract.words import CombinationSearch

URL = "http://x.org/page"


def site(content):
    return sites.parse(f"name: s\ncontent: {content}\n", "s.yaml")


def text(body, content_type="text/plain; charset=utf-8"):
    return Fetched(URL, 200, content_type, body.encode() if isinstance(body, str) else body)


BYLINES = html(
    "<h1>News</h1><p class=by> Posted\n 3 May by  Ann  Lee on board</p><p class=by>by Bob on board</p><p class=by>?"
)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("{select: css:.by, pattern: 'by (.+?) on'}", "Ann Lee"),
        ("{select: css:.by, pattern: 'by (?:.+?) on', all: true}", "by Ann Lee on, by Bob on"),
        ("{select: css:.by, pattern: '^by (.+?) on'}", "Bob"),
        ("{select: css:.by, pattern: 'nowhere'}", None),
        ("{select: css:.by, pattern: '(x)|by'}", None),
    ],
)
def test_a_pattern_cuts_a_value_and_passes_matches_by_in_which_it_finds_nothing(rule, expected):
    found = extract.fields(BYLINES, site(f"{{title: css:h1, author: {rule}}}"))
    assert found.author == expected
    assert ("author" in found.missing) == (expected is None)


def test_a_pattern_cuts_dates_addresses_and_json():
    page = html("<h1>a</h1><p>seen 5, 2026-01-02 03:04 (edited)</p><i style='background: url(/a.png)'></i>")
    rules = "{title: css:h1, published: {select: css:p, pattern: ', (.*) \\('},"
    rules += " images: {select: 'css:i::attr(style)', pattern: 'url\\((.+?)\\)'}}"
    found = extract.fields(page, site(rules))
    assert (found.published, found.images) == ("2026-01-02T03:04:00Z", ("http://127.0.0.1:8800/a.png",))
    of_json = "{type: json, title: json:t, extra: {id: {select: json:ids, pattern: 'post-(\\d+)', all: true}}}"
    found = extract.fields(json({"t": "x", "ids": ["post-1", 7, "post-2"]}), site(of_json))
    assert found.extra == {"id": ["1", "2"]}


def test_a_pattern_that_would_hang_others_takes_linear_time():
    page = html(f"<h1>{'a' * 1_000_000}</h1>")
    assert reason(extract.fields, page, site("{title: {select: css:h1, pattern: '^(a+)+$b'}}")) == "no-content"


@pytest.mark.parametrize("pattern", [r"(a)\1", "(?=a)", "(", "x" * 501, "((a{100}){100}){100}", ""])
def test_a_pattern_that_is_none_is_refused(pattern):
    with pytest.raises(InputError, match="expected a regular expression"):
        sites.Site.from_definition({"name": "s", "content": {"title": {"select": "css:h1", "pattern": pattern}}})


CODE = (
    "<article>\n<pre>def f():\n    return 1\n\n\ntwo = 2  \n</pre><p>then  this<br>and<br><br>that"
    "<table><tr><td>1<td>x</table><script>no</script><!-- no -->"
)


def test_whitespace_is_kept_where_a_rule_says_so():
    found = extract.fields(html(CODE), site("{content: {select: css:article, keep_whitespace: true}}"))
    assert found.content == "def f():\n    return 1\n\n\ntwo = 2\nthen  this\nand\n\nthat\n1 x"
    found = extract.fields(html(CODE), site("{content: css:article}"))  # without that, of code alone
    assert found.content == "def f():\n    return 1\n\n\ntwo = 2\nthen this\nand\nthat\n1\tx"
    rules = "{type: json, title: json:t, extra: {code: {select: json:c, keep_whitespace: true}}}"
    value = "\r\n  if x:\r\n\tgo\x1b[31m \u202e\n\n"
    assert extract.fields(json({"t": "x", "c": value}), site(rules)).extra == {"code": "  if x:\n\tgo"}
    of_html = "{type: json, content: {select: json:c, html: true, keep_whitespace: true}}"
    assert extract.fields(json({"c": "<pre> a\n  b</pre>"}), site(of_html)).content == " a\n  b"


def test_whitespace_is_kept_in_long_texts_alone():
    with pytest.raises(InputError, match="expected keep_whitespace only in content and fields of extra"):
        site("{title: {select: css:h1, keep_whitespace: true}}")


def test_what_each_page_repeats_is_read_on_the_first_alone():
    rules = "{title: css:h1, content: {select: css:.reply, all: true},"
    rules += " extra: {post: {select: css:.post, first_page_only: true}, ids: {select: css:i, all: true}}}"
    first, second = (html(f"<h1>t</h1><p class=post>post {n}</p><i>{n}</i><p class=reply>{n}") for n in (1, 2))
    of = site(rules)
    joined = extract.join([extract.fields(first, of), extract.fields(second, of, continues=True)])
    assert (joined.content, joined.extra) == ("1\n2", {"post": "post 1", "ids": ["1", "2"]})
    assert joined.missing == ()


MAIL = "From: Ann <a@x.org>\r\nDate: Fri, 02 Jan 2026 03:04:05 +0000\r\nSubject: Levee \u6d2a\u6c34\r\n\r\nHi,\r\n  one\r\n\r\nhttp://x.org/a.png\r\n"


def test_plain_text_is_read_by_regular_expressions():
    rules = "{type: text, title: 're:(?m)^Subject: (.*)$', author: 're:(?m)^From: (.*?) <', images: 're:http\\S+png',"
    rules += " published: 're:(?m)^Date: (.*)$', content: {select: 're:(?s)\\r\\n\\r\\n(.*)', keep_whitespace: true}}"
    found = extract.fields(text(MAIL), site(rules))
    assert (found.title, found.author, found.published) == ("Levee \u6d2a\u6c34", "Ann", "2026-01-02T03:04:05Z")
    assert (found.content, found.images) == ("Hi,\n  one\n\nhttp://x.org/a.png", ("http://x.org/a.png",))
    markdown = text("# Flood\n\n* one\n    * two\n", "text/markdown")
    assert extract.fields(markdown, site("{type: text, title: 're:(?m)^# (.*)'}")).title == "Flood"


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"\x89PNG\r\n", "text/plain", "not-text"),
        ("a", "image/svg+xml", "not-text"),
        ("a\0b", "", "not-text"),
        ("", "text/plain", "empty-body"),
        ("nothing", "text/plain", "no-content"),
    ],
)
def test_what_is_no_text_is_said(body, content_type, expected):
    assert reason(extract.fields, text(body, content_type), site("{type: text, title: 're:# (.*)'}")) == expected


def test_links_of_plain_text_are_followed():
    of = sites.parse(
        "name: s\nsearch: {url: 'http://x.org/{query}'}\nresults: {type: text, links: 're:http\\S+'}\n"
        "content: {type: text, title: 're:.+'}\nfollow: {links: 're:see (\\S+)'}\n",
        "s.yaml",
    )
    assert extract.links(text("a http://x.org/1 b\nhttp://x.org/2"), of).urls == ("http://x.org/1", "http://x.org/2")
    assert extract.followed(text("see /2 or /3"), of).urls == ("http://x.org/2",)
    with pytest.raises(InputError, match="on pages of type html"):
        site("{title: 're:x'}")


def test_a_status_may_say_that_there_are_no_results():
    of = sites.Site.from_definition(BOARD.definition() | {"results": {"links": "css:.r a", "empty_status": [404, 400]}})
    gone = Fetched(URL, 404, "text/html", b"")
    assert extract.links(gone, of) == extract.Links(empty=True)
    with pytest.raises(InputError, match="ask to come again later"):
        sites.Site.from_definition(BOARD.definition() | {"results": {"links": "css:.r a", "empty_status": [429]}})


def test_pages_that_only_lead_on_make_no_item():
    of = sites.parse("name: s\ncontent: {title: css:h1}\nfollow: {items: ['/thread/\\d+$']}\n", "s.yaml")
    listed = extract.read(html("<h1>All</h1><a href=/thread/1>1</a>", url="http://x.org/list"), of, max_links=9)
    assert (listed.links.urls, listed.fields()) == (("http://x.org/thread/1",), None)
    assert extract.read(html("<h1>One</h1>", url="http://x.org/thread/1"), of, max_links=9).fields().title == "One"


ROWS = sites.parse(
    """
name: s
search: {url: "http://x.org/list"}
results: {rows: css:li, links: css:a, match: css:h3, fields: {published: css:time, extra: {n: "xpath:number(.//b)"}}}
content: {title: css:h1, published: css:time}
""",
    "s.yaml",
)


def rows_of(body, site=ROWS):
    return extract.links(html(body), site).rows


def test_rows_say_what_pages_do_not():
    rows = rows_of(
        "<ul><li><h3>\u6d2a\u6c34 F\uff2cood</h3><a href=/1>1</a><a href=/x>x</a><b>7</b><time>2026-01-02 03:04</time>"
        "<li><h3>no link</h3><li><a href=/2>2</a></ul><a href=/3>3</a>"
    )
    first, second = (rows[f"http://127.0.0.1:8800/{number}"] for number in (1, 2))
    assert (len(rows), second) == (2, Row("", ""))
    assert found_by(rows.items(), CombinationSearch([("flood",), ("\u6d2a\u6c34", "FLOOD"), ("flood", "rescue")])) == [
        ("http://127.0.0.1:8800/1", first, ("flood",)),
        ("http://127.0.0.1:8800/1", first, ("\u6d2a\u6c34", "FLOOD")),
    ]
    page = html("<h1>t</h1>")
    found = extract.with_row(extract.fields(page, ROWS), first.said, page, ROWS)
    assert (found.published, found.extra, found.missing) == ("2026-01-02T03:04:00Z", {"n": 7}, ())
    page = html("<h1>t</h1><time>2025-01-02 03:04</time>")
    assert extract.with_row(extract.fields(page, ROWS), first.said, page, ROWS).published == "2025-01-02T03:04:00Z"


def test_a_row_tells_how_long_ago_its_time_was_by_the_unit():
    (row,) = rows_of("<li><a href=/1>1</a><time>3 hours ago</time>").values()
    found = extract.with_row(extract.Fields(title="t"), row.said, html("<h1>t</h1>"), ROWS)
    assert found.sureness == {"published": "guess", "published_unit": "hour"}


def test_what_a_row_says_goes_before_what_a_page_was_guessed_to_say():
    (row,) = rows_of("<li><a href=/1>1</a><time>2026-01-02</time>").values()
    sureness = {"published": "guess", "title": "guess"}
    guessed = extract.Fields(title="t", published="2020-01-01T00:00:00Z", sureness=sureness)
    found = extract.with_row(guessed, row.said, html("<h1>t</h1>"), ROWS)
    assert (found.published, found.sureness) == ("2026-01-02T00:00:00Z", {"title": "guess", "published": "day"})


@pytest.mark.parametrize(
    "said", ["{", "[1]", '{"published": "soon"}', '{"content": "x"}', '{"extra": {"other": 1}}', "7"]
)
def test_a_row_from_redis_is_not_trusted(said):
    page = html("<h1>t</h1>")
    found = extract.fields(page, ROWS)
    assert extract.with_row(found, said, page, ROWS) == found


def test_what_a_row_says_is_bounded():
    (row,) = rows_of(f"<li><a href=/1>1</a><time>2026-01-02 03:04</time><b>1</b><h3>{'x' * 9_999}</h3>").values()
    assert row.said == '{"published":"2026-01-02T03:04:00Z","extra":{"n":1}}'
    long = sites.Site.from_definition(
        ROWS.definition()
        | {"results": {"rows": "css:li", "links": "css:a", "match": "css:h3", "fields": {"title": "css:h3"}}}
    )
    (row,) = rows_of(f"<li><a href=/1>1</a><h3>{'x' * 9_999}</h3>", long).values()
    assert row.said == ""


def test_rows_of_json_have_links_made_of_ids():
    results = {"type": "json", "rows": "json:hits", "links": "json:id", "link": "http://x.org/t/{value}"}
    results |= {"fields": {"author": "json:user.name"}}
    of = sites.parse(f"name: s\nsearch: {{url: 'http://x.org/{{query}}'}}\nresults: {results}", "s.yaml")
    page = json({"hits": [{"id": 5, "user": {"name": "Ann"}}, {"user": {}}, 7]})
    assert {url: row.said for url, row in extract.links(page, of).rows.items()} == {
        "http://x.org/t/5": '{"author":"Ann"}'
    }
    assert extract.links(json({"hits": []}), of) == extract.Links(empty=True)


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ({"links": "css:a", "match": "css:h3"}, "rows beside fields and match"),
        ({"links": "re:a", "type": "text", "rows": "re:b"}, "no rows beside type: text"),
        (
            {"links": "css:a", "rows": "css:li", "fields": {"author": "json:a"}},
            "expected css:... or xpath:..., as",
        ),
        ({"links": "css:a", "rows": "css:li", "fields": {}}, "at least one field"),
        (
            {"links": "css:a", "rows": "css:li", "fields": {"title": {"select": "css:a", "required": True}}},
            "a row is no",
        ),
        ({"links": "css:a", "rows": "css:li"}, "or match, or every: true, here for a list"),
    ],
)
def test_rows_that_say_nothing_are_refused(results, expected):
    with pytest.raises(InputError, match=expected):
        sites.Site.from_definition({"name": "s", "search": {"url": "http://x.org/"}, "results": results})


TWIN = {"pattern": "/t/(?P<id>.)", "url": "{base}/{id}"}
JOINED = {"url": "{base}/{user}", "values": {"user": "css:a"}, "title": "css:h1"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"fetch": TWIN | {"url": "{base}/"}}, r"a template with \{id\}"),
        ({"fetch": TWIN | {"url": "{base}/{other}"}}, r"only the placeholders \{base\}, \{id\}, not \{other\}"),
        ({"fetch": TWIN | {"pattern": "/t/(.)"}}, "not"),
        ({"fetch": TWIN | {"url": "file:///{id}"}}, "a URL that starts with"),
        ({"fetch": TWIN | {"url": "http://me:secret@x.org/{id}"}}, "a URL without user and password"),
        ({"joined": [JOINED | {"url": "{base}/"}]}, r"a template with \{user\}"),
        ({"joined": [JOINED | {"values": {}}]}, "at least 1"),
        ({"joined": [JOINED | {"values": {"user": "json:a"}}]}, "on pages of type html"),
        ({"joined": [JOINED | {"title": "json:a"}]}, "on pages of type html"),
        ({"joined": [{"url": "{base}/{user}", "values": {"user": "css:a"}}]}, "at least one field"),
        ({"joined": [JOINED] * 6}, "at most 5"),
    ],
)
def test_requests_that_nothing_makes_are_refused(content, expected):
    with pytest.raises(InputError, match=expected):
        sites.Site.from_definition({"name": "s", "content": {"title": "css:h1"} | content})


def test_requests_go_to_the_page_s_own_host_and_values_are_encoded():
    content = {"title": "css:h1", "fetch": TWIN, "joined": [JOINED]}
    of = sites.Site.from_definition({"name": "s", "base": "http://x.org", "content": content})
    assert of.address_of("http://x.org/t/5") == "http://x.org/5"
    assert [of.address_of(url) for url in ("http://y.org/t/5", "http://x.org/5")] == [
        "http://y.org/t/5",
        "http://x.org/5",
    ]
    page = html("<h1>t</h1><a> a/b?c\n&amp;#d </a>", url="http://x.org/t/5")
    assert extract.fields(page, of).joined == ("http://x.org/a%2Fb%3Fc%20%26%23d",)
    assert extract.fields(html("<h1>t</h1>", url="http://x.org/t/5"), of).joined == ("",)


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ("http://api.x.org/u?id={user}", "http://api.x.org/u?id=evil.org"),
        ("http://{user}/u", ""),
        ("http://api.{user}/u", ""),
        ("http://api.x.{user}/u", ""),
        ("http://api.x.org{user}/u", ""),
        ("http://api.x.org:80{user}/u", ""),
        ("{base}{user}/u", ""),
        ("{base}/{user}", "http://x.org/evil.org"),
    ],
)
def test_no_page_says_which_host_is_asked(template, made):
    content = {"joined": [{"url": template, "values": {"user": "css:a"}, "title": "css:b"}], "title": "css:h1"}
    of = sites.Site.from_definition({"name": "s", "base": "http://x.org", "content": content})
    page = html("<h1>t</h1><a>evil.org</a>", url="http://y.org/t/5")
    assert extract.fields(page, of).joined == (made,)

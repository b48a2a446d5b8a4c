"""A site's own parser: run only if it is listed, and its fields are checked."""

import pytest
from extract.pages import BASE, html, reason

from crawler import extract, sites
from crawler.base.errors import ExtractError
from crawler.extract import Fields
from crawler.extract.comments import ReadComment


def good_parser(page, site):
    return Fields(
        title=f" {site.name}\x00 ",
        content=page.body.decode(),
        published="2026-11-03",
        images=("/a.png", "file:///etc/passwd"),
        extra={"n": 1},
        next_page="http://evil.org/",
    )


def parser_of_trees(page, site):
    assert page.tree is page.tree
    assert page.tree.select_one("h1").text == page.selector.css("h1::text").get() == page.tree.xpath("string(//h1)")
    return Fields(title=page.tree.select_one("h1").text, content=page.base)


def parser_of_json(page, site):
    return Fields(title="t", content=page.json["text"])


def parser_of_comments(page, site):
    first = ReadComment(" a\x1b ", " Li\n", published="3 Nov 2026 14:05", parent=-1)
    more = (ReadComment("t", parent=1_000), ReadComment("b", " ", published="soon", parent=0))
    comments = (first, *more, *[ReadComment("t")] * 998)
    return Fields(content="text", comments=comments, truncated=("images",), canonical_url="/one?utm_source=x")


def raising_parser(page, site):
    raise ZeroDivisionError("by zero")


def refusing_parser(page, site):
    raise ExtractError("login-wall")


def wrong_parser(page, site):
    return Fields(title="x", content=b"bytes")


def none_parser(page, site):
    return None


def parsed(name, modules=(__name__,), body=" text "):
    own = 'name: own\nsearch: {url: "http://x.org/?q={query}"}\nresults: {links: css:a}\n'
    text = f"{own}parser: {__name__}:{name}\n"
    return extract.fields(html(body), sites.parse(text, "own.yaml"), parser_modules=modules)


def test_a_parser_reads_what_yaml_cannot_and_is_cleaned():
    found = parsed("good_parser")
    assert (found.title, found.content, found.published) == ("own", "text", "2026-11-03T00:00:00Z")
    assert (found.images, found.extra, found.next_page) == ((f"{BASE}/a.png",), {"n": 1}, None)


def test_what_a_parser_says_of_comments_and_of_what_is_cut_is_kept_and_cleaned():
    found = parsed("parser_of_comments")
    assert (len(found.comments), found.truncated) == (1_000, ("images", "comments"))
    assert found.comments[:3] == (
        ReadComment("a", "Li", "2026-11-03T14:05:00Z"),
        ReadComment("t"),
        ReadComment("b", parent=0),
    )
    assert found.canonical_url == f"{BASE}/one"


def test_a_parser_gets_the_page_as_a_tree_for_parsel_and_as_json():
    found = parsed("parser_of_trees", body="<base href=/x/><table><h1>Title</h1></table>")
    assert (found.title, found.content) == ("Title", f"{BASE}/x/")
    assert parsed("parser_of_json", body='{"text": "of JSON"}').content == "of JSON"
    assert reason(parsed, "parser_of_trees", body="no markup") == "not-html"
    assert reason(parsed, "parser_of_json", body="no JSON") == "not-json"


def test_a_parser_that_the_operator_has_not_listed_is_not_imported():
    assert reason(parsed, "good_parser", modules=()) == "parser-refused"
    assert reason(parsed, "good_parser", modules=("os", __name__ + "x", __name__[:-1])) == "parser-refused"


@pytest.mark.parametrize("name", ["raising_parser", "wrong_parser", "none_parser", "no_such_function"])
def test_a_parser_that_fails_has_a_reason(name):
    assert reason(parsed, name) == "parser-error"


def test_a_parser_may_give_its_own_reason():
    assert reason(parsed, "refusing_parser") == "login-wall"

"""How much text the elements of a page have: each part of a page is looked at a few times, however boxes are nested."""

from __future__ import annotations

import pytest
from extract.pages import html

from crawler import extract, sites
from crawler.extract import article_change, page_parts
from crawler.extract.around_text import text_of
from crawler.extract.extents import Extents
from crawler.extract.markup import parse_html

WEB = sites.load("web")
TEXT = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(4)
)
HEAD = "<!doctype html><title>Flood in Wulong</title><h1>Flood in Wulong</h1>"
BOXES = 300  # within each other
PARTS = 20_000  # in the innermost one
TIMES = 30  # that each part of a page is looked at, whatever it is, on average


@pytest.fixture
def looked_at(monkeypatch):
    """How often something was asked of a part of a page, by what."""
    counts = dict.fromkeys(("has_text", "letters", "said", "around"), 0)

    def counted(name, call):
        def calls(*arguments):
            counts[name] += 1
            return call(*arguments)

        return calls

    def lineage(element, plain=page_parts.lineage):
        for one in plain(element):
            counts["around"] += 1
            yield one

    monkeypatch.setattr(Extents, "has_text", counted("has_text", Extents.has_text))
    monkeypatch.setattr(Extents, "_letters_of", counted("letters", Extents._letters_of))
    monkeypatch.setattr(page_parts, "_is_said", counted("said", page_parts._is_said))
    monkeypatch.setattr(page_parts, "lineage", lineage)
    return counts


NAMED = "<div class=entry-content>text here</div>"


PAGES = {
    "headings": f"<article>{TEXT}{'<h2></h2>' * PARTS}",
    "headings and lines": f"<article>{TEXT}{'<h2>a</h2>' * PARTS}{'<br>' * PARTS}",
    "links": f"<article>{TEXT}{'<div>' * BOXES}{'<a href=/x>link</a> ' * PARTS}",
    "links in a text": f"<article>{TEXT}{'<div>' * BOXES}{'<a href=/x>l</a> text of it ' * PARTS}",
    "small parts": f"<article>{TEXT}{'<div class=share>' * BOXES}{'line<br>' * PARTS}",
    "links to comments": f"<article>{TEXT}<p>{'<a href=#comment>x</a> ' * PARTS}",
    "blank links": f"<article>{TEXT}{'<div>' * BOXES}{' <a href=/> </a>' * PARTS}x",
    "blanks": f"<article>{TEXT}{'<div>' * BOXES}{' <b></b>' * PARTS}<a href=/>x</a>",
    "a quote": f"<blockquote>{NAMED * PARTS}</blockquote>{'<br>' * PARTS}",
    "quotes": f"<blockquote>{NAMED}</blockquote>" * 10_000 + "<br>" * PARTS,
    "quotes in quotes": f"<div class=entry-content>{'<blockquote>' * BOXES}{NAMED * PARTS}",
    "asides": f"<article class=entry-content>{TEXT}<aside>{'<div>' * BOXES}{NAMED * PARTS}",
}


@pytest.mark.parametrize("body", PAGES.values(), ids=PAGES)
def test_boxes_in_boxes_are_not_each_looked_through(looked_at, body):
    assert extract.fields(html(HEAD + body), WEB).title
    assert max(looked_at.values()) < TIMES * PARTS, looked_at


def test_an_extent_is_what_the_text_of_an_element_says():
    tree = parse_html(
        b"<body> <div> a <a href=/> b c </a><p>12 <b>d</b> <a>e</a></p> </div><ul><li> <a>x</a></ul><div></div>"
        b" <a><i>q</i></a>"
    )
    body = tree.select_one("body")
    extents = Extents(body)
    for element in (body, *body.select("*")):
        assert extents.characters(element) == len(element.text)
        assert extents.has_text(element) == bool(element.text.strip())
        letters = sum(map(str.isalpha, element.text))
        in_links = sum(map(str.isalpha, "".join(one.text for one in element.select("a"))))
        assert extents.links_share(element) == (in_links / letters if letters else 0)


def test_what_a_template_holds_is_nothing_that_is_seen():
    inner = "<div class=share>a</div><p><a href=#comments>b</a></p><ul><li><a>c</a></ul><h2>d</h2>"
    page = f"<title>Flood</title><main><h1>Flood</h1>{TEXT}<template>{inner}</template></main>"
    assert extract.fields(html(page), WEB).content == extract.fields(html(page.replace(inner, "")), WEB).content


@pytest.mark.parametrize(("words", "is_left_out"), [("", True), ("and " * 600, False)])
def test_of_a_long_list_the_characters_count(words, is_left_out):
    body = parse_html(f"<article><p>Text.<ul>{'<li><a>link 1</a>' * 300}<li>{words}</ul></article>".encode())
    assert ("link 1" in text_of(body.select_one("article"), None, frozenset())[0]) != is_left_out


def test_texts_within_texts_are_read_up_to_a_bound_for_who_changed_a_page(monkeypatch):
    line = "<footer><p>Last changed on 21-Feb-2025 10:12 by Dara Neill</p></footer>"
    page = html(f"{HEAD}<article>{TEXT}</article>{line}")
    assert extract.fields(page, WEB).author == "Dara Neill"
    monkeypatch.setattr(article_change, "MAX_READ", 100)
    assert extract.fields(page, WEB).author is None

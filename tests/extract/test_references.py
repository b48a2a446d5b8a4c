"""What was escaped twice: names become what they were, and titles where the page or the reference leaves no doubt."""

import orjson
import pytest
from extract.pages import html

from crawler import extract, sites
from crawler.extract.references import name_of, unescaped
from crawler.extract.rows import with_row

WEB = sites.load("web")
TEXT = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(4)
)


def read(head="", title="Flood in Wulong", heading="Flood in Wulong"):
    page = f"<!doctype html><html lang=en><title>{title}</title>{head}<h1>{heading}</h1><article>{TEXT}</article>"
    return extract.fields(html(page), WEB)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Kr&#xE4;mer", "Kr\u00e4mer"),
        ("&#x738B;&#24343;", "\u738b\u5f17"),
        ("Smith &amp; Sons", "Smith & Sons"),
        ("Ren&eacute;e", "Ren\u00e9e"),
        ("AT&T; R&D", "AT&T; R&D"),
        ("a&notit;b", "a&notit;b"),
        ("Ann&#160;Lee", "Ann\xa0Lee"),
        ("a&#0;&#x1b;&#xD800;b", "a&#0;&#x1b;&#xD800;b"),
        ("Ann & Bob", "Ann & Bob"),
    ],
)
def test_references_become_what_they_stand_for(words, expected):
    assert unescaped(words) == name_of(words) == expected


def test_a_name_that_was_escaped_more_than_twice_is_none():
    assert name_of("Kr&amp;#xE4;mer") == ""


LD = '<script type=application/ld+json>{{"@type": "NewsArticle", "headline": "{}", "author": "{}"}}</script>'


@pytest.mark.parametrize(
    "head",
    [
        LD.format("Flood in Wulong", "Annelie Kr&auml;mer"),
        "<meta name=author content='Annelie Kr&amp;auml;mer'>",
        "<div class=author>Annelie Kr&amp;#xE4;mer</div>",
    ],
)
def test_a_declared_name_that_was_escaped_twice_is_the_name(head):
    assert read(head).author == "Annelie Kr\u00e4mer"


@pytest.mark.parametrize(
    ("declared", "heading", "title"),
    [
        ("Dam &#38; bridge", "Dam &amp; bridge", "Dam & bridge"),
        ("The dam&#8217;s end", "The dam\u2019s end", "The dam\u2019s end"),
        ("The dam&#8217;s end", "Town", "The dam\u2019s end"),
        ("How to write &amp; in HTML", "How to write &amp;amp; in HTML", "How to write &amp; in HTML"),
        ("How to write &amp; in HTML", "Town", "How to write &amp; in HTML"),
        ("How to write &#x26; in HTML", "Town", "How to write &#x26; in HTML"),
    ],
)
@pytest.mark.parametrize("by", ["ld", "og"])
def test_a_declared_title_loses_references_unless_it_may_be_about_them(by, declared, heading, title):
    og = f"<meta property=og:title content='{declared.replace('&', '&amp;')}'>"
    assert read(LD.format(declared, "Ann") if by == "ld" else og, "How to write the dam s end", heading).title == title


ROW = {"author": "&#x9648;&#x7F8E;&#x73B2;", "published": "2017-06-08T03:11:13Z"}


def test_the_author_of_a_feed_that_was_escaped_twice_is_the_pages():
    found = read("<meta name=author content='\u9648\u7f8e\u73b2'>")
    with_feed = with_row(found, orjson.dumps(ROW).decode(), html(""), WEB)
    assert (found.author, with_feed.author) == ("\u9648\u7f8e\u73b2", "\u9648\u7f8e\u73b2")
    more = with_row(found, orjson.dumps({"author": "&amp;#x9648;"}).decode(), html(""), WEB)
    assert more.author == "\u9648\u7f8e\u73b2"


@pytest.mark.parametrize(
    ("own", "said", "title"),
    [
        ("", "Dam &amp; bridge", "Dam &amp; bridge"),
        ("", "The dam&#8217;s end", "The dam\u2019s end"),
        ("", "How to write &lt;br&gt; in HTML", "How to write &lt;br&gt; in HTML"),
        ("Dam & bridge", "Dam &amp; bridge", "Dam & bridge"),
        ("Dam", "Dam &#38; bridge", "Dam & bridge"),
        ("Dam and bridge", "Dam &amp; bridge", "Dam and bridge"),
        ("Write &amp;", "Write &amp;", "Write &amp;"),
        ("Dam", "Dam &amp;amp; bridge", "Dam"),
    ],
)
def test_a_title_of_a_feed_with_references_counts_where_the_page_agrees(own, said, title):
    found = extract.Fields.of({"title": own, "content": "text"}, sureness={"title": "guess"}, missing=())
    assert with_row(found, orjson.dumps({"title": said}).decode(), html(""), WEB).title == title


def test_selectors_read_names_as_they_were_meant_and_titles_as_they_stand():
    definition = "name: b\ncontent: {title: 'jsonld:headline', author: 'jsonld:author', content: css:article}"
    page = f"{LD.format('Write &lt;b&gt;', 'Ren&eacute;e')}<h1>b</h1><article>{TEXT}</article>"
    found = extract.fields(html(page), sites.parse(definition, "b.yaml"))
    assert (found.title, found.author) == ("Write &lt;b&gt;", "Ren\u00e9e")

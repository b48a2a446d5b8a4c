"""One parse of a content page yields the same links and fields as a parse for each."""

import pytest

from crawler import extract, sites
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched
from crawler.extract import document

FORUM = sites.parse(
    """
name: forum
base: http://x.org
content: {title: "css:h1", content: {select: "css:.post", all: true, required: true}}
follow: {links: css:a, depth: 2}
""",
    "forum.yaml",
)
JSON = """
name: api
base: http://x.org
content: {type: json, title: json:title, content: json:text}
follow: {links: "json:links", depth: 2}
"""
THREAD = b"<h1>Flood</h1><p class=post>Water &amp; <b>mud</b><a href=/t/2>more</a><a href=mailto:x>us</a>"


def page(body, kind="text/html; charset=utf-8"):
    return Fetched("http://x.org/t/1", 200, kind, body)


def test_links_and_fields_come_from_one_parse(monkeypatch):
    parsed, parse = [], document.parse_html
    monkeypatch.setattr(document, "parse_html", lambda *arguments: parsed.append(arguments) or parse(*arguments))
    reading = extract.read(page(THREAD), FORUM, max_links=10)
    assert len(parsed) == 1
    assert reading.links == extract.followed(page(THREAD), FORUM)
    assert reading.links.urls == ("http://x.org/t/2",)
    assert reading.fields() == extract.fields(page(THREAD), FORUM)


def test_links_and_fields_of_json():
    body = b'{"title": "a", "text": "b", "links": ["/t/2"]}'
    reading = extract.read(page(body, "application/json"), sites.parse(JSON, "api.yaml"), max_links=10)
    assert reading.links.urls == ("http://x.org/t/2",)
    assert reading.fields().content == "b"


def test_links_are_only_looked_for_when_they_are_wanted():
    assert extract.read(page(THREAD), FORUM, max_links=0).links.urls == ()


def test_a_page_without_an_item_still_has_links():
    reading = extract.read(page(b"<a href=/t/2>more</a>"), FORUM, max_links=10)
    assert reading.links.urls == ("http://x.org/t/2",)
    with pytest.raises(ExtractError, match="no-content"):
        reading.fields()


def test_a_page_without_content_has_the_fields_and_words_that_it_has():
    body = b"<h1>Flood</h1><a href=/t/2>more</a><script>x</script>"
    reading = extract.read(page(body), FORUM, max_links=0, with_words=True)
    assert (reading.known.title, reading.words.split()) == ("Flood", ["Flood", "more"])
    assert extract.read(page(THREAD), FORUM, max_links=0, with_words=True).words == ""
    assert extract.read(page(b"\0\1", "image/png"), FORUM, max_links=0, with_words=True).known is None


def test_a_page_that_is_no_html_has_neither():
    with pytest.raises(ExtractError, match="not-html"):
        extract.read(page(b"%PDF-1.7", "application/pdf"), FORUM, max_links=10)

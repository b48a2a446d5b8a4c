"""Fields that a site file takes from what pages declare about themselves: JSON-LD, microdata and `<meta>`."""

import pytest
from extract.pages import html

from crawler import extract, sites
from crawler.base.errors import InputError

GRAPH = """<script type="application/ld+json">{"@graph": [
 {"@type": "Organization", "name": "City News", "logo": "/logo.png"},
 {"@type": ["NewsArticle"], "headline": "Flood", "datePublished": "2026-01-02T03:04:05+08:00", "wordCount": 7,
  "commentCount": 0,
  "articleBody": "One &amp; <b>two</b><br>three", "isAccessibleForFree": false,
  "author": [{"@id": "#ann"}, {"@type": "Person", "name": "Li Si"}], "publisher": {"@id": "#nobody"},
  "image": [{"@type": "ImageObject", "contentUrl": "/a.png"}, "b.png", {"@id": "#missing"}]},
 {"@type": "Person", "@id": "#ann"}, {"@type": "Person", "@id": "#ann", "name": "Ann Lee"},
 {"@type": "Event", "name": "Meeting", "location": {"name": "Wulong"}}]}</script>"""
METAS = """<meta property="og:title" content=" Flood  in Wulong "><meta name="Author" content="Ann Lee">
<meta property="og:image" content="/1.png"><meta property="og:image" content="/2.png">
<meta name=keywords itemprop=keywords content="flood"><meta name=empty content=" ">"""
MICRODATA = """<div itemscope itemtype="https://schema.org/Organization"><b itemprop=name>City News</b></div>
<article itemscope itemtype="http://schema.org/BlogPosting"><h1 itemprop=headline>Flood</h1>
<p itemprop=author itemscope itemtype="http://schema.org/Person"><b itemprop=name>Ann Lee</b></p>
<time itemprop=datePublished datetime=2026-01-02T03:04:05Z>Friday</time><img itemprop=image src=a.png></article>"""


def read(page, **content):
    return extract.fields(html(page), sites.Site.from_definition({"name": "s", "content": content}))


def extra(page, select, **rule):
    """Returns what a rule of `extra` finds; None for nothing."""
    found = read(f"<h1>t</h1>{page}", title="css:h1", extra={"value": {"select": select, **rule}})
    return found.extra.get("value")


def test_an_article_is_read_by_its_json_ld():
    found = read(
        GRAPH,
        title="jsonld:headline",
        published="jsonld:datePublished",
        author={"select": "jsonld:author", "all": True},
        content={"select": "jsonld:articleBody", "html": True},
        images="jsonld:image",
        extra={"words": "jsonld:wordCount"},
    )
    assert (found.title, found.published, found.author) == ("Flood", "2026-01-01T19:04:05Z", "Ann Lee, Li Si")
    assert (found.content, found.extra) == ("One & two\nthree", {"words": 7})
    assert found.images == ("http://127.0.0.1:8800/a.png", "http://127.0.0.1:8800/thread/b.png")


@pytest.mark.parametrize(
    ("page", "select", "expected"),
    [
        (GRAPH, "jsonld:[author][].name", "Ann Lee"),
        (GRAPH, "jsonld:name", "City News"),  # the article has none
        (GRAPH, "jsonld:\"@type\" == 'Event' && location.name", "Wulong"),
        (GRAPH, "jsonld:commentCount", 0),
        (GRAPH, "jsonld:publisher", None),
        (GRAPH, "jsonld:nothing.at.all", None),
        (GRAPH, "jsonld:length(wordCount)", None),  # of a number
        ("<script type=application/ld+json>{</script>", "jsonld:name", None),
        ("", "jsonld:name", None),
        (METAS, "meta:og:title", "Flood in Wulong"),
        (METAS, "meta:author", "Ann Lee"),
        (METAS, "meta:keywords", "flood"),
        (METAS, "meta:empty", None),
        (METAS, "meta:other", None),
        (MICRODATA, "microdata:author.name", "Ann Lee"),
        (MICRODATA, "microdata:\"@type\" == 'Organization' && name", "City News"),
        (MICRODATA, "microdata:dateModified", None),
    ],
)
def test_what_a_page_declares_is_selected(page, select, expected):
    assert extra(page, select) == expected


def test_of_one_object_all_matches_are_taken():
    assert extra(GRAPH, "jsonld:author[].name", all=True) == ["Ann Lee", "Li Si"]
    assert extra(GRAPH, "jsonld:author", all=True, pattern="^A.*") == ["Ann Lee"]
    assert read(METAS, title="meta:og:title", images="meta:og:image").images == (
        "http://127.0.0.1:8800/1.png",
        "http://127.0.0.1:8800/2.png",
    )


def test_an_article_is_read_by_its_microdata():
    found = read(
        MICRODATA,
        title="microdata:headline",
        published="microdata:datePublished",
        author="microdata:author",
        images="microdata:image",
    )
    assert (found.title, found.author, found.published) == ("Flood", "Ann Lee", "2026-01-02T03:04:05Z")
    assert found.images == ("http://127.0.0.1:8800/thread/a.png",)


@pytest.mark.parametrize(
    "content",
    [
        {"title": "jsonld:author.[", "content": "css:p"},
        {"title": "meta:"},
        {"type": "json", "title": "jsonld:name"},
        {"type": "text", "title": "meta:author"},
        {"title": {"select": "css:h1", "remove": ["jsonld:name"]}},
        {"title": "css:h1", "comments": {"each": "microdata:comment", "text": "css:p"}},
        {"title": "css:h1", "comments": {"each": "css:li", "text": "microdata:text"}},
    ],
)
def test_declarations_are_refused_where_there_are_none(content):
    with pytest.raises(InputError, match="expected"):
        sites.Site.from_definition({"name": "s", "content": content})


def test_a_second_request_may_be_made_of_what_a_page_declares():
    joined = {"url": "{base}/u/{user}", "values": {"user": "jsonld:author"}, "author": "meta:author"}
    content = {"title": "css:h1", "joined": [joined]}
    site = sites.Site.from_definition({"name": "s", "base": "http://127.0.0.1:8800", "content": content})
    assert extract.fields(html(f"<h1>t</h1>{GRAPH}"), site).joined == ("http://127.0.0.1:8800/u/Ann%20Lee",)

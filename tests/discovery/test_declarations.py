"""Searches that a site declares, by OpenSearch or schema.org."""

import json

import pytest
from discovery.made_up import page

from crawler.base.models import Fetched
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.search.declarations import by_action, by_description

URL = "https://site.test/opensearch.xml"


def read(template, more="", **attributes):
    said = "".join(f' {name}="{value}"' for name, value in {"type": "text/html", **attributes}.items())
    text = template.replace("&", "&amp;")
    body = f'<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">{more}<Url{said} template="{text}"/>'
    return by_description(f"{body}</OpenSearchDescription>".encode(), URL)


@pytest.mark.parametrize(
    ("template", "attributes", "url", "paging"),
    [
        ("https://site.test/?q={searchTerms}", {}, "https://site.test/?q={query}", {}),
        ("https://site.test/find/{searchTerms}", {}, "https://site.test/find/{query}", {}),
        (
            "https://site.test/?q={searchTerms}&p={startPage?}",
            {},
            "https://site.test/?q={query}&p={page}",
            {"kind": "page"},
        ),
        (
            "https://site.test/?q={searchTerms}&p={startPage}",
            {"pageOffset": "0"},
            "https://site.test/?q={query}&p={page}",
            {"kind": "page", "first": 0},
        ),
        (
            "https://site.test/?q={searchTerms}&i={startIndex}&n={count}",
            {},
            "https://site.test/?q={query}&i={offset}&n={per_page}",
            {"kind": "offset", "first": 1},
        ),
        (
            "https://site.test/?q={searchTerms}&i={startIndex?}",
            {"indexOffset": "0", "type": "application/xhtml+xml"},
            "https://site.test/?q={query}&i={offset}",
            {"kind": "offset"},
        ),
        (
            "https://site.test/?q=in:news+{searchTerms}&l={language?}&x={geo:lat?}&fixed=1",
            {},
            "https://site.test/?q=in:news+{query}&fixed=1",
            {},
        ),
        (
            "https://site.test/{language}/?q={searchTerms}&e={inputEncoding}",
            {},
            "https://site.test/*/?q={query}&e=utf-8",
            {},
        ),
    ],
)
def test_a_template_becomes_the_search_of_a_site_file(template, attributes, url, paging):
    found = read(template, **attributes)
    assert (found.url, found.paging, found.encoding) == (url, paging, "utf-8")


@pytest.mark.parametrize(
    ("named", "encoding"),
    [(["GBK"], "gbk"), (["GBK", "UTF-8"], "utf-8"), (["of-old", "big5"], "big5"), (["none"], "utf-8")],
)
def test_words_are_sent_in_an_encoding_that_the_site_reads(named, encoding):
    more = "".join(f"<InputEncoding>{name}</InputEncoding>" for name in named)
    assert read("https://site.test/?q={searchTerms}", more).encoding == encoding


def test_what_a_site_file_cannot_say_is_no_search():
    assert read("https://site.test/?q={searchTerms}&near={geo:lat}") is None
    assert read("https://site.test/?q={searchTerms}&x={not this}") is None
    assert read("https://site.test/?q=fixed") is None
    assert read("javascript:{searchTerms}") is None
    assert read("https://site.test/?q={searchTerms}", rel="suggestions") is None
    assert read("https://site.test/?q={searchTerms}", type="application/json") is None
    assert by_description(b"<html>", URL) is None


def action(target, **more):
    return {"@type": "SearchAction", "target": target, **more}


@pytest.mark.parametrize(
    "declared",
    [
        {"@type": "WebSite", "potentialAction": action("https://site.test/?q={words}")},
        {
            "@graph": [
                {"@type": "Organization"},
                {"potentialAction": [action({"urlTemplate": "https://site.test/?q={x}"})]},
            ]
        },
        [
            {"potentialAction": action("android-app://x/{words}")},
            {"potentialAction": action("https://site.test/?q={y}")},
        ],
        {
            "mainEntity": {"offers": [{"sku": at} for at in range(3_000)]},
            "isPartOf": action("https://site.test/?q={words}"),
        },
        {"description": "x" * 300_000, "potentialAction": action("https://site.test/?q={words}")},
    ],
    ids=["site", "graph", "second", "shop", "long"],
)
def test_a_search_action_is_found_wherever_the_page_declares_it(declared):
    head = f"<script type='Application/LD+JSON'>{json.dumps(declared)}</script>"
    parsed = ParsedPage(Fetched("https://site.test/", 200, "text/html", page("Home", "<p>Text", head).encode()))
    assert by_action(parsed).url == "https://site.test/?q={query}"


def test_what_declares_no_search_has_no_action():
    for text in ("{", "[]", '{"@type": "SearchAction"}', '{"@type": "SearchAction", "target": [1]}', "[" * 2_000):
        head = f"<script type='application/ld+json'>{text}</script>"
        parsed = ParsedPage(Fetched("https://site.test/", 200, "text/html", page("Home", "<p>Text", head).encode()))
        assert by_action(parsed) is None

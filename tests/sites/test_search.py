"""Words arrive at a site's search as they were written."""

import json
from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest

from crawler import sites
from testbed.forum.routes import Forum, Request

RESULTS = "results: {links: css:a}\n"
HOSTILE = [
    'say "no"',
    "it's",
    "a&b=c",
    "#hash",
    "50%",
    "%E6%B4%AA",
    "a+b c",
    "line\nbreak",
    "tab\there",
    "\r\n\r\nGET / HTTP/1.1",
    "🌊 flood 🚒",
    "洪水 救援",
    "{page}",
    "{}",
    "{{query}}",
    "{0.__class__}",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "a/b?c",
    "x" * 200,
    "水" * 200,
    "\\",
    ";|$()`",
    "e\u0301",
    "\u202eabc",
    " ",
]


def site(search, results=RESULTS):
    return sites.parse(f"name: board\nbase: http://127.0.0.1:8800\nsearch: {search}\n{results}", "board.yaml")


def first(search, words, **options):
    settings = {"pages": 1, "per_page": 20, "sort": "newest", "since": None} | options
    return site(search).search_targets(words, **settings)[0]


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_arrive_in_a_url(word):
    target = first('{url: "{base}/search?q={query}&page={page}&x=1", paging: {kind: page}}', [word, "b"])
    assert parse_qs(urlsplit(target.url).query, strict_parsing=True) == {"q": [f"{word} b"], "page": ["1"], "x": ["1"]}
    assert target.url.isascii()
    assert "\n" not in target.url


@pytest.fixture(scope="module")
def forum():
    return Forum()


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_arrive_at_the_forum(forum, word):
    target = sites.load("demo_forum").search_targets([word], pages=1, per_page=20, sort="newest")[0]
    parts = urlsplit(target.url)
    forum.respond(Request(parts.path, parts.query, "http://127.0.0.1:8800"))
    assert json.loads(forum.respond(Request("/echo/last", "", "")).body)["q"] == word


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_arrive_in_a_json_body(word):
    target = first('{url: "{base}/api", body: {q: "{query}", deep: {list: ["{query}!", "{per_page}"]}}}', [word])
    assert (target.url, target.method) == ("http://127.0.0.1:8800/api", "POST")
    assert json.loads(target.body) == {"q": word, "deep": {"list": [f"{word}!", 20]}}


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_arrive_in_a_form(word):
    target = first('{url: "{base}/find", body_type: form, body: {q: "{query}", n: "{per_page}"}}', [word])
    assert parse_qs(target.body, strict_parsing=True) == {"q": [word], "n": ["20"]}


def test_a_gbk_site_gets_its_query_in_gbk(forum):
    search = '{url: "{base}/gbk/search?q={query}&page={page}", encoding: gb2312, paging: {kind: page}}'
    target = first(search, ["洪水", "镕"])  # the second isn't in GB 2312, only in GBK
    assert target.url == "http://127.0.0.1:8800/gbk/search?q=%BA%E9%CB%AE%20%E9F&page=1"
    assert parse_qs(urlsplit(target.url).query, encoding="gbk")["q"] == ["洪水 镕"]
    forum.respond(Request("/gbk/search", urlsplit(target.url).query, ""))
    assert json.loads(forum.respond(Request("/echo/last", "", "")).body)["q"] == "洪水 镕"


def test_the_error_for_a_word_outside_the_encoding_names_it():
    with pytest.raises(sites.SiteError, match="site board searches in gbk, which can't write '🌊'"):
        first('{url: "{base}/?q={query}", encoding: gbk}', ["洪水", "🌊"])


def test_a_query_that_is_too_long_for_a_url_is_refused():
    with pytest.raises(sites.SiteError, match="site board: URL of"):
        first('{url: "{base}/?q={query}"}', ["水" * 5_000])


def test_words_are_joined_as_the_site_wants():
    assert first('{url: "{base}/?q={query}", join: " AND "}', ["a", "b"]).url.endswith("?q=a%20AND%20b")


def test_sort_and_since_are_translated_or_left_out():
    search = '{url: "{base}/?q={query}&s={sort}&from={since}", sort: {newest: new}, since_format: "%d.%m.%Y"}'
    assert first(search, ["a"], since=date(2026, 11, 1)).url.endswith("/?q=a&s=new&from=01.11.2026")
    assert first(search, ["a"], sort="relevance").url.endswith("/?q=a")


def test_since_as_epoch_is_midnight_at_the_site():
    text = (
        "name: b\ntimezone: Asia/Shanghai\n"
        'search: {url: "http://x.org/", since_format: epoch, body: {q: "{query}", t: "{since}"}}\n'
    )
    board = sites.parse(text + RESULTS, "b.yaml")
    target = board.search_targets(["a"], pages=1, per_page=1, sort="newest", since=date(2026, 11, 1))[0]
    assert json.loads(target.body) == {"q": "a", "t": 1793462400}
    assert board.request_content_type == "application/json"


def test_the_error_for_a_missing_base_says_how_to_give_one():
    with pytest.raises(sites.SiteError, match=r"site mediawiki needs a base: \{use: mediawiki"):
        sites.load("mediawiki").search_targets(["a"], pages=1, per_page=20, sort="newest")

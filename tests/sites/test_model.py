"""Site files are accepted, or refused with the line, the key and what was expected."""

import json

import pytest

from crawler import sites
from crawler.base.errors import InputError
from crawler.base.models import Politeness

GOOD = """\
name: board
base: https://board.example.org/forum/
timezone: Asia/Shanghai
search:
  url: "{base}/s?q={query}&page={page}&size={per_page}&o={sort}&from={since}"
  paging: {kind: page}
  sort: {newest: new, relevance: rel}
  since_format: "%Y-%m-%d"
results:
  links: css:.r a
  empty: "text:No results"
content:
  title: css:h1
  content: {select: "css:.post", all: true, remove: ["css:.sig"]}
  extra:
    replies: xpath:count(//p)
politeness: {delay: 0.5, concurrency: 2, burst: 3}
drop_parameters: [sid]
"""

STORED = {"name": "x", "search": {"url": "http://a/{query}"}, "results": {"links": "css:a"}}

BAD = [
    ("name: board", "name: Board/x", 1, "name"),
    ("timezone: Asia/Shanghai", "timezone: Asia/Nowhere", 3, "timezone"),
    ("timezone: Asia/Shanghai", "timezone: ../../etc/passwd", 3, "timezone"),
    ("https://board", "ftp://board", 2, "base"),
    ("{page}", "{pag}", 5, "search.url", r"only the placeholders \{base\}, \{cursor\}.*, not \{pag\}"),
    ("?q={query}", "?q={query", 5, "search.url"),
    ("?q={query}", "?q=x", 9, "results", r"expected \{query\} in search.url or search.body; or match, or every: true"),
    ("  empty:", "  every: true\n  empty:", 11, "results.every", "a list, without"),
    ("{base}/s", "//s", 5, "search.url"),
    (
        "{base}/s",
        "{base}/#/s",
        5,
        "search.url",
        "expected a URL without #/ and #!, or render.results: always; only a s",
    ),
    ("kind: page", "kind: offset", 5, "search.url", r"expected paging: \{kind: page\} beside \{page\}$"),
    (
        "kind: page",
        "kind: pages",
        6,
        "search.paging.kind",
        "got 'pages', expected 'page', 'offset', 'cursor', 'link' or 'index'$",
    ),
    ("kind: page", "first: 0", 6, "search.paging.kind", "got nothing, expected this key$"),
    (
        "kind: page",
        "kind: page, frist: 0",
        6,
        "search.paging.frist",
        r"expected first \(did you mean it\?\); keys here: first, kind, step$",
    ),
    ("{kind: page}", "page", 6, "search.paging", "got 'page', expected a mapping, whose keys may be .*kind"),
    ("&page={page}", "", 4, "search", r"expected \{page\} in url or body, for its paging$"),
    ("newest: new", "newst: new", 7, "search.sort.newst"),
    ("  sort: {newest: new, relevance: rel}\n", "", 5, "search.url"),
    ("%Y-%m-%d", "yyyy", 8, "search.since_format"),
    ("css:.r a", "json:items", 10, "results.links"),
    ("css:.r a", ".r a", 10, "results.links"),
    ("text:No results", "text:", 11, "results.empty"),
    ("title:", "titel:", 13, "content.titel"),
    ("css:h1", "json:title", 13, "content.title"),
    ("css:h1", "{select: auto, pattern: a}", 13, "content.title", "nothing but required and first_page_only beside"),
    ("title: css:h1", "videos: auto", 13, "content.videos", "css:.*on pages of type html"),
    ("xpath:count(//p)", "auto", 15, "content.extra", "css:.*on pages of type html"),
    ("title: css:h1", "next_page: auto", 13, "content.next_page", "css:.*on pages of type html"),
    (
        "title: css:h1",
        "comments: {each: auto, author: css:b}",
        13,
        "content.comments",
        "nothing but skip_first and max",
    ),
    ("title: css:h1", "comments: css:li", 13, "content.comments", "text beside each, unless that is auto"),
    ("title: css:h1", "comments: {each: css:li, text: auto}", 13, "content.comments", "css:.*on pages of type html"),
    ("css:.sig", "json:sig", 14, "content.content.remove"),
    ("all: true", "all: yes please", 14, "content.content.all"),
    ("xpath:count(//p)", "json:length(posts)", 15, "content.extra"),
    ("replies:", "Replies!:", 16, "content.extra.Replies!"),
    ("delay: 0.5", "delay: -1", 17, "politeness.delay"),
    (
        "burst: 3",
        "brust: 3",
        17,
        "politeness.brust",
        r"expected burst \(did you mean it\?\); keys here: burst, concurrency, delay$",
    ),
    ("[sid]", "sid", 18, "drop_parameters"),
    ("drop_parameters: [sid]", "identity: strict", 18, "identity", "expected 'folded' or 'exact'$"),
]


def test_a_good_file_becomes_a_site():
    site = sites.parse(GOOD, "board.yaml")
    assert site.name == "board"
    assert site.base == "https://board.example.org/forum"
    assert site.politeness == Politeness(0.5, 2, 3)
    assert site.drop == {"sid"}
    assert not site.needs_base


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "expected"),
    [(old, new, line, key, *(expected or ["got "])) for old, new, line, key, *expected in BAD],
    ids=[new.strip() or old for old, new, *_ in BAD],
)
def test_the_error_of_a_bad_file_names_line_and_key_and_what_was_expected(old, new, line, key, expected):
    assert old in GOOD
    with pytest.raises(InputError, match=expected) as caught:
        sites.parse(GOOD.replace(old, new, 1), "board.yaml")
    assert (caught.value.line, caught.value.key) == (line, key), str(caught.value)
    assert str(caught.value).startswith(f"board.yaml:{line}: {key}: got ")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("%Y %Q", "'Q' is a bad directive"),
        ("%Q", "with the year"),
        ("%d/%d/%Y", "redefinition"),
        ("%-d.%m.%Y", "'-' is a bad directive"),
        ("%Y 100%", "stray %"),
        ("%d %B", "with the year"),
    ],
)
def test_a_format_that_reads_no_date_is_refused(written, expected):
    bad = GOOD.replace("title: css:h1", f'published: {{select: "css:time", format: "{written}"}}')
    with pytest.raises(InputError, match=rf"published\.format: got .*, expected a strptime format.*{expected}"):
        sites.parse(bad, "board.yaml")


@pytest.mark.parametrize("section", ["search", "results", "content", "politeness", "follow", "search.paging"])
def test_each_section_names_its_keys_where_it_has_another(section):
    value = {"zzz": 1}
    for name in reversed(section.split(".")):
        value = {name: value}
    expected = r"(zzz: got 'zzz', expected one of \w|kind: got nothing, expected )"
    with pytest.raises(InputError, match=rf"{section}\.{expected}"):
        sites.parse(json.dumps({"name": "a"} | value), "a.yaml")


def test_a_definition_is_plain_json_and_comes_back_equal():
    site = sites.parse(GOOD, "board.yaml")
    stored = json.loads(json.dumps(site.definition()))
    assert sites.Site.from_definition(stored) == site
    assert sites.Site.from_definition(stored).definition() == site.definition()


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        {},
        {"name": "x", "search": {"url": "http://a/{query}"}},
        {"name": "x", "results": {"links": "css:a"}},
        STORED | {"results": {"links": "css:["}},
        STORED | {"search": {"url": "http://a/{query.__class__}"}},
        STORED | {"name": "../x"},
        STORED | {"results": {"links": "css:" + "a " * 1000}},
        STORED | {"pickle": "x"},
    ],
)
def test_a_definition_from_redis_is_not_trusted(stored):
    with pytest.raises(InputError, match="definition of site"):
        sites.Site.from_definition(stored)


def test_a_site_without_search_only_takes_offered_pages():
    site = sites.parse("name: x\n", "x.yaml")
    assert not site.searchable
    assert not site.needs_base
    assert sites.Site.from_definition(site.definition()) == site
    with pytest.raises(sites.SiteError, match="site x can't be searched"):
        site.search_targets(["flood"], pages=1, per_page=20, sort="newest")
    assert sites.load("demo_forum").searchable


def test_a_site_may_get_another_name_and_base():
    wiki = sites.load("mediawiki")
    assert wiki.needs_base
    city = wiki.named("city-wiki", "https://wiki.example.org/w/")
    assert (city.name, city.base, city.needs_base) == ("city-wiki", "https://wiki.example.org/w", False)
    assert wiki.base == ""
    assert wiki.named("city-wiki", "").needs_base


@pytest.mark.parametrize(
    "more",
    [
        {"content": {"title": "css:h1", "fetch": {"pattern": "/(?P<id>1)", "url": "{base}/api/{id}"}}},
        {
            "content": {
                "title": "css:h1",
                "joined": [{"url": "{base}/{u}", "values": {"u": "css:a"}, "author": "css:b"}],
            }
        },
        {"render": {"content": {"when": "always", "steps": [{"goto": "{base}/all"}]}}},
        {"render": {"results": {"when": "always", "steps": [{"goto": "{base}/all"}]}}},
    ],
)
def test_a_site_needs_a_base_wherever_it_is_named(more):
    assert sites.Site.from_definition(STORED | more).needs_base
    assert not sites.Site.from_definition(STORED | more | {"base": "http://a"}).needs_base


@pytest.mark.parametrize(
    "base", ["ftp://x.org", "x.org", "https://x.org/?a=1", "javascript:alert(1)", "https://x.org/#a"]
)
def test_a_base_is_an_http_url(base):
    with pytest.raises(InputError, match="base"):
        sites.load("mediawiki").named("city-wiki", base)


def test_parser_and_content_exclude_each_other():
    with pytest.raises(InputError, match="either parser or content"):
        sites.parse(GOOD + "parser: package.module:function\n", "board.yaml")

"""Feeds of each format, broken and hostile ones, become the same value."""

import resource

import orjson
import pytest
from extract.pages import html, reason

from crawler.extract.feeds import MAX_ENTRIES, MAX_FIELD_CHARACTERS, parse_feed

ENTRY = "<item><title>a</title><link>http://x.org/1</link></item>"
ONE = [{"title": "a", "link": "http://x.org/1"}]
ATOM = "<feed xmlns='http://www.w3.org/2005/Atom'>"
PREFIXED = "<a:feed xmlns:a='http://www.w3.org/2005/Atom'>"
NEEDS_MIB = 200  # that a feed of 10 MB may take


def read(body, content_type="application/rss+xml"):
    return parse_feed(html(body, content_type))


@pytest.mark.parametrize(
    "body",
    [
        f"<rss><channel>{ENTRY}</channel></rss>",
        f"<rss><channel>{ENTRY}",  # cut off
        f"<br/>Warning: x in y.php\n<?xml version='1.0'?><rss><channel>{ENTRY}</channel></rss>",
        f"<rss>\x0b<channel>{ENTRY}</b></channel></rss>",
        f"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><channel/>{ENTRY}</rdf:RDF>",
        f"{ATOM}<entry><title>a</title><link rel='self' href='/s'/><link href='http://x.org/1'/></entry></feed>",
        f"{PREFIXED}<a:entry><a:title>a</a:title><a:link rel='alternate' href='http://x.org/1'/></a:entry></a:feed>",
        '{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "http://x.org/1", "title": "a"}, 5]}',
    ],
)
@pytest.mark.parametrize("content_type", ["application/rss+xml", "text/html", ""])
def test_each_format_gives_the_same_entries(body, content_type):
    assert read(body, content_type) == {"next": None, "entries": ONE}


def test_fields_are_those_of_the_entry_itself():
    body = (
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>feed</title><link rel='next' href='?2'/><entry>"
        "<author><name>li</name></author><source><title>other</title></source><title>own</title>"
        "<published>2026-11-20</published></entry></feed>"
    )
    assert read(body) == {"next": "?2", "entries": [{"author": "li", "title": "own", "published": "2026-11-20"}]}


@pytest.mark.parametrize(
    ("entry", "fields"),
    [
        ("<title><![CDATA[Caf&eacute; & Bar]]></title>", {"title": "Café & Bar"}),
        ("<title>AT&amp;amp;T &amp;lt;3</title>", {"title": "AT&T <3"}),
        ("<title>Die &lt;b&gt;Flut&lt;/b&gt;</title>", {"title": "Die Flut"}),
        ("<title>own</title><media:title>film</media:title>", {"title": "own"}),
        ("<media:group><media:title>film</media:title></media:group><dc:title>film</dc:title>", {"title": "film"}),
        ("<guid isPermaLink='false'>http://x.org/1</guid>", {"id": "http://x.org/1"}),
        ("<guid>http://x.org/1</guid>", {"id": "http://x.org/1", "link": "http://x.org/1"}),
        ("<content:encoded><![CDATA[<p>all of it</p>]]></content:encoded>", {"content": "all of it"}),
        ("<source><title>other</title></source><dc:creator>li</dc:creator>", {"author": "li"}),
        ("<link xml:base='/b/'>c</link>", {"link": "http://127.0.0.1:8800/b/c"}),
        ("<media:group><media:description>a film</media:description></media:group>", {"summary": "a film"}),
        ("<description>don&#146;t</description>", {"summary": "don\u2019t"}),  # Windows' apostrophe
        ("<body xmlns='http://www.w3.org/1999/xhtml'><p>all of it</p></body>", {"content": "all of it"}),
        ("<fullitem>&lt;p&gt;all of it&lt;/p&gt;</fullitem>", {"content": "all of it"}),
    ],
)
def test_an_entry_is_read_as_people_read_it(entry, fields):
    namespaces = (
        "xmlns:media='http://search.yahoo.com/mrss/' xmlns:dc='http://purl.org/dc/elements/1.1/' "
        "xmlns:content='http://purl.org/rss/1.0/modules/content/'"
    )
    for declared in (namespaces, ""):  # some feeds forget to declare what they use
        assert read(f"<rss {declared}><channel><item>{entry}</item></channel></rss>")["entries"] == [fields]


def test_a_module_s_words_are_not_the_feed_s_own_however_its_namespace_is_called():
    entry = "<x:item><m:title>other</m:title><x:title>own</x:title><m:link>http://y.org</m:link></x:item>"
    for own in ("http://purl.org/rss/1.0/", "http://made.up/"):
        body = f"<rss xmlns:x='{own}' xmlns:m='http://made.up/rss/module/'><channel>{entry}</channel></rss>"
        assert read(body)["entries"] == [{"title": "own"}]


def test_html_beside_elements_is_read_as_it_says():
    content = "<content type='html'><div xmlns='http://www.w3.org/1999/xhtml'>a &lt;b&gt;c&lt;/b&gt;</div></content>"
    assert read(f"{ATOM}<entry>{content}</entry></feed>")["entries"] == [{"content": "a c"}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_needs_no_mark(encoding):
    body = f"<?xml version='1.0' encoding='utf-16'?><rss><channel>{ENTRY}</channel></rss>".encode(encoding)
    assert read(body)["entries"] == ONE


def test_links_are_relative_to_the_bases_around_them():
    body = (
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://y.org/a/'><link rel='next' href='?2'/>"
        "<entry xml:base='b/'><link href='c'/></entry><entry><link href='d'/></entry></feed>"
    )
    links = [{"link": "http://y.org/a/b/c"}, {"link": "http://y.org/a/d"}]
    assert read(body) == {"next": "http://y.org/a/?2", "entries": links}


def test_markup_of_the_feed_itself_escapes_nothing():
    xhtml = "<title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>a <b>&lt;blink&gt;</b></div></title>"
    assert read(f"{ATOM}<entry>{xhtml}</entry></feed>")["entries"] == [{"title": "a <blink>"}]


def test_an_ampersand_that_begins_no_entity_is_one():
    body = "<rss><item><link>http://x.org/?a=1&b=2</link><title><![CDATA[c&d]]> &amp; &nbsp;</title></item></rss>"
    assert read(body)["entries"] == [{"link": "http://x.org/?a=1&b=2", "title": "c&d &"}]


def test_entities_that_a_feed_defines_stay_names():
    levels = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 30))
    files = "<!ENTITY file SYSTEM 'file:///etc/passwd'>"
    body = f"<!DOCTYPE rss [<!ENTITY e0 'x'>{levels}{files}]><rss><item><title>&e29; &file;</title></item></rss>"
    assert read(body)["entries"] == [{"title": "&e29; &file;"}]


@pytest.mark.parametrize(
    "body",
    [
        "<rss>" + "<item>" * 60_000,
        "<rss>" + "<a>" * 60_000,
        "<rss><item><title>" + "x" * 2_000_000,
        "<rss><item><title>" + "<b>x</b>" * 60_000,
        "<rss><item><description>" + ("x" * 9_000 + "<b/>") * 999 + "<b/>" * 50_000,
        "<rss><item><author>" + " <name/>" * 60_000,
        "<rss " + " ".join(f'a{n}=""' for n in range(200_000)) + ">",
        "<rss>" + "&" * 60_000,
        "<rss>" + "<![CDATA[" * 60_000,
    ],
    ids=["items", "depth", "text", "pieces", "long pieces", "names", "attributes", "ampersands", "unclosed"],
)
def test_a_hostile_feed_takes_little(body):
    before = resource.getrusage(resource.RUSAGE_SELF)
    assert len(read(body)["entries"]) <= MAX_ENTRIES
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 5
    assert (after.ru_maxrss - before.ru_maxrss) / 1024 < NEEDS_MIB


def test_what_is_no_feed_says_so():
    assert reason(read, "<html><body>Log in</body></html>") == "not-feed"
    assert reason(read, "") == "not-feed"
    assert reason(read, orjson.dumps({"a": 1})) == "not-feed"
    assert reason(read, "{broken") == "not-feed"
    assert reason(read, "<rss>" + "<b>" * 1_000_000) == "too-many-tags"
    assert reason(read, "<rss>" + "&" * 9_000_000) == "too-many-tags"
    assert reason(read, "<rss>" + " " * 10_000_000) == "too-large"


def test_a_field_is_as_long_as_one_may_be_however_many_pieces_it_has():
    (entry,) = read("<rss><item><description>" + ("x" * 9_000 + "<b>y</b>") * 999 + "</description>")["entries"]
    assert len(entry["summary"]) == MAX_FIELD_CHARACTERS


@pytest.mark.parametrize(
    ("item", "entry"),
    [
        (
            {"id": 5, "url": "/a", "authors": [{"name": "Ann"}, {"name": "Bob"}]},
            {"link": "/a", "id": "5", "author": "Ann"},
        ),
        (
            {"external_url": "/b", "author": {"name": "Ann"}, "summary": "s", "content_text": "t"},
            {"link": "/b", "author": "Ann", "summary": "s", "content": "t"},
        ),
        ({"url": "/c", "content_html": "<p>h</p>", "summary": ""}, {"link": "/c", "summary": "h", "content": "h"}),
        ({"url": ["/d"], "authors": ["Ann"], "id": True}, {}),
    ],
)
def test_of_a_json_feed_each_field_is_read_by_any_of_its_names(item, entry):
    assert read(orjson.dumps({"items": [item]}).decode())["entries"] == [entry]

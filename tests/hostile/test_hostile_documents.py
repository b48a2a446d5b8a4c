"""Documents made to do harm: each ends as its line says, the same each time, in a process that may take only so much.

All of them are read in one child, under a limit of memory that would kill it, each within a limit of CPU time that is
some ten times what it takes on an idle machine. What is refused is refused by a count, not by a clock.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from crawler import extract, sites
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched
from crawler.extract.encoding import decode

MEMORY_BYTES = 1_500_000_000  # of addresses; Python with all its libraries has 500 MB of them
CPU_SECONDS = 10
POST = "<p class=post>text "
MARKUP = """
name: board
search: {url: "http://x.test/?q={query}"}
results: {links: "css:.r a, .post a", empty: css:.none}
content:
  title: css:h1
  author: css:.author
  published: {select: css:time, all: true}
  content: {select: css:.post, all: true, required: true, remove: ["css:.sig, .ad", "css:.post > i"]}
  images: css:.post img
  next_page: css:a.next
  extra: {tags: {select: "css:.tag::text", all: true}, count: xpath:count(//b), far: xpath:number(//u)}
follow: {links: css:.post a, per_page: 50}
"""
ANSWER = """
name: api
search: {url: "http://x.test/?q={query}"}
results: {type: json, links: "json:items[].url"}
content:
  type: json
  title: json:title
  published: json:date
  content: {select: json:html, html: true, required: true}
  images: {select: json:html, html: true}
  extra: {n: json:n, all: {select: json:list, all: true}, text: json:to_string(deep)}
follow: {links: "json:links[]"}
"""
WEB = "name: web"
MEGA = 1_000_000
CANARY = os.environ.get("CANARY", "http://127.0.0.1:1")  # a server that nobody may ask


def filled(unit, size=9_900_000, head=POST):
    """Returns a page of `size` bytes."""
    return head + unit * ((size - len(head)) // len(unit.encode()))


def entities(kind):
    """Returns a billion laughs, as a DTD of HTML or XHTML; two more are a file and a page of the canary's."""
    chain = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    head = '<?xml version="1.0"?>' if kind != "html" else ""
    files = f'<!ENTITY f SYSTEM "file:///etc/passwd"><!ENTITY w SYSTEM "{CANARY}/w">'
    root = (
        f'<!DOCTYPE html SYSTEM "{CANARY}/dtd" [<!ENTITY l0 "lol">{chain}{files}<!ENTITY % p SYSTEM "{CANARY}/p">%p;]>'
    )
    return f"{head}{root}<html><body>{POST}&l9;&f;&w;</p></body></html>"


def nested(opening, closing, depth, times):
    return (opening * depth + "x" + closing * depth) * times


CHAINED = "&" + "amp;" * MEGA
MANY_ATTRIBUTES = "".join(f" a{n}='>'" for n in range(100_000))
HIDDEN_ATTRIBUTES = "<!--<p a='--><p" + MANY_ATTRIBUTES + ">"

# name: (content type, body, what the board's selectors make of it: a reason, or the length of the text)
MARKUP_CASES = {
    "100,000 nested div": ("<div>" * 100_000 + POST, "no-content"),
    "600 nested b, unclosed": (POST + "<b>" * 600 + "end", 8),
    "200 nested div, 100,000 images": (filled("<img src=a>", 1_200_000, "<div class=post>" * 200), "too-deep"),
    "nested tables": (nested("<table><tr><td>", "</td></tr></table>", 600, 1), "no-content"),
    "attribute of 1 MB": (f"{POST}<i title='{'a' * MEGA}'>b</i>", 4),
    "class of 9 MB": (f"<p class='{'post ' * 1_900_000}'>text</p>", 4),
    "100,000 attributes": (f"{POST}<i{MANY_ATTRIBUTES}>b</i>", 4),
    "100,000 attributes, hidden from who reads tags only": (POST + HIDDEN_ATTRIBUTES, 4),
    "billion laughs in HTML": (entities("html"), "&l9;&f;&w;"),
    "file as an entity of XHTML, in a parameter": (entities("xhtml").replace("%p;", "%p; %p;"), "&l9;&f;&w;"),
    "&amp; of &amp; of &amp;": (POST + CHAINED, 4 * MEGA + 2),
    "1,000,000 &amp;": (POST + "&amp;" * MEGA, 5 + MEGA),
    "references to no character": (POST + "&#99999999999;&#xd800;&#0;&#x110000;end", "end"),
    "10 MB in one line": (filled("x"), 9_899_981 + 5),
    "3 MB of blanks": (filled(" ", 3 * MEGA), 4),
    "3 MB of escapes": (filled("\x1b]", 3 * MEGA), 4),
    "1,000,000 marks on one letter, in no order": (POST + "\u0301\u0316" * 500_000, 4 + 31),
    "1,000,000 empty tags": (POST + "<i></i>" * MEGA, "too-many-tags"),
    "3,000,000 <": (filled("<"), "too-many-tags"),
    "100,000 form fields": (POST + "<form>" + "<input name=a value=b>" * 100_000, 4),
    "10,000 posts of 10 images": (("<div class=post>t" + "<img src=/i>" * 10 + "</div>") * 10_000, 1_000 * 2 - 1),
    "100,000 base elements": ("<base href=http://evil.test/>" * 100_000 + POST, 4),
    "1,000 dates": ("<time>3 hours demain 12 and 11 dem 2026 vor</time>" * 1_000 + POST, 4),
    "date of 8 MB": (f"<time>{'3 hours ' * MEGA}</time>{POST}", 4),
    "open quote": (f"{POST}<i title='" + "a" * 9 * MEGA, "any"),
    "open comment": (filled("<!--", MEGA // 2), 4),
    "open script": (filled("<script>", MEGA), 4),
    "100,000 html elements": ("".join(f"<html a{n}=b>" for n in range(100_000)) + POST, "too-many-attributes"),
    "misnested": (POST + "<b><i></b></i>" * 50_000, 4),
    "no element": ("<!-- nothing -->", "no-content"),
    "more than 10 MB": ("x" * 10_000_001, "too-large"),
}

DEEP = 1_000
# name: (body, what the API's selectors make of it: a reason, the text, or what stands under `extra`)
JSON_CASES = {
    "100,000 nested lists": ("[" * 100_000, "not-json"),
    "1,000 nested lists beside": (f'{{"html": "text", "deep": {"[" * DEEP}{"]" * DEEP}}}', "text"),
    "number of 5,000,000 digits": (f'{{"html": "text", "n": {"1" * 5 * MEGA}}}', "text"),
    "long number before an open string": (f'[{"1" * 20}, "' + '\\"' * 2 * MEGA, "not-json"),
    "number of 30 digits": (
        '{"html": "text", "n": 123456789012345678901234567890}',
        {"n": "123456789012345678901234567890"},
    ),
    "number beyond 63 bits": ('{"html": "text", "n": 18446744073709551615}', {"n": "18446744073709551615"}),
    "1e999": ('{"html": "text", "n": 1e999}', "not-json"),
    "the same key twice": ('{"html": "one", "html": "two"}', "two"),
    "lone surrogate": ('{"html": "\\ud800"}', "\N{REPLACEMENT CHARACTER}"),
    "list of 1,000,000": (f'{{"html": "text", "list": [{"1," * MEGA}1]}}', {"all": [1] * 1_000}),
    "1,000,000 tags in HTML inside": (f'{{"html": "{"<b>" * MEGA}"}}', "too-many-tags"),
    "1,000 pages of HTML inside": ('{"html": ["<b>text"' + ',"<b><i>text"' * 999 + "]}", "text"),
    "deep HTML inside": (f'{{"html": "{"<b>" * 600}"}}', "no-content"),
    "no JSON": ("<html>", "not-json"),
    "empty": (" \n\0 ", "empty-body"),
}

SENTENCE = "The flood of the day took the bridge at Wulong and the road behind it, people say. "


def json_ld(text):
    return f"<head><script type=application/ld+json>{text}</script></head><p>{SENTENCE * 20}"


# name: (body, what reading without selectors makes of it: a reason, or `any`; that it comes to an end is what counts)
ARTICLE_CASES = {
    "100,000 nested div": ("<div>" * 100_000 + SENTENCE, "any"),
    "small nested blocks": (nested("<div class=post>x", "</div>", 100, 15), "any"),
    "100,000 paragraphs": ("<p>x</p>" * 100_000, "any"),
    "headings and lists": ("<article>" + f"<h2>a</h2><p>{SENTENCE}</p><ul><li>x<li>y</ul>" * 2_000, "any"),
    "1 MB in one line": (filled("word ", MEGA), "any"),
    "class of 1 MB": (f"<p class='{'post ' * 200_000}'>{SENTENCE * 20}</p>", "any"),
    "1 MB of open brackets as JSON-LD": (json_ld("[" * MEGA), "any"),
    "JSON-LD with an open string": (json_ld('{"@type":"Article","author":{"name":"' + "a" * MEGA), "any"),
    "dates everywhere": ("<meta name=date content='11.11.11 and 3 hours ago'>" * 10_000 + f"<p>{SENTENCE * 20}", "any"),
    "links everywhere": ("".join(f"<p><a href=/{n}>{SENTENCE}</a>" for n in range(2_000)), "any"),
    "more than an article": (filled(SENTENCE, 4_000_000), "any"),
}


def outcome(read, *arguments):
    """Returns the result, or the reason."""
    try:
        return read(*arguments)
    except ExtractError as error:
        return error.reason


def child():
    """Reads all documents; prints what becomes of each, and its seconds, as lines of JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    board, api, web = (sites.parse(text, "site.yaml") for text in (MARKUP, ANSWER, WEB))
    for kind, site, cases, content_type in (
        ("markup", board, MARKUP_CASES, "text/html; charset=utf-8"),
        ("json", api, JSON_CASES, "application/json"),
        ("article", web, ARTICLE_CASES, "text/html; charset=utf-8"),
    ):
        for name, (body, _expected) in cases.items():
            page = Fetched("http://x.test/", 200, content_type, body.encode())
            before = os.times().user
            first, again = (summary(outcome(extract.fields, page, site)) for _ in range(2))
            for read in (extract.links, extract.followed):
                outcome(read, page, site)
            line = {"case": f"{kind}: {name}", "found": first, "same": first == again}
            print(json.dumps(line | {"seconds": os.times().user - before}), flush=True)


def summary(found):
    """Returns a reason, or what a page yielded, its text shortened to its length and its ends."""
    if isinstance(found, str):
        return found
    text, more = found.content, {"extra": found.extra, "published": found.published}
    return {"length": len(text), "start": text[:40], "end": text[-40:], **more}


@pytest.fixture(scope="module")
def results():
    """What the child said of each case; it ran to its end within its limits."""
    root = Path(__file__).parents[2]
    with socket.create_server(("127.0.0.1", 0)) as canary:
        done = subprocess.run(
            [sys.executable, __file__],
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(root), "CANARY": f"http://127.0.0.1:{canary.getsockname()[1]}"},
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
        canary.settimeout(0)
        with pytest.raises(BlockingIOError):  # nobody has called
            canary.accept()
    assert done.returncode == 0, done.stderr[-2_000:]
    return {line["case"]: line for line in map(json.loads, done.stdout.splitlines())}


@pytest.mark.faults  # reading them all takes twenty seconds
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (f"{kind}: {name}", expected)
        for kind, cases in (("markup", MARKUP_CASES), ("json", JSON_CASES), ("article", ARTICLE_CASES))
        for name, (_body, expected) in cases.items()
    ],
)
def test_a_hostile_document_ends_as_its_line_says(results, case, expected):
    result = results[case]
    found = result["found"]
    assert result["same"]
    assert result["seconds"] < CPU_SECONDS
    if expected == "any":
        assert isinstance(found, dict) or found == "no-content"
    elif isinstance(found, str):
        assert found == expected
    elif isinstance(expected, int):
        assert found["length"] == expected
    elif isinstance(expected, dict):
        assert found["extra"].items() >= expected.items()
    else:
        assert found["end"].endswith(expected)


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        (b"+ADw-script+AD4-", "text/html; charset=utf-7", "utf-8"),
        (b"x\x9cK\xca", "text/html; charset=zlib", None),
        (b"a-" * 100_000, "text/html; charset=punycode", "utf-8"),
        (b"text", "text/html; charset=" + "x" * 100_000, "utf-8"),
        (b"text", "text/html; charset=\x00\r\n", "utf-8"),
        (b"overlong \xc0\xaf \xe0\x80\xaf surrogate \xed\xa0\x80", "text/html; charset=utf-8", "utf-8"),
        (b"\x81\xff" * 5_000_000, "text/html; charset=windows-1253", "windows-1256"),
    ],
)
def test_a_text_is_read_in_one_encoding_whatever_its_label_would_do(body, content_type, encoding):
    page = Fetched("http://x.test/", 200, content_type, body)
    text, used = decode(page)
    assert (text, used) == decode(page)
    if encoding is not None:
        assert (text, used) == (body.decode(encoding, "replace"), encoding)


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("http://other.test/deep/", "http://other.test/deep/next"),
        ("//other.test/", "http://other.test/next"),
        ("javascript:alert(1)//", "http://x.test/a/next"),
        ("file:///etc/", "http://x.test/a/next"),
        ("http://[bad", "http://x.test/a/next"),
        ("http://user:secret@other.test/", "http://other.test/next"),
        ("/" + "x" * 100_000, "http://x.test/a/next"),
    ],
)
def test_a_base_leads_where_a_browser_would_go(href, expected):
    body = f"<base target=x><base href='{href}'><base href='http://second.test/'><div class=r><a href=next>"
    page = Fetched("http://x.test/a/page", 200, "text/html", body.encode())
    assert extract.links(page, sites.parse(MARKUP, "site.yaml")).urls == (expected,)


if __name__ == "__main__":
    child()

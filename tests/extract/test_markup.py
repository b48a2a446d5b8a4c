"""HTML becomes a browser's tree; what would crash the parser, or take all memory, doesn't reach it."""

import os
import random
import subprocess
import sys

import pytest
from extract.pages import BOARD, changed, html, reason

from crawler import extract
from crawler.base.models import Fetched
from crawler.extract.encoding import decode
from crawler.extract.markup import MAX_TAGS, parse_html, with_plain_templates

CRASH = b"<svg><template><foreignObject><d></template><a><div><a>"
JAPANESE = b"<meta charset=iso-2022-jp>" + CRASH.replace(b"<temp", b"<temp\x1b(B") + b"\x1b$B\x21\x21"
TAGS = (
    "svg",
    "math",
    "template",
    "foreignObject",
    "mtext",
    "a",
    "div",
    "b",
    "p",
    "table",
    "td",
    "select",
    "form",
    "nobr",
)


def hostile(dice):
    """Returns tags of which parsers are known to lose count."""
    opened = [dice.choice(TAGS) for _ in range(dice.randint(3, 25))]
    return "".join(f"<{'/' if dice.random() < 0.4 else ''}{tag}>" for tag in opened).encode()


def read(pages):
    for page in pages:
        decode(Fetched("http://x.test/", 200, "text/html", page))
        document = parse_html(page)
        assert document.select_one("body, frameset") is not None
        assert document.text is not None


def test_pages_that_crash_the_parser_are_read():
    """In a process of its own, which may die of it."""
    pages = [CRASH, CRASH.upper(), CRASH.replace(b"svg", b"math"), CRASH.replace(b"<temp", b"<\0temp"), JAPANESE]
    dice = random.Random(5)
    pages += [page + end for page in pages for end in (b"\xe9", "é".encode() * 50)]
    pages += [hostile(dice) for _ in range(3_000)]
    code = "import sys; from extract.test_markup import read; read(sys.stdin.buffer.read().split(b'\\n'))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"\n".join(pages), env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr[-1_000:]


@pytest.mark.parametrize(
    ("page", "read_as"),
    [
        ("<template><svg></svg></template><p>", None),
        ("<p>template</p><svg></svg> template", None),
        ("<svg><Template a>x</TEMPLATE >", "<svg><x-template a>x</x-template >"),
        (
            "<template><svg></svg><template></template></template>",
            "<template><svg></svg><x-template></x-template></template>",
        ),
        ("<math></math></template><template>", "<math></math></template><x-template>"),
        (
            "<x-a><template ShadowRootMode=open><template>t</template>x<slot></slot></template>y</x-a>",
            "<x-a><x-shadow-root ShadowRootMode=open><template>t</template>x<slot></slot></x-shadow-root>y</x-a>",
        ),
        (
            "<svg></svg><template a shadowrootmode='closed'>x</template>",
            "<svg></svg><x-shadow-root a shadowrootmode='closed'>x</x-shadow-root>",
        ),
        ("<template title=shadowrootmode>x</template>", None),
    ],
)
def test_templates_in_foreign_elements_and_shadow_roots_have_other_names(page, read_as):
    assert with_plain_templates(page.encode()) == (read_as or page).encode()


def test_what_stands_in_such_a_template_is_no_text():
    page = html("<svg></svg><div class=post>seen<template>not seen</template> and seen</div>")
    assert extract.fields(page, BOARD).content == "seen and seen"


def test_a_page_is_read_as_browsers_do():
    page = html(
        "<div class=post><table><tr><td>1</table><p>a<p>b</div><p class=post>x<table>y<tr><td>z</table><b>c<p>d"
    )
    assert extract.fields(page, BOARD).content == "1\na\nb\nxy\nz\nc"
    assert extract.fields(html("<p class=post>" + "<b>" * 5_000 + "deep"), BOARD).content == "deep"


def test_too_many_tags_are_refused():
    assert reason(extract.fields, html("<p class=post>" + "<i>" * MAX_TAGS), BOARD) == "too-many-tags"


def test_texts_within_texts_take_bounded_time():
    page = html("<div class=post>" * 400 + "<i></i><br>" * 5_000)
    assert reason(extract.fields, page, BOARD) == "too-deep"


@pytest.mark.parametrize("beside", ["", "<br>", "<pre>code</pre>"])
@pytest.mark.parametrize("keeps", [False, True])
def test_texts_within_texts_take_bounded_memory(keeps, beside):
    rule = {"select": "css:.post", "all": True, "keep_whitespace": keeps}
    page = html("<div class=post>" * 400 + beside + "x" * 200_000)
    assert reason(extract.fields, page, changed(BOARD, content={"content": rule})) == "too-deep"


def test_rows_within_rows_take_bounded_memory():
    page = html("".join(f"<div class=row><a href=/{number}></a>" for number in range(400)) + "x" * 200_000)
    for more in ({"match": "xpath:."}, {"fields": {"title": "xpath:."}}):
        results = {"rows": "css:.row", "links": "css:a"} | more
        assert reason(extract.links, page, changed(BOARD, results=results)) == "too-deep"

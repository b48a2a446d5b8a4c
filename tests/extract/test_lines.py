"""What may be a line is read only where it is small: pages may have elements within elements, all named as lines."""

from __future__ import annotations

from contextlib import suppress

import pytest
from extract.pages import html

from crawler import extract, sites
from crawler.base.errors import ExtractError
from crawler.extract import html_text
from crawler.extract.lines import MAX_CHARACTERS, MAX_NODES, line_of
from crawler.extract.markup import parse_html

WEB = sites.load("web")
TEXT = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(4)
)
ELEMENTS = 20_000
TIMES_READ = 30  # of each element of a page, whatever it is named, on average


@pytest.fixture
def walked(monkeypatch):
    """What of a page was read as texts, in nodes and characters."""
    spent = [0, 0]
    plain = html_text.HtmlText._spend

    def spend(self, nodes, characters):
        spent[0] += nodes
        spent[1] += characters
        plain(self, nodes, characters)

    monkeypatch.setattr(html_text.HtmlText, "_spend", spend)
    return spent


@pytest.mark.parametrize(
    "outer",
    [
        "<div class=time>",
        "<div class=byline>",
        "<div class=meta>",
        "<span class=author>",
        "<div rel=author>",
        "<div title='3 May 2026 10:00'>",
        "<time datetime=2026>",
        "<div class=comment>",
        "<div aria-hidden=true>",
        "<h1><div>",
        "<dl><dt>Author</dt><dd>",
    ],
)
@pytest.mark.parametrize("inner", ["<br>", "<div class=time>", "<i></i>", "<p>"])
@pytest.mark.parametrize("place", ["{box}<article>{text}</article>", "<article>{text}</article>{box}"])
def test_elements_within_elements_are_not_each_read_to_their_ends(walked, outer, inner, place):
    box = outer * (300 // outer.count("<")) + inner * ELEMENTS + "3 May 2026 by Ann"
    page = f"<!doctype html><title>Flood in Wulong</title><h1>Flood in Wulong</h1>{place.format(box=box, text=TEXT)}"
    with suppress(ExtractError):  # trafilatura is asked where no text is found, and takes no page that is so deep
        extract.fields(html(page), WEB)
    assert walked[0] < TIMES_READ * ELEMENTS
    assert walked[1] < TIMES_READ * len(page)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("<b>By</b> Ann", "By Ann"),
        ("By<br>Ann<script>1</script>", "By Ann"),
        ("<i></i>" * (MAX_NODES - 1) + "Ann", "Ann"),
        ("<i></i>" * MAX_NODES + "Ann", ""),
        ("x" * MAX_CHARACTERS, "x" * MAX_CHARACTERS),
        ("x" * (MAX_CHARACTERS + 1), ""),
    ],
)
def test_a_line_is_small(body, line):
    assert line_of(parse_html(f"<div>{body}</div>".encode()).select_one("div")) == line

"""The mark of a page without results."""

from __future__ import annotations

import pytest
from discovery.made_up import ORIGIN, page

from crawler.base.models import Fetched
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.results.empty_mark import empty_mark
from crawler.extract.html_text import HtmlText


def parsed(body):
    return ParsedPage(Fetched(f"{ORIGIN}/find", 200, "text/html", page("Find", body).encode()))


@pytest.mark.parametrize("entries", [3, 2_000])
def test_what_a_reader_sees_of_a_page_is_asked_for_once(monkeypatch, entries):
    """Both have the same menu, each entry of which is a phrase; all that is asked for comes out of one budget."""
    asked = []
    of = HtmlText.of
    monkeypatch.setattr(HtmlText, "of", lambda self, top, *more: asked.append(top) or of(self, top, *more))
    menu = "".join(f"<li><a href='/{at}'>An entry of the menu, number {at}</a></li>" for at in range(entries))
    nothing, found = (
        parsed(f"<ul>{menu}</ul><p>We found nothing at all.</p>"),
        parsed(f"<ul>{menu}</ul><p>Found it.</p>"),
    )
    assert empty_mark(nothing, [found]) == "text:We found nothing at all."
    assert asked.count(found.tree) == asked.count(nothing.tree) == 1

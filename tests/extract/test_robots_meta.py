"""What pages ask of robots is heeded where that is wanted, and only then."""

from __future__ import annotations

import pytest

from crawler import extract
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched
from crawler.sites import Site

SITE = Site.from_definition({"name": "s", "follow": {"links": "css:a"}, "content": {"content": "css:p"}})
LINKS = '<a href="/kept">kept</a><a rel="ugc NoFollow" href="/refused">refused</a>'


def reading(head="", robot="headroom", **more):
    body = f"<head>{head}</head><p>some words</p>{LINKS}".encode()
    page = Fetched("http://a.test/", 200, "text/html", body, **more)
    return extract.read(page, SITE, max_links=10, robot=robot)


def meta(content, name="robots"):
    return {"head": f'<meta name="{name}" content="{content}">'}


def header(*values):
    return {"robots_tags": values}


@pytest.mark.parametrize(
    ("asked", "has_item", "follows"),
    [
        ({}, True, True),
        (meta("index, follow"), True, True),
        (meta("NoIndex", "ROBOTS"), False, True),
        (meta("nofollow", "Headroom"), True, False),
        (meta("noindex,nofollow", "otherbot"), True, True),
        (meta("none"), False, False),
        (header("noindex", "max-snippet: 5, nofollow"), False, False),
        (header("otherbot: noindex, nofollow", "headroom: nofollow"), True, False),
        (header("unavailable_after: 25 Jun 2010 15:00:00 PST"), True, True),
    ],
)
def test_a_page_says_what_becomes_of_it_and_its_links(asked, has_item, follows):
    found = reading(**asked)
    assert found.links.urls == (("http://a.test/kept",) if follows else ())
    if has_item:
        assert found.fields().content == "some words"
        return
    with pytest.raises(ExtractError) as caught:
        found.fields()
    assert caught.value.reason == "noindex"


def test_nothing_of_it_counts_where_it_is_not_heeded():
    found = reading(robot="", **meta("none"), **header("none"))
    assert found.fields().content == "some words"
    assert len(found.links.urls) == 2

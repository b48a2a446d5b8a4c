"""Microdata: each form of a value, items within items, and pages that would make much of little."""

import resource

import pytest
import turbohtml

from crawler.extract.microdata import MAX_CHARACTERS, MAX_ELEMENTS, microdata

NEEDS_MIB = 200
PAGE = """<article itemscope itemtype="https://schema.org/Article https://x.org/Own">
<h1 itemprop="headline name">Flood</h1><meta itemprop=description content=" short "><img itemprop=image src=" a.png ">
<p itemprop=author itemscope itemtype="https://schema.org/Person"><a itemprop="url" href="/ann">Ann</a></p>
<p itemprop=author itemscope itemtype="https://schema.org/Person"><b itemprop=name>Bob</b></p>
<time itemprop=datePublished datetime="2026-01-02">Friday</time><time itemprop=dateModified>2026-01-03</time>
<data itemprop=votes value=3>three</data><template><i itemprop=name>not shown</i></template>
<div itemscope><i itemprop=name>an item of its own</i></div></article><i itemprop=name>of nothing</i>"""


def test_each_value_is_read_as_its_element_holds_it():
    article, other = microdata(turbohtml.parse(PAGE))
    assert other == {"@type": [], "name": "an item of its own"}
    assert article == {
        "@type": ["Article", "Own"],
        "headline": "Flood",
        "name": "Flood",
        "description": "short",
        "image": "a.png",
        "author": [{"@type": "Person", "url": "/ann"}, {"@type": "Person", "name": "Bob"}],
        "datePublished": "2026-01-02",
        "dateModified": "2026-01-03",
        "votes": "3",
    }


@pytest.mark.parametrize(
    "page",
    [
        "".join(f"<div id=l{n}>" + f"<b itemprop=x itemscope itemref=l{n + 1}></b>" * 4 + "</div>" for n in range(11)),
        "<div itemscope>" + "<span itemprop=x>" * 500 + "w" * 1_000_000,
        "<div itemscope>" + "<div itemscope itemprop=x><i itemprop=y>" * 500 + "w" * 1_000_000,
        "<div itemscope itemprop=x>" * 100_000,
        "<div itemscope>" + "<i itemprop=x>y</i>" * 100_000,
    ],
    ids=["references", "properties in each other", "items in each other", "depth", "many"],
)
def test_a_hostile_page_takes_little(page):
    tree = turbohtml.parse(page)
    before = resource.getrusage(resource.RUSAGE_SELF)
    found = repr(microdata(tree))
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert len(found) <= MAX_CHARACTERS + 100 * MAX_ELEMENTS
    assert after.ru_utime - before.ru_utime < 3
    assert (after.ru_maxrss - before.ru_maxrss) / 1024 < NEEDS_MIB

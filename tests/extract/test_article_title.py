"""The titles of pages without a site's selectors: what `<title>` and headings say, and which part is the site's."""

import pytest
from extract.pages import html

from crawler import extract, sites
from crawler.extract import Templates

WEB = sites.load("web")
TEXT = "".join(
    f"<p>The flood took bridge number {n} at Wulong and the road behind it, people say.</p>" for n in range(4)
)


def read(page, **more):
    return extract.fields(html(f"<!doctype html><html lang=en>{page}", **more), WEB)


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Lamp broken - Town", "Lamp broken <span class=index>#5</span>", "Lamp broken"),
        ("#5 - Lamp broken - Town", "<span>Lamp broken</span> <span>#5</span>", "Lamp broken"),
        ("Lamp broken (5) - Town", "Lamp broken <b>(5)</b>", "Lamp broken (5)"),
        ("Lamp broken - Town", "Area <b>51</b>", "Area 51"),
    ],
)
def test_a_number_behind_a_heading_is_no_part_of_the_title_where_no_title_has_it(title, heading, expected):
    assert read(f"<title>{title}</title><h1>{heading}</h1><article>{TEXT}</article>").title == expected


@pytest.mark.parametrize(
    "title",
    ["Damp walls &amp; mould - a long report", "Thanks! / part two", "Warning level 2 - update", "Notes: a | b"],
)
@pytest.mark.parametrize("around", ["{} - Topic - FlaskBB", "FlaskBB - {}"])
def test_the_part_of_a_title_that_stands_on_the_page_by_itself_is_the_pages(title, around):
    crumbs = f'<ol class=breadcrumb><li><a href="/">FlaskBB</a><li class=active>{title}</ol>'
    found = read(f"<title>{around.format(title)}</title>{crumbs}<div class=head>{title}</div><div>{TEXT}</div>")
    assert (found.title, found.sureness["title"]) == (title.replace("&amp;", "&"), "guess")


def test_a_title_behind_the_name_of_a_site_and_a_colon_is_the_pages():
    name = '<div class=header><div class="pagename"><a href="#top">OldLevee</a></div></div>'
    found = read(f"<title>Valley Wiki: OldLevee</title>{name}<div class=page-content>{TEXT}</div>")
    assert found.title == "OldLevee"


def test_what_other_pages_have_at_an_end_of_their_titles_is_the_sites_part():
    templates = Templates()

    def title_of(number, words):
        page = f"<title>{words} - Topic - Town board</title><div class=t>{TEXT.replace('took', f'took {number}')}</div>"
        reading = extract.read(html(page, url=f"http://a.test/{number}"), WEB, max_links=0, templates=templates)
        templates.add(reading.marks.template, {reading.marks.page: reading.marks.marks})
        return reading.found.title

    for number in range(8):
        title_of(number, f"Lamp {number} broken - again {number}")
    assert title_of(9, "Damp walls - a long report") == "Damp walls - a long report"


@pytest.mark.parametrize(
    "main",
    [
        "{0}<h2>Temporary levee</h2>{0}<h2>Old dam</h2>{0}",
        "<h2>Temporary levee</h2>{0}<h2>Old dam</h2>{0}",
        "{0}<h1>Temporary levee</h1>{0}",
    ],
)
def test_a_heading_within_a_text_is_not_its_title(main):
    page = f"<title>Temporary Levee Flood Barrier Notes - My Wiki</title><div role=main>{main.format(TEXT)}</div>"
    found = read(page)
    assert (found.title, found.sureness["title"]) == ("Temporary Levee Flood Barrier Notes", "guess")
    assert "Temporary levee" in found.content

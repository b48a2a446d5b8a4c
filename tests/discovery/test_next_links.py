"""The link to the next page is found by what it says, or by the arrow that it has in place of words."""

from __future__ import annotations

import pytest
from discovery.made_up import ORIGIN, page

from crawler.base.models import Fetched
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.results import next_links
from crawler.sites.selector import Selector

ADDRESS = f"{ORIGIN}/topic/7/flood/"


def parsed(links, address=ADDRESS):
    return ParsedPage(Fetched(address, 200, "text/html", page("Flood", f'<a href="/help">Help</a>{links}').encode()))


ARROWS = (
    "<ul class=crumbs><li><a href=/>Main</a><i class='fa fa-chevron-right'></i></li></ul><ul class=pages><li>Page 1 of "
    "3</li><li><a href='?page=2'><i class='fa fa-chevron-right'></i></a></li><li><a href='?page=3'>Last <i class='fa "
    "fa-chevron-right'></i></a></li></ul>"
)


@pytest.mark.parametrize(
    ("links", "select"),
    [
        (ARROWS, "css:a:has(i.fa-chevron-right)"),
        (ARROWS.replace("fa-chevron-right", "bi-arrow-right"), "css:a:has(i.bi-arrow-right)"),
        ("<a href='?page=2'><svg class='icon icon-next'></svg></a>", "css:a:has(svg.icon-next)"),
        ("<a href='?page=2' aria-label='Next page'><svg></svg></a>", "css:a[aria-label='Next page']"),
        ("<a href='?page=2' title='Next'><img src=/n.gif></a>", "css:a[title='Next']"),
        ("<b><a href=''>«</a> <a href='?page=2'>2</a> <a href='?page=2'>»</a></b>", "xpath://a[normalize-space()='»']"),
        ("<a href='?page=2'>2</a> <a class=nxt href='?page=2'>+</a>", "css:a.nxt"),
        ("<a rel=next href='?page=2'>Go on</a>", "css:a[rel=next]"),
        ("<link rel=next href='?page=2'><a rel=next href='?start=2'>Next</a>", "css:link[rel=next]"),
        ("<a href='?page=2'><i class='fa fa-angle-double-right'></i></a>", ""),  # mostly leads to the last page
        ("<a href='?page=3'><i class='fa fa-chevron-right'></i></a>", ""),
        ("<a href='/topic/8/fire/'><i class='fa fa-chevron-right'></i></a>", ""),
        ("<a href='?page=2'><i class='fa fa-share'></i></a>", ""),
    ],
)
def test_the_link_to_a_second_page_is_found(links, select):
    first = parsed(links)
    assert next_links.to_second_pages([parsed(""), first]) == select
    if select:
        assert Selector.parse(select).search(first.tree)[0].attr("href") == "?page=2"


@pytest.mark.parametrize(
    ("address", "second"),
    [
        ("/t/7", "/t/7?page=2"),
        ("/t/7/", "/t/7/?page=2"),
        ("/t/7/", "/t/7?page=2"),
        ("/t/7/", "/t/7/page/2/"),
        ("/t/7.html", "/t/7_2.html"),
        ("/t/7-1.html", "/t/7-2.html"),
        ("/t?id=7", "/t?id=7&page=2"),
    ],
)
def test_an_address_of_a_second_page_is_that_of_the_first_with_a_2(address, second):
    assert next_links.to_second_pages([parsed(f"<a href='{second}'>Next</a>", ORIGIN + address)])


def test_arrows_beside_the_links_of_a_list_lead_to_no_next_page():
    rows = "".join(f"<a href='?id={at}'><i class=arrow-right></i></a>" for at in range(3))
    assert next_links.next_links(parsed(rows)) == []


def test_a_selector_that_leads_elsewhere_on_another_page_is_none():
    links = "<p><a href='?page=2'>Ne\u00adxt</a></p>"
    assert next_links.to_second_pages([parsed(links)]) == "css:p a"
    assert next_links.to_second_pages([parsed(links), parsed("<p><a href=/about>About</a></p>")]) == ""

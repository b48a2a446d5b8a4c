"""How further pages are asked for, told from the links of the first one."""

from __future__ import annotations

import pytest
from discovery.made_up import ORIGIN, page

from crawler.base.models import Fetched
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.results import paging
from crawler.discovery.search.search_template import SearchTemplate
from crawler.sites.selector import Selector


def next_of(links):
    """Returns the selector that is proposed for the link to the next page of a search, and the page."""
    body = page("Results", f'<a href="/help">Help</a>{links}').encode()
    parsed = ParsedPage(Fetched(f"{ORIGIN}/find?q=flood", 200, "text/html", body))
    found = paging.pages(parsed, SearchTemplate(f"{ORIGIN}/find?q={{query}}"), "flood", 10)
    return found.next if found else "", parsed


@pytest.mark.parametrize(
    ("links", "select"),
    [
        ("<a href='/find?q=flood&c=xy'>Next</a>", "xpath://a[normalize-space()='Next']"),
        ("<a href='/find?q=flood&c=xy'> Next \n page</a>", "xpath://a[normalize-space()='Next page']"),
        ("<a href='/find?q=flood&c=xy'>Next&nbsp;»</a>", "xpath://a[normalize-space()='Next\xa0»']"),
        ("<a class=more href='/find?q=flood&c=xy'>Ne\u00adxt</a>", "css:a.more"),  # in which a hyphen is hidden
        ("<a class=more href='/find?q=flood&c=xy'>Next: it's here</a>", "css:a.more"),
        (f"<a rel=next class=more href='/find?q=flood&c=xy'>{'On and on. ' * 100}</a>", "css:a.more"),
        ("<a href='/find'>Next</a><a class=more rel=next href='/find?q=flood&c=xy'>Next</a>", "css:a.more"),
        ("<p><a href='/find?q=flood&c=xy'>Ne\u00adxt</a></p>", "css:p a"),
        ("<a href='/find?q=flood&c=xy'>Ne\u00adxt</a>", ""),
    ],
)
def test_the_selector_of_the_next_page_finds_it_on_the_page_itself(links, select):
    found, parsed = next_of(links)
    assert found == select
    assert not found or Selector.parse(found).search(parsed.tree)[0].attr("href") == "/find?q=flood&c=xy"


@pytest.mark.parametrize(
    ("address", "following", "template", "expected"),
    [
        ("/find?q=flood&p=3", "/find?q=flood&p=4", "/find?q={query}&p={page}", {"kind": "page"}),
        ("/find?q=flood&p=0", "/find?q=flood&p=1", "/find?q={query}&p={page}", {"kind": "page", "first": 0}),
        ("/find?q=flood&p=40", "/find?q=flood&p=60", "/find?q={query}&p={offset}", {"kind": "offset", "step": 20}),
        (
            "/find/from:21/flood",
            "/find/from:41/flood",
            "/find/from:{offset}/{query}",
            {"kind": "offset", "step": 20, "first": 1},
        ),
        ("/find/flood", "/find/flood/10", "/find/{query}/{offset}", {"kind": "offset", "step": 10}),
    ],
)
def test_a_link_to_the_next_page_says_what_is_counted_whichever_page_it_stands_on(
    address, following, template, expected
):
    origin = "https://10.site.test"  # whose number is none of a page
    body = page("Results", f'<a href="{following}">Next</a>').encode()
    parsed = ParsedPage(Fetched(origin + address, 200, "text/html", body))
    searched = SearchTemplate(origin + address.replace("flood", "{query}"))
    found = paging.pages(parsed, searched, "flood", 10).template
    assert (found.url, found.paging) == (origin + template, expected)


def test_a_number_that_leaves_out_entries_of_a_list_is_no_offset():
    body = page("Topics", "<a rel=next href='/?start=115'>Older</a>").encode()
    parsed = ParsedPage(Fetched(f"{ORIGIN}/", 200, "text/html", body))
    found = paging.pages(parsed, SearchTemplate(f"{ORIGIN}/"), "", 25)
    assert (found.template.paging, found.next) == ({"kind": "link"}, "css:a[rel=next]")

"""Kinds of paging: which pages are known from the start, and how the next one is asked for."""

from typing import Annotated, Literal
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from pydantic import Field

from crawler import extract, sites, yamlfile
from crawler.errors import InputError
from crawler.models import Fetched
from crawler.sites.definition import Search
from crawler.sites.paging import PageNumbers, Paging


def targets(search, **options):
    text = f"name: board\nbase: http://127.0.0.1:8800\nsearch: {search}\nresults: {{links: css:a}}\n"
    return sites.parse(text, "board.yaml").search_targets(["a"], sort="newest", **options)


@pytest.mark.parametrize(
    ("paging", "placeholder", "expected"),
    [
        ("{kind: page}", "page", [1, 2, 3]),
        ("{kind: page, first: 0}", "page", [0, 1, 2]),
        ("{kind: page, first: 1, step: 10}", "page", [1, 11, 21]),
        ("{kind: offset}", "offset", [0, 20, 40]),
        ("{kind: offset, first: 1}", "offset", [1, 21, 41]),
        ("{kind: offset, step: 15}", "offset", [0, 15, 30]),
    ],
)
def test_paging(paging, placeholder, expected):
    search = f'{{url: "{{base}}/?q={{query}}&p={{{placeholder}}}", paging: {paging}}}'
    found = targets(search, pages=3, per_page=20)
    assert [parse_qs(urlsplit(target.url).query)["p"] for target in found] == [[str(number)] for number in expected]
    assert [target.page for target in found] == [1, 2, 3]


def test_a_site_without_paging_has_one_page_and_one_with_cursors_knows_the_first():
    assert len(targets('{url: "{base}/?q={query}"}', pages=9, per_page=20)) == 1
    cursors = '{url: "{base}/?q={query}&c={cursor}", paging: {kind: cursor}}'
    assert [target.url for target in targets(cursors, pages=9, per_page=20)] == ["http://127.0.0.1:8800/?q=a"]


def test_offsets_step_by_what_the_site_really_gives():
    search = '{url: "{base}/?q={query}&n={per_page}&o={offset}", paging: {kind: offset}, max_per_page: 50}'
    found = targets(search, pages=2, per_page=200)
    assert [urlsplit(target.url).query for target in found] == ["q=a&n=50&o=0", "q=a&n=50&o=50"]


def test_a_cursor_needs_a_parameter_of_its_own():
    with pytest.raises(InputError, match=r"expected \{cursor\} to be all of one parameter: name=\{cursor\}$"):
        targets('{url: "{base}/?q={query}&c=x{cursor}", paging: {kind: cursor}}', pages=1, per_page=1)


class NextLinks(Paging):
    """Each page of results has a link to the next one."""

    kind: Literal["link"]
    names_next = True

    def check(self, search):
        if search.body:
            raise ValueError("no body beside links")

    def positions(self, pages, per_page):
        return [""]

    def next_request(self, search, url, body, found):
        return urljoin(url, found), body


class OwnSearch(Search):
    paging: Annotated[PageNumbers | NextLinks, Field(discriminator="kind")] | None = None


class OwnSite(sites.Site):
    search: OwnSearch


LINKED = """
name: board
search: {url: "http://b.test/?q={query}", paging: {kind: link}}
results: {links: css:.hit, next: "css:.next"}
"""


def test_a_new_kind_is_one_class():
    board = yamlfile.validate(yamlfile.parse(LINKED, "board.yaml"), OwnSite)
    assert OwnSite.from_definition(board.definition()) == board
    assert board.search.names_next
    (first,) = board.search_targets(["a"], pages=5, per_page=20, sort="newest")
    page = Fetched(first.url, 200, "text/html", b"<a class=hit href=/1>1</a><a class=next href='/more?at=x'>more</a>")
    assert extract.links(page, board).next == sites.SearchTarget("http://b.test/more?at=x", page=2)
    with pytest.raises(InputError, match=r"search: got .* expected no body beside links$"):
        yamlfile.validate(yamlfile.parse(LINKED.replace("paging:", "body: {x: y}, paging:"), "board.yaml"), OwnSite)
    with pytest.raises(InputError, match=r"kind: got 'offset', expected 'page' or 'link'$"):
        yamlfile.validate(yamlfile.parse(LINKED.replace("kind: link", "kind: offset"), "board.yaml"), OwnSite)

"""The word that is searched for where nobody gives one."""

from __future__ import annotations

import pytest
from discovery.made_up import ORIGIN, page

from crawler.base.models import Fetched
from crawler.discovery.pages import words
from crawler.discovery.pages.page import ParsedPage

NAMES = ["harbour", "stadium", "airport", "gardens", "theatre", "markets", "library", "schools"]
PLACES = ["桥梁", "市场", "车站", "学校", "医院", "公园", "港口", "机场"]


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1], sorted(NAMES), PLACES, PLACES[::-1], sorted(PLACES)])
def test_of_words_that_are_equally_good_it_is_the_first_on_the_page(names):
    links = "".join(f'<a href="/{at}">{" ".join(names)}</a>' for at in range(2))
    found = ParsedPage(Fetched(f"{ORIGIN}/", 200, "text/html", page("Town", links).encode()))
    assert words.common(found) == names[0]

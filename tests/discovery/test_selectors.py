"""Selectors of elements that were found on pages."""

from __future__ import annotations

import pytest
import turbohtml

from crawler.discovery.pages import selectors
from crawler.sites.selector import Selector

ODD_TAGS = ("o:p", "x.y", "a{")  # the first of them is Word's


@pytest.mark.parametrize("tag", ODD_TAGS)
def test_a_tag_that_no_selector_can_say_is_left_out(tag):
    element = turbohtml.parse(f"<{tag} class=x id=y rel=z>text</{tag}>").select_one(".x")
    steps = selectors.steps(element)
    assert steps == [".x", "[rel=z]", "#y"]
    assert all(Selector.parse(f"css:{step}").search(turbohtml.parse("<p>")) == [] for step in steps)
    assert selectors.steps(turbohtml.parse("<my-tag class=x>").select_one(".x")) == ["my-tag.x", ".x", "my-tag"]


def test_a_link_without_a_name_is_told_from_one_beside_it_that_has_one():
    rows = "".join(f"<li><a href=/{n}>Title {n}</a> <a href='#' class=show>[show]</a></li>" for n in range(3))
    tree = turbohtml.parse(f"<ol>{rows}</ol>")
    choice = selectors.all_of([(tree, tree.select("a[href^='/']"))])
    assert (choice.css, choice.misses) == ("li a:not([class])", 0)


def test_a_cell_is_counted_among_all_that_stands_in_its_row():
    tree = turbohtml.parse("<table><tr><td>1</td><script></script><template></template><td>2<th>3</table>")
    cells = tree.select("td, th")
    assert [selectors.cell_of(one) for one in cells] == ["td:nth-child(1)", "td:nth-child(4)", "th:nth-child(5)"]
    assert [tree.select(selectors.cell_of(one)) for one in cells] == [[one] for one in cells]

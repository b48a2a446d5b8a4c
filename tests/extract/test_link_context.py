"""What stands on the links of a page and beside them."""

import pytest
from extract.pages import BASE, html

from crawler import extract
from crawler.extract import link_context
from crawler.extract.link_context import MAX_CHARACTERS_READ, SIDE_CHARACTERS
from crawler.extract.results import followed
from crawler.sites import Site

SITE = Site.from_definition({"name": "any", "follow": {"depth": 1}})


def contexts(body):
    links = followed(html(body), SITE, with_context=True)
    assert tuple(links.contexts) == links.urls
    return {url.removeprefix(BASE): tuple(context) for url, context in links.contexts.items()}


def test_what_stands_on_a_link_is_its_text_or_that_of_its_picture():
    assert contexts(
        "<a href=/a>The <b>flood</b>\n of 1998</a><p><a href=/b><img alt='A map'></a><p><a href=/c title='More'></a>"
    ) == {"/a": ("The flood of 1998", ""), "/b": ("A map", ""), "/c": ("More", "")}


def test_several_links_to_one_page_are_read_together():
    both = contexts("<p><a href=/a><img></a></p><p>See <a href=/a#x>the flood</a> and <a href=/a>more</a></p>")
    assert both == {"/a": ("the flood more", "See and more")}


@pytest.mark.parametrize(
    ("body", "around"),
    [
        ("<p>Rain brought <i><a href=/a>it</a></i> to the town.<p>Else", "Rain brought to the town."),
        ("<p>Before<br>on its line <a href=/a>it</a><br>after", "on its line"),
        ("<dl><dt><a href=/a>it</a></dt><dd>What it is</dd></dl>", "What it is"),
        ("<table><tr><td><a href=/a>it</a></td><td>What it is</td></tr></table>", "What it is"),
        (f"<p>{'far ' * 200}near <a href=/a>it</a>", ("far " * 200 + "near ")[-SIDE_CHARACTERS:].strip()),
    ],
)
def test_what_stands_around_a_link_is_of_its_line_or_the_next_cell(body, around):
    assert contexts(body)["/a"][1] == around


def test_links_beside_a_huge_element_do_not_take_quadratic_time(monkeypatch):
    read = 0
    real = link_context._texts

    def texts(siblings):
        nonlocal read
        read += sum(map(len, result := real(siblings)))
        return result

    monkeypatch.setattr(link_context, "_texts", texts)
    huge = f"<span>{'word ' * 40_000}</span>"
    links = "".join(f"<a href=/{number}>x</a>{huge}" for number in range(12))
    assert len(contexts(f"<p>{links}")) == 12
    assert read < 2 * MAX_CHARACTERS_READ


def test_words_are_looked_for_only_where_they_are_asked_for(monkeypatch):
    monkeypatch.setattr("crawler.extract.results.link_contexts", None)
    assert followed(html("<a href=/a>it</a>"), SITE).contexts == {}
    reading = extract.read(html("<a href=/a>it</a>"), SITE, max_links=10)
    assert reading.links.contexts == {}


def test_links_that_a_selector_finds_as_text_have_no_words():
    site = Site.from_definition({"name": "any", "follow": {"depth": 1, "links": "xpath://a/@href"}})
    assert followed(html("<a href=/a>it</a>"), site, with_context=True).contexts == {f"{BASE}/a": ("", "")}

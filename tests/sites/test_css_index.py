"""The index of a page finds what a selector's XPath finds, in the same order."""

import random

import pytest
from lxml import etree

from crawler.sites.css_index import MAX_INDEXED_TAGS, IndexedCss, PageIndex
from crawler.sites.selector import Selector

TAGS = ("div", "p", "a", "span", "td", "IMG", "svg:g", "script")
CLASSES = ("x", "y", "z", "x y", "y  x", "x\ty", "x\x0by", "", "x x", " x ", "X", "x\xa0y", "\ny")
BETWEEN = ("", "t", "t&amp;u", "<!--c-->", " ", "<![CDATA[x]]>", "&nbsp;", "<?pi?>", "a<!--b-->c", "&foo;")
NAMES = ("div", "p", "a", "*", "td", "img", "IMG", "")
MARKS = ("", ".x", ".y", ".X", "#i", "#j")
ENDS = ("", "", "::text", "::attr(href)", "::attr(class)", "::attr(HREF)", ":first-child", ", p", "[href]", ":has(a)")


def parsed(markup):
    return etree.fromstring(markup.encode(), etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True))


def page(dice):
    parts, opened = ["<p>"], []
    for _ in range(dice.randint(1, 120)):
        if opened and dice.random() < 0.45:
            parts.append(f"</{opened.pop()}>")
        else:
            opened.append(dice.choice(TAGS))
            parts.append(f"<{opened[-1]}")
            parts += [f' class="{dice.choice(CLASSES)}"'] if dice.random() < 0.7 else []
            parts += [f' id="{dice.choice(("i", "j", "I", "i j", ""))}"'] if dice.random() < 0.4 else []
            parts += [' href="u"'] if dice.random() < 0.3 else []
            parts.append(">")
        parts.append(dice.choice(BETWEEN))
    return parsed("".join(parts))


def selector(dice):
    steps = [dice.choice(NAMES) + dice.choice(MARKS) + dice.choice(MARKS) or "*" for _ in range(dice.randint(1, 4))]
    css = steps[0] + "".join(dice.choice((" ", " > ", "  ")) + step for step in steps[1:])
    return Selector.parse(f"css:{css}{dice.choice(ENDS)}")


@pytest.mark.parametrize("seed", range(6))
def test_the_index_finds_what_xpath_does(seed):
    dice, by_index = random.Random(seed), 0
    for _ in range(20):
        root = page(dice)
        index = PageIndex(root, 100)
        for _ in range(30):
            one = selector(dice)
            by_index += one.indexed is not None and one.indexed.search(index) is not None
            assert one.find(index) == one.search(root), (one.text, etree.tostring(root))
    assert by_index > 300


@pytest.mark.parametrize(
    "css",
    [
        "a, b",
        "a + b",
        "a ~ b",
        "a[href]",
        "a:first-child",
        ":has(b)",
        "a:contains('x')",
        "*|a",
        "svg|a",
        r".a\ b",
        r"a::attr(x\:y)",
    ],
)
def test_selectors_with_more_than_tags_classes_and_ids_have_only_xpath(css):
    assert IndexedCss.from_css(css) is None


def test_a_large_page_is_left_to_xpath():
    root = parsed("<p class=x>1</p>")
    large = PageIndex(root, MAX_INDEXED_TAGS + 1)
    assert Selector.parse("css:.x::text").find(large) == ["1"]
    assert "classes" not in vars(large)


def test_callers_may_change_the_list_that_they_get():
    index = PageIndex(parsed("<p class=x>1</p>"), 2)
    Selector.parse("css:.x").find(index).clear()
    assert len(Selector.parse("css:.x").find(index)) == 1

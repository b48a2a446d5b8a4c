"""A CSS selector finds what parsel finds on the same tree, with the same endings, in linear time."""

import random
import time

import pytest
import turbohtml
from lxml import etree
from parsel import Selector as Parsel

from crawler.sites.css import Css

TAGS = ("div", "p", "a", "span", "b", "li", "td", "svg")
CLASSES = ("x", "y", "z", "x y", "y  x", "x\ty", "", "x x", " x ", "X", "\ny")
BETWEEN = ("", "t", "t&amp;u", " ", "&nbsp;", "\n")
PARTS = (
    "div",
    "p",
    "a",
    ".x",
    ".y",
    "#i1",
    "p.x",
    "div.x.y",
    "[class^=x]",
    "[href]",
    ":not(.z)",
    ":has(> a)",
    ":is(.x, .y)",
)
PSEUDO = ("", "", "", ":first-child", ":last-child", ":only-child", ":nth-child(2)", ":nth-last-child(2n+1)")
COMBINATORS = (" ", " ", " > ", " + ", " ~ ", ">")
ENDS = ("", "", "::text", "::attr(class)", "::attr(href)", "::attr('id')")


def markup(dice):
    parts, opened = ["<!doctype html>"], []  # without it, browsers find classes in any case
    for _ in range(100):
        if opened and dice.random() < 0.45:
            parts.append(f"</{opened.pop()}>")
        else:
            opened.append(dice.choice(TAGS))
            href = " href=u" if dice.random() < 0.3 else ""
            parts.append(f'<{opened[-1]} class="{dice.choice(CLASSES)}" id=i{dice.randrange(4)}{href}>')
        parts.append(dice.choice(BETWEEN))
    return "".join(parts)


def selector(dice):
    steps = [dice.choice(PARTS) + dice.choice(PSEUDO) for _ in range(dice.randint(1, 4))]
    between = [dice.choice(COMBINATORS) for _ in steps[1:]]
    return steps[0] + "".join(f"{combinator}{step}" for combinator, step in zip(between, steps[1:], strict=True))


def in_lxml(node, copies):
    """Returns a copy of a tree in lxml, and enters the elements by their copies."""
    element = etree.Element(node.tag, {name: node.attr(name) for name in node.attrs})
    copies[element] = node
    for child in node:
        if isinstance(child, turbohtml.Element):
            element.append(in_lxml(child, copies))
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + child.data
        else:
            element.text = (element.text or "") + child.data
    return element


@pytest.mark.parametrize("seed", range(20))
def test_it_finds_what_parsel_does(seed):
    dice, copies = random.Random(seed), {}
    document = turbohtml.parse(markup(dice))
    theirs = Parsel(root=in_lxml(document.root, copies), type="html")
    for _ in range(60):
        ends = dice.choices(ENDS, k=dice.choice((1, 1, 1, 2)))
        css = ", ".join(selector(dice) + end for end in ends)
        wanted = [copies.get(one.root, one.root) for one in theirs.css(css)]
        assert Css.parse(css).search(document) == wanted, css


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("p::text", ["12 views", " of ", "all", "0"]),
        ("::text", ["12 views", "b", " of ", "all", "0"]),
        ("*::text", ["12 views", "b", " of ", "all", "0"]),
        ("p > ::text", ["b"]),
        ("p ::text", ["b", "all"]),
        ("b::text, p::attr(id)", ["one", "b", "two"]),
        ("p::attr( id )", ["one", "two"]),
        ("p:not(:is([id='a,b'], .x))::attr(id)", ["one", "two"]),
        (r".a\,b::text", ["0"]),
        ("P::text", ["12 views", " of ", "all", "0"]),
        ("p::attr(CLASS)", ["a,b"]),
        ("b:has(a)::text", []),
    ],
)
def test_text_and_attributes_that_a_selector_ends_with_are_those_of_its_elements(css, expected):
    """A comment ends no text: scripts put them between the parts of one."""
    page = "<p id=one>12<!-- --> views<b>b</b> of <p id=two><p>all</p><p class='a,b'>0"
    document = turbohtml.parse(page.replace("<p>all</p>", "<object><p>all</p></object>"))
    assert Css.parse(css).search(document) == expected


@pytest.mark.parametrize(
    "css",
    ["", "[", "h1::txt", "p::before", "a,", ",a", "a:nope", "p >", "a:contains(x)", "a[b!=c]", ":is(a", "::attr()"],
)
def test_what_is_no_selector_is_refused(css):
    with pytest.raises(ValueError, match=r"selector|invalid"):
        Css.parse(css)


@pytest.mark.parametrize(
    "css",
    [
        ".post img",
        ".post > b, .post img",
        "b + img",
        "img ~ b",
        "b:nth-last-of-type(2)",
        ".post:has(~ .no)",
        ".post b::text",
        "::text",
    ],
)
def test_any_selector_takes_linear_time(css):
    document = turbohtml.parse("<div class=post><img><b>x</b><img><b>x</b></div>" * 20_000)
    begun = time.process_time()
    Css.parse(css).search(document)
    assert time.process_time() - begun < 5

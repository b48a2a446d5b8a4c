"""The XPath of a CSS selector selects what parsel's does, without steps that take quadratic time."""

import random

import pytest
from lxml import etree, html
from parsel.csstranslator import HTMLTranslator

from crawler.sites.css import LinearTranslator

PARTS = ("div", "p", "a", "*", ".x", ".y", "#i1", "p.x", "[class^=x]", ":not(.z)", ":has(> a)", ":is(.x, .y)")
PSEUDO = ("", "", "", ":first-child", ":last-child", ":only-child", ":nth-child(2)", ":empty")
BETWEEN = (" ", " ", " > ", " + ", " ~ ")


def tree(dice):
    parts, opened = [], []
    for _ in range(100):
        if opened and dice.random() < 0.45:
            parts.append(f"</{opened.pop()}>")
        else:
            opened.append(dice.choice(("div", "p", "a", "span")))
            parts.append(f"<{opened[-1]} class={dice.choice('xyz')} id=i{dice.randrange(4)}>t")
    return html.document_fromstring("".join(parts))


def selector(dice):
    scope = dice.choice((":scope > ", ":scope ", "", "", "", ""))
    steps = [dice.choice(PARTS) + dice.choice(PSEUDO) for _ in range(dice.randint(1, 4))]
    return scope + "".join(
        step + (dice.choice(BETWEEN) if index < len(steps) - 1 else "") for index, step in enumerate(steps)
    )


@pytest.mark.parametrize("seed", range(20))
def test_it_selects_what_parsel_does(seed):
    dice, ours, theirs = random.Random(seed), LinearTranslator(), HTMLTranslator()
    root = tree(dice)
    for _ in range(50):
        text = ", ".join(selector(dice) for _ in range(dice.choice((1, 1, 1, 2, 3))))
        text += "" if "," in text else dice.choice(("", "", "::text", "::attr(class)"))
        assert root.xpath(ours.css_to_xpath(text)) == root.xpath(theirs.css_to_xpath(text)), text


@pytest.mark.parametrize(
    "text", [".post img", "div > img, div > b", ".post b, .post img", "b + img", "img:first-child", "b:last-child"]
)
def test_no_set_of_nodes_is_united_with_another(text):
    """Uniting takes quadratic time; a path with a single step takes linear time, whatever its conditions."""
    path = LinearTranslator().css_to_xpath(text)
    assert path.startswith("descendant-or-self::")
    assert "|" not in path
    assert "/" not in path
    assert "count(" not in path
    root = html.document_fromstring("<div class=post><img><b></b><img><b></b></div>" * 3_000)
    assert len(etree.XPath(path)(root)) >= 3_000

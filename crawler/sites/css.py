"""CSS selectors translated into XPath that takes linear time on any page.

libxml2 takes quadratic time to unite sets of nodes: `.post img` as `//*[post]//img` takes 7 s on a page of 10,000 posts
with 10 images each, and so does `a, b` as `//a | //b`. So all parts of a selector but the last become conditions on
the elements of the last part, from right to left: `//img[ancestor::*[post]]`. A list of selectors becomes one such
condition, too. On ordinary pages this XPath is at least as fast as the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cssselect.parser import parse
from parsel.csstranslator import HTMLTranslator

if TYPE_CHECKING:
    from cssselect.xpath import XPathExpr


class LinearTranslator(HTMLTranslator):
    """parsel's translator, which knows `::text` and `::attr(name)`, without steps forward from many elements."""

    def css_to_xpath(self, css: str, prefix: str = "descendant-or-self::") -> str:
        """Translates a list of selectors into one step, if each of them selects elements and is a step."""
        selectors = parse(css)
        if len(selectors) == 1 or any(selector.pseudo_element for selector in selectors):
            return super().css_to_xpath(css, prefix)
        parts = [self.xpath(selector.parsed_tree) for selector in selectors]
        if not all(map(_is_step, parts)):
            return super().css_to_xpath(css, prefix)
        return f"{prefix}*[{' or '.join(_test('self', part) for part in parts)}]"

    def xpath_descendant_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """Translates `left right`."""
        return _where(right, "ancestor", left) or super().xpath_descendant_combinator(left, right)

    def xpath_child_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """Translates `left > right`."""
        return _where(right, "parent", left) or super().xpath_child_combinator(left, right)

    def xpath_direct_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """Translates `left + right`."""
        if _is_step(left) and _is_step(right):
            return right.add_condition(f"preceding-sibling::*[1][{_test('self', left)}]")
        return super().xpath_direct_adjacent_combinator(left, right)

    def xpath_first_child_pseudo(self, xpath: XPathExpr) -> XPathExpr:
        """Translates `:first-child` without counting the siblings."""
        return xpath.add_condition("not(preceding-sibling::*[1])")

    def xpath_last_child_pseudo(self, xpath: XPathExpr) -> XPathExpr:
        """Translates `:last-child` likewise."""
        return xpath.add_condition("not(following-sibling::*[1])")


def _where(right: XPathExpr, axis: str, left: XPathExpr) -> XPathExpr | None:
    return right.add_condition(_test(axis, left)) if _is_step(left) and _is_step(right) else None


def _is_step(part: XPathExpr) -> bool:
    """Returns whether an expression is a single step whose condition doesn't ask for the position of an element."""
    return not part.path and "position()" not in part.condition


def _test(axis: str, part: XPathExpr) -> str:
    return f"{axis}::{part.element}" + (f"[{part.condition}]" if part.condition else "")

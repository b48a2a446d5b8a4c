"""CSS becomes XPath that takes linear time, also on a page that was made to take longer.

What libxml2 does quadratically is to unite sets of nodes: `.post img` as `//*[post]//img` takes 7 s on a page of 10,000
posts with 10 images each, `a, b` as `//a | //b` likewise. So every part of a selector but its last becomes a condition
on the last one's elements, read backwards: `//img[ancestor::*[post]]`, and a list of selectors one condition. On
ordinary pages this is as fast or faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cssselect.parser import parse
from parsel.csstranslator import HTMLTranslator

if TYPE_CHECKING:
    from cssselect.xpath import XPathExpr


class LinearTranslator(HTMLTranslator):
    """parsel's translator (`::text`, `::attr(name)`), without steps that lead forward from many elements."""

    def css_to_xpath(self, css: str, prefix: str = "descendant-or-self::") -> str:
        """Returns a list of selectors as one step, where each of them chooses elements."""
        selectors = parse(css)
        if len(selectors) == 1 or any(selector.pseudo_element for selector in selectors):
            return super().css_to_xpath(css, prefix)
        parts = [self.xpath(selector.parsed_tree) for selector in selectors]
        if not all(map(_is_step, parts)):
            return super().css_to_xpath(css, prefix)
        return f"{prefix}*[{' or '.join(_test('self', part) for part in parts)}]"

    def xpath_descendant_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """`left right`."""
        return _where(right, "ancestor", left) or super().xpath_descendant_combinator(left, right)

    def xpath_child_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """`left > right`."""
        return _where(right, "parent", left) or super().xpath_child_combinator(left, right)

    def xpath_direct_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """`left + right`."""
        if _is_step(left) and _is_step(right):
            return right.add_condition(f"preceding-sibling::*[1][{_test('self', left)}]")
        return super().xpath_direct_adjacent_combinator(left, right)

    def xpath_first_child_pseudo(self, xpath: XPathExpr) -> XPathExpr:
        """`:first-child`: asks for one sibling instead of counting them all."""
        return xpath.add_condition("not(preceding-sibling::*[1])")

    def xpath_last_child_pseudo(self, xpath: XPathExpr) -> XPathExpr:
        """`:last-child`."""
        return xpath.add_condition("not(following-sibling::*[1])")


def _where(right: XPathExpr, axis: str, left: XPathExpr) -> XPathExpr | None:
    return right.add_condition(_test(axis, left)) if _is_step(left) and _is_step(right) else None


def _is_step(part: XPathExpr) -> bool:
    """Whether it is a single step whose condition doesn't ask where in the step's result an element stands."""
    return not part.path and "position()" not in part.condition


def _test(axis: str, part: XPathExpr) -> str:
    return f"{axis}::{part.element}" + (f"[{part.condition}]" if part.condition else "")

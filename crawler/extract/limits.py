"""Limits of what goes into lxml, whose parser and XPath take quadratic time for some pages.

libxml2 walks all attributes of an element to append one (14 s for 100,000), the whole stack of open elements for some
tags, and all ancestors for selectors such as `.post img`. So a page that isn't small is first counted, by libxml2's own
tokenizer and without building a tree, at some 0.6 us a tag.
"""

from __future__ import annotations

from typing import Any, NoReturn

from lxml import etree

from crawler.errors import ExtractError

MAX_BODY_BYTES = 10_000_000  # a page of 10 MB takes a second to clean; larger ones are no articles
MAX_TAGS = 250_000  # some 3 us and 250 bytes each: under a second, 60 MB. The HTML standard on one page has 150,000
MAX_DEPTH = 512  # open elements at once, as in Chromium; unclosed <font>s of old forums reach hundreds
MAX_DEPTH_SUM = 2_000_000  # of all elements' depths, which a selector climbs at up to 0.7 us a level
MAX_ATTRIBUTES = 256  # of one element; usual ones have at most 30
IMPLIED_DEPTH = 12  # elements that the parser may add by itself, such as <html> and <body>; more than it ever does
LIGHT_BYTES, LIGHT_TAGS = 64_000, 4_000  # smaller pages take at most 0.3 s, even with all attributes on one element


def check_markup(data: bytes) -> bool:
    """Counts a page before it is parsed.

    Args:
        data: HTML in UTF-8, without NULs.

    Returns:
        Whether the depth was checked, too. For a small page `check_depth` does that at less cost after parsing.

    Raises:
        ExtractError: `too-many-tags`, `too-many-attributes` or `too-deep`.
    """
    tags = data.count(b"<")
    if tags > MAX_TAGS:
        raise ExtractError("too-many-tags", f"{tags}, at most {MAX_TAGS} are read")
    if tags <= LIGHT_TAGS and len(data) <= LIGHT_BYTES:
        return tags <= MAX_DEPTH or tags - data.count(b"</") <= MAX_DEPTH - IMPLIED_DEPTH
    parser = etree.HTMLParser(target=_Census(), encoding="utf-8", huge_tree=True)
    parser.feed(data)
    parser.close()
    return True


def check_depth(root: Any) -> None:
    """Checks the depth of a parsed page.

    Raises:
        ExtractError: `too-deep`.
    """
    if _beyond_depth(root):
        raise ExtractError("too-deep", f"more than {MAX_DEPTH} open elements")


class _Census:
    """A parser target that counts and keeps nothing else."""

    def __init__(self) -> None:
        self._depth = self._depth_sum = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Counts an element that opens."""
        self._depth += 1
        self._depth_sum += self._depth
        if self._depth > MAX_DEPTH:
            _refuse("too-deep", f"<{tag[:20]}> in {MAX_DEPTH} open elements")
        if self._depth_sum > MAX_DEPTH_SUM:
            _refuse("too-deep", f"the depths of all elements sum up to {MAX_DEPTH_SUM}")
        if len(attributes) > MAX_ATTRIBUTES:
            _refuse("too-many-attributes", f"<{tag[:20]}> has {len(attributes)}")

    def end(self, _tag: str) -> None:
        """Counts an element that closes."""
        self._depth -= 1

    def close(self) -> None:
        """Does nothing at the end of the page; lxml wants the method."""


_beyond_depth = etree.XPath("boolean(" + "/*" * (MAX_DEPTH + 1) + ")")


def _refuse(reason: str, detail: str) -> NoReturn:
    raise ExtractError(reason, detail)

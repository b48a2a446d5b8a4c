"""What of a page may go into lxml: its parser and XPath take quadratic time for some pages that no browser minds.

libxml2 walks all attributes of an element to append one (100,000 of them: 14 s), the whole stack of open elements for
some tags, and every ancestor for selectors such as `.post img`. So a page that isn't small is first counted by
libxml2's own tokenizer, without building a tree, at some 0.6 us a tag.
"""

from __future__ import annotations

from typing import Any, NoReturn

from lxml import etree

from crawler.errors import ExtractError

MAX_BODY_BYTES = 10_000_000  # a page of 10 MB takes a second to clean; larger ones are no articles
MAX_TAGS = 250_000  # some 3 us and 250 bytes each: under a second, 60 MB. HTML's own standard on one page has 150,000
MAX_DEPTH = 512  # open elements at once, as in Chromium; unclosed <font>s of old forums reach the hundreds
MAX_DEPTHS = 2_000_000  # sum of all elements' depths: what a selector climbs, at up to 0.7 us each
MAX_ATTRIBUTES = 256  # of one element; pages have 30
IMPLIED_DEPTH = 12  # elements that the parser adds by itself: <html>, <body>, and more than it ever does
LIGHT_BYTES, LIGHT_TAGS = 64_000, 4_000  # up to there all attributes of a page on one element take 0.3 s


def check_markup(data: bytes) -> bool:
    """Counts a page before it is parsed.

    Args:
        data: HTML in UTF-8, without NULs.

    Returns:
        Whether all is said; a small page may still be too deep, which `check_depth` tells for less when it is parsed.

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
    """Looks at the depth of a page after it was parsed.

    Raises:
        ExtractError: `too-deep`.
    """
    if _beyond_depth(root):
        raise ExtractError("too-deep", f"more than {MAX_DEPTH} open elements")


class _Census:
    """A parser target that keeps nothing but sums."""

    def __init__(self) -> None:
        self._depth = self._depths = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element opens."""
        self._depth += 1
        self._depths += self._depth
        if self._depth > MAX_DEPTH:
            _refuse("too-deep", f"<{tag[:20]}> in {MAX_DEPTH} open elements")
        if self._depths > MAX_DEPTHS:
            _refuse("too-deep", f"the depths of all elements sum up to {MAX_DEPTHS}")
        if len(attributes) > MAX_ATTRIBUTES:
            _refuse("too-many-attributes", f"<{tag[:20]}> has {len(attributes)}")

    def end(self, _tag: str) -> None:
        """An element closes."""
        self._depth -= 1

    def close(self) -> None:
        """The page ends."""


_beyond_depth = etree.XPath("boolean(" + "/*" * (MAX_DEPTH + 1) + ")")


def _refuse(reason: str, detail: str) -> NoReturn:
    raise ExtractError(reason, detail)

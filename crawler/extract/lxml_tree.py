"""HTML parsed by lxml, for users' parsers that ask for parsel.

libxml2 takes quadratic time for some pages: it walks all attributes of an element to append one (14 s for 100,000), and
the whole stack of open elements for some tags. So a page that isn't small is first counted, by libxml2's own tokenizer
and without building a tree, at some 0.6 us a tag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from lxml import etree, html

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.extract.markup import MAX_TAGS

if TYPE_CHECKING:
    from crawler.base.reasons import Reason

MAX_DEPTH = 512  # open elements at once, as in Chromium; unclosed <font>s of old forums reach hundreds
MAX_DEPTH_SUM = 2_000_000  # of all elements' depths, which a selector climbs at up to 0.7 us a level
MAX_ATTRIBUTES = 256  # of one element; usual ones have at most 30
IMPLIED_DEPTH = 12  # elements that the parser may add by itself, such as <html> and <body>; more than it ever does
LIGHT_BYTES, LIGHT_TAGS = 64_000, 4_000  # smaller pages take at most 0.3 s, even with all attributes on one element


def parse_by_lxml(data: bytes) -> html.HtmlElement:
    """Returns the root element of HTML. Entities that a page defines and files that it names aren't read.

    Args:
        data: In UTF-8.

    Raises:
        ExtractError: `not-html`, if there is no element; `too-many-tags`, `too-many-attributes` or `too-deep`.
    """
    data = data.replace(b"\0", b"")  # libxml2 stops at a NUL
    is_counted = _check_markup(data)
    # huge_tree: else libxml2 silently truncates a page at 256 open elements
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        if isinstance(error, etree.XMLSyntaxError) and error.code == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError(str(error)) from None
        raise ExtractError(reasons.NOT_HTML, str(error).partition("\n")[0]) from None
    if root is None:
        raise ExtractError(reasons.NOT_HTML, "Document is empty")
    if not is_counted and _beyond_depth(root):
        raise ExtractError(reasons.TOO_DEEP, f"more than {MAX_DEPTH} open elements")
    return root


def _check_markup(data: bytes) -> bool:
    """Counts a page before it is parsed.

    Returns:
        Whether the depth was checked, too. For a small page that costs less after parsing.

    Raises:
        ExtractError: `too-many-tags`, `too-many-attributes` or `too-deep`.
    """
    tags = data.count(b"<")
    if tags > MAX_TAGS:
        raise ExtractError(reasons.TOO_MANY_TAGS, f"{tags}, at most {MAX_TAGS} are read")
    if tags <= LIGHT_TAGS and len(data) <= LIGHT_BYTES:
        return tags <= MAX_DEPTH or tags - data.count(b"</") <= MAX_DEPTH - IMPLIED_DEPTH
    parser = etree.HTMLParser(target=_Census(), encoding="utf-8", huge_tree=True)
    parser.feed(data)
    parser.close()
    return True


class _Census:
    """A parser target that counts and keeps nothing else."""

    def __init__(self) -> None:
        self._depth = self._depth_sum = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Counts an element that opens."""
        self._depth += 1
        self._depth_sum += self._depth
        if self._depth > MAX_DEPTH:
            _refuse(reasons.TOO_DEEP, f"<{tag[:20]}> in {MAX_DEPTH} open elements")
        if self._depth_sum > MAX_DEPTH_SUM:
            _refuse(reasons.TOO_DEEP, f"the depths of all elements sum up to {MAX_DEPTH_SUM}")
        if len(attributes) > MAX_ATTRIBUTES:
            _refuse(reasons.TOO_MANY_ATTRIBUTES, f"<{tag[:20]}> has {len(attributes)}")

    def end(self, _tag: str) -> None:
        """Counts an element that closes."""
        self._depth -= 1

    def close(self) -> None:
        """Does nothing at the end of the page; lxml wants the method."""


_beyond_depth = etree.XPath("boolean(" + "/*" * (MAX_DEPTH + 1) + ")")


def _refuse(reason: Reason, detail: str) -> NoReturn:
    raise ExtractError(reason, detail)

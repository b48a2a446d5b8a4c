"""A page as discovery sees it: parsed, with its links and the texts that a reader sees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import turbohtml

from crawler.base import text
from crawler.base.urls import host
from crawler.extract.document import HtmlDocument, absolute
from crawler.extract.html_text import HtmlText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turbohtml import Element

    from crawler.base.models import Fetched

MAX_ANCHORS = 3_000  # the most links of a page that are looked at; lists of results have some hundreds
MAX_DEPTH = 200  # how many elements around one are looked at
_WIDE_FROM = "\u2e80"  # from here on characters say more each: ideographs, kana, Hangul


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link of a page.

    Attributes:
        element: The `<a>`, or a `<link>` of the head.
        url: Canonical.
        text: Clean, on one line.
    """

    element: Element
    url: str
    text: str


class ParsedPage:
    """A parsed page.

    Raises:
        ExtractError: It isn't HTML, or too large.
    """

    def __init__(self, fetched: Fetched) -> None:
        document = HtmlDocument(fetched)
        self.fetched, self.url = fetched, fetched.url
        self.tree, self.base, self.encoding = document.tree, document.base, document.encoding
        self._text = HtmlText()

    def text_of(self, element: Any) -> str:
        """Returns what a reader sees of an element, on one line."""
        return text.line(self._text.of(element))

    def absolute(self, href: str) -> str:
        """Returns the canonical URL of a link; empty if it is no http(s) URL."""
        return next(iter(absolute([href], self.base, encoding=self.encoding)), "")

    @cached_property
    def anchors(self) -> tuple[Anchor, ...]:
        """Its links to other pages, in their order."""
        anchors = []
        for element in self.tree.select("a[href]")[:MAX_ANCHORS]:
            url = self.absolute(element.attr("href") or "")
            if url and url != self.url:
                anchors.append(Anchor(element, url, text.line(element.text)))
        return tuple(anchors)

    @cached_property
    def next_in_head(self) -> tuple[Anchor, ...]:
        """What its head says comes next, as `<link rel=next>`, without a text."""
        links = self.tree.select("link[rel~=next][href]")[:MAX_ANCHORS]
        anchors = [Anchor(link, self.absolute(link.attr("href") or ""), "") for link in links]
        return tuple(anchor for anchor in anchors if anchor.url not in ("", self.url))

    @cached_property
    def urls(self) -> frozenset[str]:
        """The addresses to which its links lead."""
        return frozenset(anchor.url for anchor in self.anchors)

    @cached_property
    def order(self) -> dict[Any, int]:
        """The place of each element in the page."""
        return {node: at for at, node in enumerate(self.tree.descendants) if isinstance(node, turbohtml.Element)}

    @cached_property
    def shown(self) -> str:
        """What a reader sees of all of it, on one line."""
        return self.text_of(self.tree)

    @property
    def host(self) -> str:
        """The host, with its port if that isn't the usual one."""
        return host(self.url)

    @cached_property
    def language(self) -> str:
        """The BCP 47 tag that the page declares; empty for none."""
        root = self.tree.select_one("html")
        return ((root.attr("lang") or "") if root else "").strip()


def ancestors(element: Any) -> Iterator[Any]:
    """Yields the elements around one, from the inside, at most `MAX_DEPTH` of them."""
    for _ in range(MAX_DEPTH):
        element = element.parent
        if not isinstance(element, turbohtml.Element):
            return
        yield element


def within(element: Any, top: Any) -> bool:
    """Returns whether an element is another one or lies in it."""
    return element == top or any(outer == top for outer in ancestors(element))


def width(written: str) -> int:
    """Returns how long a text is to a reader: an ideograph says as much as two or three letters."""
    return sum(2 if character >= _WIDE_FROM else 1 for character in written)

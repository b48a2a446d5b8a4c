"""Where the parts of a page stand, seen from its article: by its title, in its text, or in what is no part of it.

What stands between a title and its text says who wrote it, and when. The same words in a page's footer, in a list of
other stories or in a reader's answer are of something else.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from turbohtml import Element

from crawler.extract.page_parts import MAX_CANDIDATES, class_names, naming
from crawler.extract.page_templates import lineage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.extract.page_parts import PageParts

MIN_PARAGRAPH = 60  # characters of a paragraph of a text
MAX_LINE = 200  # characters of what stands between a title and its text
MAX_LINES = 30  # of those
MAX_LOOKED_AT = 500  # elements behind a title, of which some are such lines
MAX_BOXES = 10  # of a sidebar that may be about the text; a page has two or three
MAX_BELOW = 2  # parts right below a title, where no paragraph follows
LEAD = 1  # paragraphs that may stand above what says who wrote a text, and when


def _named(words: str) -> re.Pattern[str]:
    """Returns what finds an element that is named with one of some words alone."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words.split())})(?![\w-])")


_HEADERS = frozenset({"header"})
_APART_TAGS = frozenset({"footer", "aside", "nav"})
_TITLES = "h1, h2, h3, h4"
_HEADING_TAGS = frozenset({"h1", "h2"})  # what stands before a line that says whose a text is
_apart_names = _named(
    """account also answers clock current-?date footer latest login more(?:-[a-z]+)? next-read page-?footer read-?next
    responses site-?footer today userbar user-?(?:info|links|menu|nav|panel) welcome"""
)
_header_names = _named("banner header masthead page-?header site-?header top-?bar top-?line")
# What accompanies one text, also below it, by the names that systems give it.
_own_names = naming(
    "(?:article|entry|node|post|story)[-_]{0,2}(?:byline|date|details|foot|footer|head|header|info|meta) by-?line meta"
)
# The class of a box that says whose the page's one text is, and of when, though it stands in a sidebar.
_own_box = re.compile(
    r"(?:[a-z]+[-_]{1,2})*(?:article|entry|post|story)[-_]{1,2}(?:authors?|byline|date|details|info|meta)"
).fullmatch
_SIDEBARS = naming("menu nav navbar navigation sidebar sidebars")


class Places:
    """Where the parts of one page stand.

    Args:
        parts: Its parts.
        heading: The one that is the title; None if it is no heading.
    """

    def __init__(self, parts: PageParts, heading: Element | None) -> None:
        self.parts, self._heading, self._body = parts, heading, parts.body
        known = [one for one in (heading, parts.body) if one is not None]
        self._around = frozenset(around for one in known for around in lineage(one))

    @cached_property
    def lines(self) -> list[Element]:
        """The short elements between a title and its text, the outermost ones, in the page's order."""
        if self._heading is None:
            before = [] if self._body is None else [*self.parts.before(self._body)]
            return [one for one in reversed(before) if self._is_line(one)]
        start = self._text_start
        if start is None:
            below = (one for one in self._heading.next_siblings if isinstance(one, Element))
            return [one for one in islice(below, MAX_BELOW) if self._is_line(one)]
        found: list[Element] = []
        within: set[Any] = {self._heading}
        behind = self._order[self._heading]
        for element in islice(self._elements, behind + 1, min(start, behind + MAX_LOOKED_AT)):
            if element.parent in within:
                within.add(element)
            elif self._is_line(element):
                found.append(element)
                within.add(element)
        return found[:MAX_LINES]

    def beside_text(self, css: str) -> Iterator[Element]:
        """Yields what a selector finds beside the text: by the title first, and last in boxes of a sidebar."""
        by_title = [
            one for line in self.lines for one in (line, *line.select(css)) if one is not line or one.matches(css)
        ]
        yield from by_title
        known = frozenset(by_title)
        yield from (one for one in self.parts.outside_asides(css) if one not in known and not self.is_in_text(one))
        for box in self._own_boxes:
            found = (box, *box.select(css)[:MAX_CANDIDATES])
            yield from (one for one in found if one is not box or one.matches(css))

    def is_by_title(self, element: Element) -> bool:
        """Returns whether an element stands between the title and the text."""
        return any(one in self._line_set for one in lineage(element))

    def is_in_text(self, element: Element) -> bool:
        """Returns whether an element is within the article's text, and not beside it, as the line below its title."""
        if self._body is None or self._body not in element.ancestors or self.is_by_title(element):
            return False
        around = element.closest("p, li, td, pre")
        if around is None:
            return False
        before = (one.tag for one in around.previous_siblings if isinstance(one, Element))
        return around is not element or element.tag != "p" or not _HEADING_TAGS.issuperset(before)

    def is_apart(self, element: Element, *, in_header: bool) -> bool:
        """Returns whether an element is in something that is no part of the article, such as a footer or an answer.

        Args:
            element: The element.
            in_header: What stands in a header of the whole page is apart, too.
        """
        if self.parts.is_aside(element):
            return not self._is_in_own_box(element)
        for one in lineage(element):
            if one in self._around:
                return False
            names = class_names(one)
            is_own_footer = one.tag == "footer" and (around := one.closest("article")) is not None
            if is_own_footer and around in self._around:
                return False
            if one.tag in _APART_TAGS or _apart_names.search(names) or one.attr("role") == "contentinfo":
                return not _own_names.search(names)
            is_header = one.tag in _HEADERS or one.attr("role") == "banner" or _header_names.search(names) is not None
            if in_header and is_header and not _own_names.search(names):
                return True
        return False

    def is_behind(self, element: Element) -> bool:
        """Returns whether an element stands below the article's text, and not in what is named for that text."""
        if self.is_by_title(element) or self._is_in_own_box(element):
            return False
        for one in lineage(element):
            if _own_names.search(class_names(one)) or (one.tag == "footer" and one.parent in self._around):
                return self._is_of_another(element) or self.is_apart(element, in_header=False)
        at = self._order[element]
        if self._body is not None and self._body not in element.ancestors:
            return at > self._order[self._body]
        return sum(paragraph < at for paragraph in self._paragraphs[: LEAD + 1]) > LEAD

    def is_of_article(self, element: Element) -> bool:
        """Returns whether an element stands in the article, or right between its title and its text."""
        return self.is_by_title(element) or (self._body is not None and self._body in lineage(element))

    @cached_property
    def _own_boxes(self) -> dict[Any, None]:
        """The boxes of a sidebar that are named for the page's text, in the page's order.

        Where several have one name, they are of other texts, and so is one that stands by their titles.
        """
        named: dict[str, list[Element]] = {}
        for element in self._elements:
            for name in filter(_own_box, class_names(element).split()):
                named.setdefault(name, []).append(element)
        single = (found[0] for found in named.values() if len(found) == 1)
        own = (one for one in single if self._is_in_sidebar(one) and not self._is_of_another(one))
        return dict.fromkeys(islice(own, MAX_BOXES))

    def _is_in_sidebar(self, element: Element) -> bool:
        """Returns whether all that makes an element an aside are sidebars and navigation."""
        asides = [one for one in lineage(element) if one in self.parts.asides]
        return bool(asides) and all(one.tag in _APART_TAGS or _SIDEBARS.search(class_names(one)) for one in asides)

    def _is_in_own_box(self, element: Element) -> bool:
        return bool(self._own_boxes) and not self._own_boxes.keys().isdisjoint(lineage(element))

    @cached_property
    def _elements(self) -> list[Element]:
        return [*self.parts.tree.select("*")]

    @cached_property
    def _order(self) -> dict[Any, int]:
        """Where each element begins, by their number."""
        return {element: at for at, element in enumerate(self._elements)}

    @cached_property
    def _line_set(self) -> frozenset[Any]:
        return frozenset(self.lines)

    @cached_property
    def _paragraphs(self) -> list[int]:
        """Where the paragraphs of the text begin, or those of the page if nothing is named as its text."""
        behind = -1 if self._heading is None else self._order[self._heading]
        body = self.parts.tree if self._body is None else self._body
        long = (one for one in body.select("p") if len(one.text.strip()) >= MIN_PARAGRAPH)
        return [at for one in long if (at := self._order[one]) > behind and not self.parts.is_aside(one)]

    @property
    def _text_start(self) -> int | None:
        """Where the text begins; None if nothing says so."""
        if self._body is not None and self._heading is not None and self._body not in self._heading.ancestors:
            start = self._order[self._body]
            if start <= self._order[self._heading]:
                return None
            # What stands first in an article is about it, whether its title stands in the article, too, or above it.
            return self._paragraphs[0] if self.parts.is_body_whole and self._paragraphs else start
        return self._paragraphs[0] if self._paragraphs else None

    def _is_line(self, element: Element) -> bool:
        is_short = element not in self._around and 0 < len(element.text.strip()) <= MAX_LINE
        return is_short and not self.is_apart(element, in_header=True) and not self._is_of_another(element)

    def _is_of_another(self, element: Element) -> bool:
        """Returns whether an element is in an entry of a list, or an article, that has a title of its own."""
        entry = element.closest("li, tr, article")
        return entry is not None and entry not in self._around and entry.select_one(_TITLES) is not None

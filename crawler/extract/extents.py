"""How much text the elements of a box have, and how much of that is in links: known of all of them from one walk.

Boxes may stand in boxes, hundreds of them, around a text of megabytes, and be named like something small or a list: to
ask each of them for its text would be to read all of that again and again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_COUNTED = 1_000  # characters of a box whose letters are counted
_NOWHERE = (0, 0, 0)  # the span of what a selector finds, but no walk: in a <template>, which a reader doesn't see


class Extents:
    """The texts of a box in their order, and which of them are those of each element within.

    Args:
        box: Of which, and of what is in it, anything may be asked.
    """

    def __init__(self, box: Element) -> None:
        self._texts: list[str] = []
        # How many characters stand before each text, how many of them in links, and how many texts aren't blank; and
        # at the end how many there are in all.
        self._characters, self._linked, self._words = [0], [0], [0]
        self._in_links: list[int] = []  # the places of the texts that are in links
        self._letters: dict[int, int] = {}  # of the texts in which they were counted, by their places
        self._spans: dict[Any, tuple[int, int, int]] = {}  # where the texts of an element are, and how many links
        self._walk(box)

    def characters(self, element: Element) -> int:
        """Returns how many characters the text of an element has."""
        start, end, _links = self._spans.get(element, _NOWHERE)
        return self._characters[end] - self._characters[start]

    def has_text(self, node: Any) -> bool:
        """Returns whether a node has other characters than blanks."""
        if isinstance(node, Text):
            return bool(node.data.strip())
        start, end, _links = self._spans.get(node, _NOWHERE)
        return self._words[end] > self._words[start]

    def links_share(self, element: Element) -> float:
        """Returns which part of the letters of an element are in links; of a long text, which part of all characters.

        It is more than 1 where blanks are all that is in links, or links have more of them than the ends of a text.
        """
        start, end, links = self._spans.get(element, _NOWHERE)
        linked = self._linked[end] - self._linked[start]
        if not links or not linked:
            return 0
        width = self._width(*self._stripped(start, end))
        places = self._in_links[bisect_left(self._in_links, start) : bisect_left(self._in_links, end)]
        return self._width(places, linked) / width if width else 1

    def _width(self, places: Sequence[int], size: int) -> int:
        """Returns how many letters some texts have; of long ones, or ones without, how many characters."""
        return (sum(map(self._letters_of, places)) if size <= MAX_COUNTED else 0) or size

    def _letters_of(self, place: int) -> int:
        if place not in self._letters:
            self._letters[place] = sum(map(str.isalpha, self._texts[place]))
        return self._letters[place]

    def _stripped(self, start: int, end: int) -> tuple[range, int]:
        """Returns texts without blank ones at both ends, and how many characters these have without blanks there."""
        if self._words[start] == self._words[end]:
            return range(0), 0
        first = bisect_right(self._words, self._words[start]) - 1
        last = bisect_left(self._words, self._words[end]) - 1
        before, behind = self._texts[first], self._texts[last]
        blanks = len(before) - len(before.lstrip()) + len(behind) - len(behind.rstrip())
        return range(first, last + 1), self._characters[last + 1] - self._characters[first] - blanks

    def _walk(self, box: Element) -> None:
        """Looks at each node once. Pages may nest deeper than Python's calls do."""
        opened: list[tuple[Iterator[Any], Element, int, int]] = []
        children, element, start, links_before = iter(box), box, 0, 0
        links = open_links = 0
        while True:
            for child in children:
                if isinstance(child, Text):
                    written = child.data
                    if open_links:
                        self._in_links.append(len(self._texts))
                    self._texts.append(written)
                    self._characters.append(self._characters[-1] + len(written))
                    self._linked.append(self._linked[-1] + (len(written) if open_links else 0))
                    self._words.append(self._words[-1] + bool(written.strip()))
                elif isinstance(child, Element):
                    opened.append((children, element, start, links_before))
                    if child.tag == "a":
                        links += 1
                        open_links += 1
                    children, element, start, links_before = iter(child), child, len(self._texts), links
                    break
            else:
                self._spans[element] = start, len(self._texts), links - links_before
                if not opened:
                    return
                open_links -= element.tag == "a"
                children, element, start, links_before = opened.pop()

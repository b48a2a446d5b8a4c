"""A page as a list of blocks: the runs of text that a browser parts by breaking lines, and the boxes that hold them.

One walk of the tree makes them. All that is asked of a box afterwards, such as how much of its text is in links, is the
difference of two sums over its blocks, so that boxes within boxes cost nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.extract.html_text import BLOCK_TAGS, INVISIBLE_TAGS, LINE_NUMBERS, MAYBE_HIDDEN, HtmlText, is_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    import turbohtml

MAX_NODES = 600_000  # elements and texts, 1.5 us each; the standard of HTML, on one page, has 300,000
MAX_NAMES_OF_ELEMENT, MAX_NAMES_ABOVE = 12, 64  # that are looked at: of one element, and of all around it
MIN_NAME, MAX_NAME = 3, 19  # letters of one
MAX_ATTRIBUTE_CHARACTERS = 300  # of id, role and class together; utility frameworks need as many
# What themes call the parts that they show to screen readers, on paper or as advertisements alone, or not on paper.
_NOT_READ = frozenset(
    """sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only element-invisible assistive-text
    a11y-hidden u-visually-hidden printfooter print-only visible-print noprint no-print mw-jump-link mw-editsection
    skip-link ad ads advert advertisement""".split()
)
_MAYBE_UNREAD = _NOT_READ | LINE_NUMBERS
_CELLS = frozenset({"td", "th"})
_name_parts = re.compile(r"[A-Z]+[a-z]*|[a-z]+").findall  # of `mainText`, too
_LINE_BREAK = "\ud815"  # of a `<br>`, until the line ends of the source are blanks; a page can't hold it


class Lineage:
    """The names of a box and of those around it. Boxes that stand alike, as most do, share one.

    Attributes:
        own: The tag of the box, its role, and the words of its class and id.
        new: Those of them that no box around it has.
        path: Its own names and those of all boxes around it.
    """

    __slots__ = ("_below", "new", "own", "path")

    def __init__(self, own: frozenset[str], above: frozenset[str] = frozenset()) -> None:
        self.own, self.new = own, own - above
        self.path = above | self.new if self.new and len(above) < MAX_NAMES_ABOVE else above
        self._below: dict[tuple[str, str, str, str], Lineage] = {}

    def below(self, tag: str, classes: str, html_id: str, role: str) -> Lineage:
        """Returns that of a box in one of this lineage."""
        written = tag, classes, html_id, role
        if (lineage := self._below.get(written)) is None:
            lineage = self._below[written] = Lineage(names_in(*written), self.path)
        return lineage


@dataclass(slots=True, eq=False)
class Box:
    """An element that breaks lines.

    Attributes:
        parent: The box around it; None for the whole page.
        classes: Its attribute `class`, as written.
        html_id: Its attribute `id`.
        place: Among the boxes of the page.
        depth: How many boxes are around it.
        first: The place of its first block.
        end: That behind its last one.
    """

    element: Any
    parent: Box | None
    tag: str
    classes: str
    html_id: str
    lineage: Lineage
    place: int
    depth: int
    first: int
    end: int = 0


@dataclass(slots=True, eq=False)
class TextBlock:
    """A run of text on lines of its own.

    Attributes:
        box: The innermost box that holds it.
        text: As a browser shows it, with a line for each `<br>`, and further blanks; code as it stands.
        line: The same on one line, without these blanks.
        linked: How many of its characters are in links.
        inline: The elements within it, inner ones first, each with where it begins and ends in the text.
    """

    box: Box
    text: str
    line: str
    linked: int
    inline: list[tuple[int, int, Any]] = field(default_factory=list)

    @property
    def tag(self) -> str:
        """That of the element that breaks the line before it."""
        return self.box.tag


@dataclass(slots=True)
class PageBlocks:
    """All blocks, boxes and images of a page, in its order; each image with the box that holds it."""

    blocks: list[TextBlock]
    boxes: list[Box]
    images: list[tuple[Box, Any]]


def blocks_of(tree: turbohtml.Document) -> PageBlocks:
    """Returns the blocks of a page, without what no reader sees.

    Where that is more than what a reader sees without scripts, it waits for one that shows it, and is read as well: the
    texts of Discourse in `<noscript>`, or what React sends for places that it fills later.

    Raises:
        ExtractError: `too-many-tags`, if the page has more nodes than are looked at.
    """
    body = tree.select_one("body")
    if body is None:
        return PageBlocks([], [], [])
    walk = _Walk()
    walk.through(body)
    if walk.unseen_characters > walk.seen_characters:
        walk = _Walk(unseen=True)
        walk.through(body)
    return PageBlocks(walk.blocks, walk.boxes, walk.images)


class _Walk:
    """Goes through a tree once. Pages may nest as deep as Python's calls do."""

    def __init__(self, *, unseen: bool = False) -> None:
        self._reads_unseen = unseen
        self.seen_characters = self.unseen_characters = 0
        self.blocks: list[TextBlock] = []
        self.boxes: list[Box] = []
        self.images: list[tuple[Box, Any]] = []
        # Of the block that is being read: its texts, the elements that ended in it, each with the places of its first
        # text and of that behind its last one, and the elements that are open, with that of the first one.
        self._parts: list[str] = []
        self._ended: list[tuple[int, int, Any]] = []
        self._open: list[tuple[int, Any]] = []
        self._linked = 0
        self._texts = HtmlText()

    def through(self, body: Element) -> None:  # noqa: C901, PLR0912, PLR0915 -- one loop over nodes, where calls cost most
        """Reads all blocks of an element."""
        parts, ended = self._parts, self._ended
        box = self._boxed(body, "body", body.attr("class") or "", None)
        opened: list[tuple[Iterator[Any], Box, bool]] = []
        children, breaks = iter([*body]), True
        links = cells = nodes = 0
        hidden = {element for element in body.select(MAYBE_HIDDEN) if is_hidden(element)}
        while True:
            for child in children:
                if type(child) is Text:
                    text = child.data
                    if parts or not text.isspace():
                        parts.append(text)
                        if links:
                            self._linked += len(text)
                    continue
                if type(child) is not Element:
                    continue
                tag, classes = child.tag, child.attr("class")
                is_invisible = tag in INVISIBLE_TAGS
                if is_invisible or child in hidden or (classes and _may_be_unread(classes) and _is_unread(child)):
                    if is_invisible and tag != "noscript":
                        continue
                    if not self._reads_unseen:
                        self.unseen_characters += len(child.text)
                        continue
                if tag == "br":
                    parts.append(_LINE_BREAK)
                    continue
                if tag == "img":
                    self.images.append((box, child))
                    continue
                opened.append((children, box, breaks))
                breaks = tag in BLOCK_TAGS
                if breaks:
                    if parts or ended:
                        self._end_block(box)
                    box, cells = self._boxed(child, tag, classes or "", box), 0
                    if tag == "pre":
                        self._add_code(box, child)
                        children = iter(())
                        break
                else:
                    if tag == "a":
                        links += 1
                    elif tag in _CELLS:
                        if cells or parts:
                            parts.append("\t")
                        cells += 1
                    self._open.append((len(parts), child))
                nodes_below = [*child]  # faster than to ask for one at a time
                nodes += len(nodes_below)
                children = iter(nodes_below)
                break
            else:
                if breaks:
                    if parts or ended:
                        self._end_block(box)
                    box.end, cells = len(self.blocks), 0
                else:
                    begin, element = self._open.pop()
                    tag = element.tag
                    links -= tag == "a"
                    if begin < len(parts) or (cells and tag in _CELLS):
                        ended.append((begin, len(parts), element))
                if not opened:
                    return
                children, box, breaks = opened.pop()
            if nodes > MAX_NODES:
                raise ExtractError(reasons.TOO_MANY_TAGS, f"more than {MAX_NODES} elements and texts")

    def _boxed(self, element: Element, tag: str, classes: str, parent: Box | None) -> Box:
        html_id, role = element.attr("id") or "", element.attr("role") or ""
        above, depth = (parent.lineage, parent.depth + 1) if parent is not None else (Lineage(frozenset()), 0)
        lineage = above.below(tag, classes, html_id, role)
        box = Box(element, parent, tag, classes, html_id, lineage, len(self.boxes), depth, len(self.blocks))
        self.boxes.append(box)
        return box

    def _add_code(self, box: Box, element: Element) -> None:
        text = self._texts.preformatted(element)
        if line := " ".join(text.split()):
            self.blocks.append(TextBlock(box, text, line, 0))
            self.seen_characters += len(text)

    def _end_block(self, box: Box) -> None:
        """Adds what was read since the last line break, if that is anything."""
        parts = self._parts
        text = "".join(parts).replace("\n", " ").replace("\r", " ").replace(_LINE_BREAK, "\n")
        if line := " ".join(text.split()):
            last = len(parts)
            inline = self._ended + [(begin, last, element) for begin, element in self._open[::-1] if begin < last]
            if inline:
                at = [0, *accumulate(map(len, parts))]
                inline = [(at[begin], at[end], element) for begin, end, element in inline]
            self.blocks.append(TextBlock(box, text, line, self._linked, inline))
            self.seen_characters += len(text)
        parts.clear()
        self._ended.clear()
        self._linked = 0
        if self._open:
            self._open = [(0, element) for _, element in self._open]


def _is_unread(element: Element) -> bool:
    """Returns whether an element that has a name of what isn't read is such."""
    names = (element.attr("class") or "").split()
    return (element.tag != "h1" and not _NOT_READ.isdisjoint(names)) or is_hidden(element)


@lru_cache(maxsize=20_000)
def _may_be_unread(classes: str) -> bool:
    return not _MAYBE_UNREAD.isdisjoint(classes.split())


@lru_cache(maxsize=20_000)
def names_in(tag: str, classes: str, html_id: str, role: str) -> frozenset[str]:
    """Returns the words that an element's class, id and role are made of, and its tag."""
    written = f"{html_id} {role} {classes}"[:MAX_ATTRIBUTE_CHARACTERS]
    words = [part.lower() for part in _name_parts(written) if MIN_NAME <= len(part) <= MAX_NAME]
    return frozenset([*islice(dict.fromkeys(words), MAX_NAMES_OF_ELEMENT), f"<{tag}>"])

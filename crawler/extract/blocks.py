"""A page as a list of blocks: the runs of text that a browser parts by breaking lines, and the boxes that hold them.

One walk of the tree makes them. All that is asked of a box afterwards, such as how much of its text is in links, is the
difference of two sums over its blocks, so that boxes within boxes cost nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, cast

from turbohtml import Element, Text

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.extract.html_text import BLOCK_TAGS, INVISIBLE_TAGS, LINE_NUMBERS, MAYBE_HIDDEN, HtmlText, is_hidden

if TYPE_CHECKING:
    from collections.abc import Callable

    import turbohtml

    NamesOf = Callable[[str, str, str, str], frozenset[str]]  # of a box, by its tag, class, id and role

MAX_NODES = 600_000  # elements and texts, 1.5 us each; the standard of HTML, on one page, has 300,000
MAX_NAMES_ABOVE = 64  # of all boxes around one, that are looked at
MAX_ATTRIBUTE_CHARACTERS = 300  # of id, role and class together; utility frameworks need as many
# What themes call the parts that they show to screen readers, on paper or as advertisements alone, or not on paper.
_NOT_READ = frozenset(
    """sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only element-invisible assistive-text
    a11y-hidden u-visually-hidden printfooter print-only visible-print noprint no-print mw-jump-link mw-editsection
    skip-link ad ads advert advertisement""".split()
)
_MAYBE_UNREAD = _NOT_READ | LINE_NUMBERS
# What becomes of an element: most that aren't named here stand within a line.
_INLINE, _LINK, _CELL, _BLOCK, _LINE_END, _IMAGE, _NO_SCRIPT, _INVISIBLE = range(8)
_KINDS = (
    dict.fromkeys(BLOCK_TAGS, _BLOCK)
    | dict.fromkeys(INVISIBLE_TAGS, _INVISIBLE)
    | {"a": _LINK, "td": _CELL, "th": _CELL, "br": _LINE_END, "img": _IMAGE, "noscript": _NO_SCRIPT}
)
NAMES_ASKED_FOR = frozenset({"main", "<main>", "<article>", "<header>", "<nav>"})  # of `Lineage.path`, by other modules
_name_parts = re.compile(r"[A-Z]+[a-z]*|[a-z]+").findall  # of `mainText`, too
_LINE_BREAK = "\ud815"  # of a `<br>`, until the line ends of the source are blanks; a page can't hold it


class Lineage:
    """The names of a box and of those around it. Boxes that stand alike, as most do, share one.

    Attributes:
        new: The names of the box that no box around it has.
        path: Its own names and those of all boxes around it.
    """

    __slots__ = ("_below", "new", "path")

    def __init__(self, own: frozenset[str], above: frozenset[str] = frozenset()) -> None:
        self.new = own - above
        self.path = above | self.new if self.new and len(above) < MAX_NAMES_ABOVE else above
        self._below: dict[frozenset[str], Lineage] = {}

    def below(self, names: frozenset[str]) -> Lineage:
        """Returns that of a box with some names in one of this lineage."""
        if not self.new and names <= self.path:
            return self
        if (lineage := self._below.get(names)) is None:
            lineage = self._below[names] = Lineage(names, self.path)
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


def blocks_of(tree: turbohtml.Document, names_of: NamesOf | None = None) -> PageBlocks:
    """Returns the blocks of a page, without what no reader sees.

    Where that is more than what a reader sees without scripts, it waits for one that shows it, and is read as well: the
    texts of Discourse in `<noscript>`, or what React sends for places that it fills later.

    Args:
        tree: The page.
        names_of: Gives the names of a box that matter, as `names_in` gives all of them; that by default.

    Raises:
        ExtractError: `too-many-tags`, if the page has more nodes than are looked at.
    """
    body = tree.select_one("body")
    if body is None:
        return PageBlocks([], [], [])
    walk = _Walk(names_of or names_in)
    walk.through(body)
    if walk.unseen_characters > walk.seen_characters:
        walk = _Walk(names_of or names_in, unseen=True)
        walk.through(body)
    return PageBlocks(walk.blocks, walk.boxes, walk.images)


class _Walk:
    """Goes through a tree once. Pages may nest as deep as Python's calls do."""

    def __init__(self, names_of: NamesOf, *, unseen: bool = False) -> None:
        self._names_of, self._reads_unseen = names_of, unseen
        self.seen_characters = self.unseen_characters = 0
        self.blocks: list[TextBlock] = []
        self.boxes: list[Box] = []
        self.images: list[tuple[Box, Any]] = []
        # Of the block that is being read: its texts and how long they are, how much of that is in links, the elements
        # that ended in it, each with where its text begins and ends, and the elements that are open, with where it
        # begins.
        self._parts: list[str] = []
        self._length = self._linked = 0
        self._ended: list[tuple[int, int, Any]] = []
        self._open: list[tuple[int, Any]] = []
        self._texts = HtmlText()

    def through(self, body: Element) -> None:  # noqa: C901, PLR0912, PLR0915 -- one loop over nodes, where calls cost most
        """Reads all blocks of an element."""
        parts, ended = self._parts, self._ended
        hidden = {element for element in body.select(MAYBE_HIDDEN) if is_hidden(element)}
        # The innermost element that is open, its kind, and the box that it is or stands in: None where nothing of it is
        # read. Then the same of those around it.
        within: Any = body
        kind, box = _BLOCK, cast("Box | None", self._boxed(body, "body", body.attr("class") or "", None))
        opened: list[tuple[Any, int, Box | None]] = [(body.parent, _INVISIBLE, None)]
        links = cells = 0
        nodes = chain(body.descendants, (body,))  # it comes once more, so that all that is in it is closed
        for node in islice(nodes, MAX_NODES):
            around = node.parent
            while within is not around:
                if box is None:
                    pass
                elif kind == _BLOCK:
                    if parts or ended:
                        self._end_block(box)
                    box.end, cells = len(self.blocks), 0
                else:
                    begin, _ = self._open.pop()
                    links -= kind == _LINK
                    if begin < self._length or (cells and kind == _CELL):
                        ended.append((begin, self._length, within))
                within, kind, box = opened.pop()
            if type(node) is Text:
                if box is not None:
                    text = node.data
                    if parts or not text.isspace():
                        parts.append(text)
                        self._length += len(text)
                        if links:
                            self._linked += len(text)
                continue
            opened.append((within, kind, box))
            within = node
            if box is None or type(node) is not Element:
                box = None
                continue
            tag, classes = node.tag, node.attr("class")
            kind = _KINDS.get(tag, _INLINE)
            if kind == _INVISIBLE:
                box = None
            elif not self._reads_unseen and (
                kind == _NO_SCRIPT or node in hidden or (classes and _may_be_unread(classes) and _is_unread(node))
            ):
                self.unseen_characters += len(node.text)
                box = None
            elif kind == _BLOCK:
                if parts or ended:
                    self._end_block(box)
                box, cells = self._boxed(node, tag, classes or "", box), 0
                if tag == "pre":
                    self._add_code(box, node)
                    box.end, box = len(self.blocks), None
            elif kind == _LINE_END:
                parts.append(_LINE_BREAK)
                self._length += 1
                box = None
            elif kind == _IMAGE:
                self.images.append((box, node))
                box = None
            else:
                links += kind == _LINK
                if kind == _CELL:
                    if cells or parts:
                        parts.append("\t")
                        self._length += 1
                    cells += 1
                self._open.append((self._length, node))
        if next(nodes, None) is not None:
            raise ExtractError(reasons.TOO_MANY_TAGS, f"more than {MAX_NODES} elements and texts")

    def _boxed(self, element: Element, tag: str, classes: str, parent: Box | None) -> Box:
        html_id, role = element.attr("id") or "", element.attr("role") or ""
        names = self._names_of(tag, classes, html_id, role)
        lineage, depth = (parent.lineage.below(names), parent.depth + 1) if parent is not None else (Lineage(names), 0)
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
            length = self._length
            inline = self._ended + [(begin, length, element) for begin, element in self._open[::-1] if begin < length]
            self.blocks.append(TextBlock(box, text, line, self._linked, inline))
            self.seen_characters += len(text)
        parts.clear()
        self._ended.clear()
        self._length = self._linked = 0
        if self._open:
            self._open = [(0, element) for _, element in self._open]


def _is_unread(element: Element) -> bool:
    """Returns whether an element that has a name of what isn't read is such."""
    names = (element.attr("class") or "").split()
    return (element.tag != "h1" and not _NOT_READ.isdisjoint(names)) or is_hidden(element)


@lru_cache(maxsize=20_000)
def _may_be_unread(classes: str) -> bool:
    return not _MAYBE_UNREAD.isdisjoint(classes.split())


def names_in(tag: str, classes: str, html_id: str, role: str) -> frozenset[str]:
    """Returns the words that an element's class, id and role are made of, and its tag."""
    written = f"{html_id} {role} {classes}"[:MAX_ATTRIBUTE_CHARACTERS]
    return frozenset([*map(str.lower, _name_parts(written)), f"<{tag}>"])

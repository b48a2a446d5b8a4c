"""A page as a list of blocks: the runs of text that a browser parts by breaking lines, and the boxes that hold them.

One walk of the tree makes them. All that is asked of a box afterwards, such as how much of its text is in links, is the
difference of two sums over its blocks, so that boxes within boxes cost nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.extract.html_text import BLOCK_TAGS, INVISIBLE_TAGS, MAYBE_HIDDEN, HtmlText, is_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    import turbohtml

MAX_NODES = 600_000  # elements and texts, 1.5 us each; the standard of HTML, on one page, has 300,000
MAX_NAMES_OF_ELEMENT, MAX_NAMES_ABOVE = 12, 64  # that are looked at: of one element, and of all around it
MIN_NAME, MAX_NAME = 3, 19  # letters of one
MAX_ATTRIBUTE_CHARACTERS = 300  # of id, role and class together; utility frameworks need as many
# What themes call the parts that they show to screen readers, on paper or as advertisements alone, or not on paper.
_NOT_READ = ", ".join(
    f".{name}:not(h1)"
    for name in """sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only element-invisible
    assistive-text a11y-hidden u-visually-hidden printfooter print-only visible-print noprint no-print mw-jump-link
    mw-editsection skip-link ad ads advert advertisement""".split()
)
_CELLS = frozenset({"td", "th"})
_NO_NAMES: frozenset[str] = frozenset()
_name_parts = re.compile(r"[a-z]+").findall
_camel = re.compile(r"(?<=[a-z])(?=[A-Z])").sub


@dataclass(slots=True, eq=False)
class Box:
    """An element that breaks lines, or has a name of its own.

    Attributes:
        parent: The box around it; None for the whole page.
        names: Its tag, its role, and the words of its class and id, that no box around it has.
        path: All those of the boxes around it and its own.
        first: The place of its first block.
        end: That behind its last one.
        kind: By which the boxes of a list are alike: its tag and class.
    """

    element: Any
    parent: Box | None
    tag: str
    names: frozenset[str]
    path: frozenset[str]
    kind: tuple[str, str]
    place: int
    depth: int
    first: int = 0
    end: int = 0


@dataclass(slots=True, eq=False)
class TextBlock:
    """A run of text on lines of its own.

    Attributes:
        box: The innermost box that holds it.
        tag: That of the element that breaks the line before it.
        text: As a browser shows it, on one line; code as it stands.
        linked: How many of its characters are in links.
        inline: The elements within it, inner ones first, each with where it begins and ends in the text.
    """

    box: Box
    tag: str
    text: str
    linked: int
    inline: list[tuple[int, int, Any]] = field(default_factory=list)


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
        self._parts: list[str] = []  # of the block that is being read
        self._width = self._linked = 0
        self._inline: list[tuple[int, int, Any]] = []
        self._open: list[tuple[int, Any]] = []  # the inline elements around the place, and where they begin in it
        self._texts = HtmlText()
        # What a box adds to the names above it, and both together: most boxes stand beside others like them.
        self._paths: dict[tuple[frozenset[str], frozenset[str]], tuple[frozenset[str], frozenset[str]]] = {}

    def through(self, body: Element) -> None:  # noqa: C901, PLR0912, PLR0915 -- one loop over nodes, where calls cost most
        """Reads all blocks of an element."""
        box = self._boxed(body, None)
        tag = "body"
        opened: list[tuple[Iterator[Any], Box, str, bool]] = []
        children, breaks = iter(body), True
        links = nodes = 0
        hidden = {element for element in body.select(MAYBE_HIDDEN) if is_hidden(element)} | {*body.select(_NOT_READ)}
        while True:
            for child in children:
                nodes += 1
                if isinstance(child, Text):
                    written = child.data.replace("\n", " ").replace("\r", " ")
                    self._parts.append(written)
                    self._width += len(written)
                    if links:
                        self._linked += len(written)
                    continue
                if not isinstance(child, Element):
                    continue
                child_tag = child.tag
                if child_tag in INVISIBLE_TAGS or child in hidden:
                    may_be_shown = child_tag == "noscript" or child_tag not in INVISIBLE_TAGS
                    if not may_be_shown:
                        continue
                    if not self._reads_unseen:
                        self.unseen_characters += len(child.text)
                        continue
                if child_tag == "br":
                    self._parts.append("\n")
                    self._width += 1
                    continue
                if child_tag == "img":
                    self.images.append((box, child))
                    continue
                opened.append((children, box, tag, breaks))
                breaks = child_tag in BLOCK_TAGS
                if breaks:
                    self._end_block(box, tag)
                    box, tag = self._boxed(child, box), child_tag
                    if child_tag == "pre":
                        self._add_code(box, self._texts.preformatted(child))
                        children = iter(())
                        break
                else:
                    if child_tag in _CELLS and self._parts:
                        self._parts.append("\t")
                        self._width += 1
                    links += child_tag == "a"
                    self._open.append((self._width, child))
                children = iter([*child])  # faster than to ask for one at a time
                break
            else:
                if breaks:
                    self._end_block(box, tag)
                    box.end = len(self.blocks)
                else:
                    begin, element = self._open.pop()
                    links -= element.tag == "a"
                    if begin < self._width:
                        self._inline.append((begin, self._width, element))
                if not opened:
                    return
                children, box, tag, breaks = opened.pop()
            if nodes > MAX_NODES:
                raise ExtractError(reasons.TOO_MANY_TAGS, f"more than {MAX_NODES} elements and texts")

    def _boxed(self, element: Element, parent: Box | None) -> Box:
        tag, named = element.tag, element.attr("class") or ""
        names = names_in(tag, named, element.attr("id") or "", element.attr("role") or "")
        above = parent.path if parent is not None else _NO_NAMES
        if (known := self._paths.get((above, names))) is None:
            new = names - above
            known = self._paths[above, names] = new, (above | new if new and len(above) < MAX_NAMES_ABOVE else above)
        names, path = known
        place = len(self.boxes)
        depth = 0 if parent is None else parent.depth + 1
        box = Box(element, parent, tag, names, path, (tag, named), place, depth, len(self.blocks))
        self.boxes.append(box)
        return box

    def _add_code(self, box: Box, text: str) -> None:
        if text.strip():
            self.blocks.append(TextBlock(box, "pre", text, 0))
            self.seen_characters += len(text)

    def _end_block(self, box: Box, tag: str) -> None:
        """Adds what was read since the last line break, if that is anything."""
        if not self._parts:
            return
        text = "".join(self._parts)
        if text.strip():
            reaching_on = [(begin, len(text), element) for begin, element in self._open[::-1] if begin < len(text)]
            inline = self._inline + reaching_on
            self.blocks.append(TextBlock(box, tag, text, self._linked, inline))
            self.seen_characters += len(text)
        self._parts, self._inline = [], []
        self._open = [(0, element) for _, element in self._open]
        self._width = self._linked = 0


@lru_cache(maxsize=20_000)
def names_in(tag: str, named: str, identity: str, role: str) -> frozenset[str]:
    """Returns the words that an element's class, id and role are made of, and its tag."""
    written = f"{identity} {role} {named}"[:MAX_ATTRIBUTE_CHARACTERS]
    words = (part for part in _name_parts(_camel("-", written).lower()) if MIN_NAME <= len(part) <= MAX_NAME)
    return frozenset([*islice(dict.fromkeys(words), MAX_NAMES_OF_ELEMENT), f"<{tag}>"])

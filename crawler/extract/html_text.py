"""The text of an element as a reader sees it, with line breaks where a browser makes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.extract.markup import HIDDEN_TEMPLATE
from crawler.extract.shape import CELL, ROW_BEGINS, ROW_ENDS, VERBATIM

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from turbohtml import Node

MAX_NODES = 2_000_000  # 0.6 us each; the largest page that is read has 500,000, but elements may be within each other
MAX_CHARACTERS = 40_000_000  # of all elements' texts together; the largest page has 10 million

# Elements whose text no reader sees, or that isn't part of what the author wrote.
INVISIBLE_TAGS = frozenset(
    """audio button canvas embed head iframe math noscript object option script select style svg template textarea
    video""".split()
) | {HIDDEN_TEMPLATE}
BLOCK_TAGS = frozenset(
    """address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table
    tbody tfoot thead tr ul""".split()
)
_CELLS = frozenset({"td", "th"})
# What highlighters of code name the numbers of its lines, in a cell or a span: Pygments, Rouge, Chroma, Hexo, GitHub.
LINE_NUMBERS = frozenset("blob-num gutter hljs-ln-numbers lineno linenos linenumber ln lnt rouge-gutter".split())
_NUMBERED = ", ".join(f".{name}" for name in sorted(LINE_NUMBERS))
_hidden_style = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE).search


class HtmlText:
    """Makes texts of elements of one page. All together are bounded, even if each element is in the next one.

    Args:
        marked: With marks around code and the cells and rows of tables, for `shape.clean`.
    """

    def __init__(self, *, marked: bool = False) -> None:
        self._around_tags = _MARKED if marked else _AROUND
        self._nodes_left, self._characters_left = MAX_NODES, MAX_CHARACTERS

    def of(self, top: Node, skip: Container[Any] = frozenset()) -> str:
        """Returns the text of an element, not yet clean: runs of blanks and line breaks are left to `text.paragraphs`.

        Args:
            top: An element, or a whole tree. Its own tag doesn't matter, so that a `<title>` or `<textarea>` has text.
            skip: Elements whose text is left out.

        Raises:
            ExtractError: `too-deep`, if elements within elements have too many nodes, or too long texts.
        """
        tag = top.tag if isinstance(top, Element) else ""
        around = self._around_tags.get(tag) or ""
        if tag == "pre":
            return f"{around}{self.preformatted(top, skip)}{around}"
        if top.select_one(_UNLIKE_TEXT) is None and not skip:
            line = _on_one_line(top.text)
            self._spend(0, len(line))
            if not _has_permalink(top, line):
                return f"{around}{line}{_BEHIND.get(around, around)}" if around else line
        return self._walked(top, around, skip)

    def _walked(self, top: Node, around: str, skip: Container[Any]) -> str:
        around_tags, parts = self._around_tags, [around]
        # Open elements, each with what to go on with after it: pages may nest as deep as Python's calls.
        opened: list[tuple[Iterator[Node], str]] = []
        children, nodes = iter(top), 0
        while True:
            for child in children:
                nodes += 1
                if isinstance(child, Text):
                    parts.append(_on_one_line(child.data))
                elif isinstance(child, Element):
                    tag = child.tag
                    of_child = around_tags.get(tag, "")
                    if of_child is None or is_hidden(child) or (skip and child in skip):
                        continue
                    if tag == "pre":
                        parts += (of_child, self.preformatted(child, skip), of_child)
                        continue
                    parts.append(of_child)
                    opened.append((children, around))
                    children, around = iter(child), of_child
                    break
            else:
                if around:
                    parts.append(_BEHIND.get(around, around))
                if not opened:
                    made = "".join(parts)
                    self._spend(nodes, len(made))
                    return made
                children, around = opened.pop()

    def preformatted(self, top: Node, skip: Container[Any] = frozenset()) -> str:
        """Returns the text of an element with all its blanks and line breaks, as if it was `<pre>`.

        Blocks and `<br>` break lines, too; not yet clean: what nobody sees is left to `text.verbatim`.

        Args:
            top: An element, or a whole tree.
            skip: Elements whose text is left out.

        Raises:
            ExtractError: As `of`.
        """
        parts: list[str] = []
        rest: list[Node | None] = [top]  # None: a block has ended
        nodes = 0
        while rest:
            node = rest.pop()
            nodes += 1
            if isinstance(node, Text):
                parts.append(node.data)
                continue
            tag = node.tag if isinstance(node, Element) else ""
            around = "\n" if node is None else _AROUND.get(tag, "")
            if isinstance(node, Element) and node is not top and (around is None or node in skip or is_hidden(node)):
                continue
            if tag == "br" or (around and parts and not parts[-1].endswith(("\n", around))):
                parts.append(around or "")
            if node is not None and tag != "br":
                rest += [None] if around == "\n" else []
                rest += reversed([*node])
        made = "".join(parts)
        self._spend(nodes, len(made))
        return made

    def _spend(self, nodes: int, characters: int) -> None:
        self._nodes_left -= nodes
        self._characters_left -= characters
        if self._nodes_left < 0:
            raise ExtractError(reasons.TOO_DEEP, f"texts within texts have {MAX_NODES} nodes")
        if self._characters_left < 0:
            raise ExtractError(reasons.TOO_DEEP, f"texts within texts have {MAX_CHARACTERS} characters")


def _on_one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


# What a browser puts before and after an element; None for an element that it doesn't show.
_AROUND: dict[Any, str | None] = {
    **dict.fromkeys(BLOCK_TAGS, "\n"),
    **dict.fromkeys(_CELLS, " "),
    **dict.fromkeys(INVISIBLE_TAGS),
}
_BEFORE_ROW = f"\n{ROW_BEGINS}"
_MARKED = _AROUND | dict.fromkeys(_CELLS, f" {CELL} ") | {"pre": f"\n{VERBATIM}\n", "tr": _BEFORE_ROW}
_BEHIND = {_BEFORE_ROW: f"{ROW_ENDS}\n"}  # what closes an element where it isn't what opens it

_PERMALINK_SIGNS = ("\N{PILCROW SIGN}", "\N{SECTION SIGN}", "#", "\N{LINK SYMBOL}")
_HEADINGS = "h1, h2, h3, h4, h5, h6, dt, caption, figcaption"
_UNLIKE_TEXT = ", ".join([*sorted(_AROUND), "[hidden]", "[style]"])  # what an element may have within that matters


# Finds what `is_hidden` is asked about.
MAYBE_HIDDEN = '[hidden], [style*="display" i], [style*="visibility" i], a[href^="#"]'


def is_hidden(element: Element) -> bool:
    """Returns whether a reader doesn't see an element, or sees no part of the text in it."""
    style = element.attr("style")
    return (
        element.attr("hidden") is not None
        or (style is not None and _hidden_style(style) is not None)
        or (element.tag == "a" and _is_permalink(element))
        or _numbers_lines(element)
    )


def _numbers_lines(element: Element) -> bool:
    """Returns whether an element has nothing but the numbers of lines of code, which are no part of it."""
    names = element.attr("class")
    if not names:
        return False
    named = names.split() if isinstance(names, str) else names
    if LINE_NUMBERS.isdisjoint(named) or element.select_one(_NUMBERED) is not None:
        return False  # of hundreds within each other only the innermost is read, lest it take quadratic time
    return "".join(element.text.split()).isdigit()


def _has_permalink(top: Node, whole: str) -> bool:
    """Returns whether a heading's own address is within an element, whose text is `whole`."""
    return any(sign in whole for sign in _PERMALINK_SIGNS) and any(map(_is_permalink, top.select('a[href^="#"]')))


def _is_permalink(link: Element) -> bool:
    """Returns whether a link is a heading's own address, which a reader sees only while pointing at the heading."""
    return (
        (link.attr("href") or "").startswith("#")
        and link.text.strip() in _PERMALINK_SIGNS
        and link.closest(_HEADINGS) is not None
    )

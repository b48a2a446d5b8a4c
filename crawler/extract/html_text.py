"""The text of an element as a reader sees it, with line breaks where a browser makes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.errors import ExtractError
from crawler.extract.markup import HIDDEN_TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from turbohtml import Node

MAX_NODES = 2_000_000  # 0.6 us each; the largest page that is read has 500,000, but elements may be within each other

# Elements whose text no reader sees, or that isn't part of what the author wrote.
_INVISIBLE = frozenset(
    """audio button canvas embed head iframe math noscript object option script select style svg template textarea
    video""".split()  # noqa: SIM905 -- a list of words reads better
) | {HIDDEN_TEMPLATE}
_BLOCKS = frozenset(
    """address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table
    tbody tfoot thead tr ul""".split()  # noqa: SIM905
)
_CELLS = frozenset({"td", "th"})
_hidden_style = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE).search


class HtmlText:
    """Makes texts of elements of one page. All together take bounded time, even if each element is in the next one."""

    def __init__(self) -> None:
        self._nodes_left = MAX_NODES

    def of(self, top: Node, skip: Container[Any] = frozenset()) -> str:
        """Returns the text of an element, not yet clean: runs of blanks and line breaks are left to `text.paragraphs`.

        Args:
            top: An element, or a whole tree. Its own tag doesn't matter, so that a `<title>` or `<textarea>` has text.
            skip: Elements whose text is left out.

        Raises:
            ExtractError: `too-deep`, if elements within elements have too many nodes.
        """
        tag = top.tag if isinstance(top, Element) else ""
        around = _AROUND.get(tag) or ""
        if top.select_one(_UNLIKE_TEXT) is None and not skip:
            return f"{around}{top.text if tag == 'pre' else _on_one_line(top.text)}{around}"
        parts = [around]
        # Open elements, each with what to go on with after it: pages may nest as deep as Python's calls.
        opened: list[tuple[Iterator[Node], str, bool]] = []
        children, keeps_lines, nodes = iter(top), tag == "pre", 0
        while True:
            for child in children:
                nodes += 1
                if isinstance(child, Text):
                    parts.append(child.data if keeps_lines else _on_one_line(child.data))
                elif isinstance(child, Element):
                    of_child = _AROUND.get(child.tag, "")
                    if of_child is None or _is_hidden(child) or (skip and child in skip):
                        continue
                    parts.append(of_child)
                    opened.append((children, around, keeps_lines))
                    children, around, keeps_lines = iter(child), of_child, keeps_lines or child.tag == "pre"
                    break
            else:
                parts.append(around)
                if not opened:
                    self._spend(nodes)
                    return "".join(parts)
                children, around, keeps_lines = opened.pop()

    def _spend(self, nodes: int) -> None:
        self._nodes_left -= nodes
        if self._nodes_left < 0:
            raise ExtractError("too-deep", f"texts within texts have {MAX_NODES} nodes")


def _on_one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


# What a browser puts before and after an element; None for an element that it doesn't show.
_AROUND: dict[Any, str | None] = {
    **dict.fromkeys(_BLOCKS, "\n"),
    **dict.fromkeys(_CELLS, " "),
    **dict.fromkeys(_INVISIBLE),
}


_UNLIKE_TEXT = ", ".join([*sorted(_AROUND), "[hidden]", "[style]"])  # what an element may have within that matters


def _is_hidden(element: Element) -> bool:
    style = element.attr("style")
    return element.attr("hidden") is not None or (style is not None and _hidden_style(style) is not None)

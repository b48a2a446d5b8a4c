"""Markup becomes text: what a reader sees, with line breaks where a browser makes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container

# Never text to a reader, or not part of what the author wrote.
_INVISIBLE = frozenset(
    """audio button canvas embed head iframe math noscript object option script select style svg template textarea
    video""".split()  # noqa: SIM905 -- a list of words reads better
)
_BLOCKS = frozenset(
    """address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table
    tbody tfoot thead tr ul""".split()  # noqa: SIM905
)
_CELLS = frozenset({"td", "th"})
_hidden_style = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE).search


def prose(element: Any, skip: Container[Any] = frozenset()) -> str:
    """Returns an element's text, not yet clean: runs of blanks and of line breaks are left to `text.paragraphs`.

    Args:
        element: An lxml element; what it is itself (a `<title>`, a `<textarea>`) doesn't matter, only what is inside.
        skip: Elements whose text is left out.
    """
    parts: list[str] = []
    stack: list[Any] = [element]  # elements to open, and text that comes after them: a page may nest deeper than Python
    preformatted = 0
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node if preformatted else node.replace("\n", " ").replace("\r", " "))
            continue
        if isinstance(node, _Close):
            preformatted -= node.preformatted
            parts.append(node.text)
            continue
        tag = node.tag
        if node is not element and (tag in _INVISIBLE or node in skip or _is_hidden(node)):
            continue
        close = _CLOSE.get(tag)
        if close:
            parts.append(close.text)
            preformatted += close.preformatted
            stack.append(close)
        for child in node.iterchildren(reversed=True):
            if child.tail:
                stack.append(child.tail)
            if isinstance(child.tag, str):  # comments and the like have a function as their tag
                stack.append(child)
        if node.text:
            stack.append(node.text)
    return "".join(parts)


class _Close:
    """The end of an element on the stack."""

    __slots__ = ("preformatted", "text")

    def __init__(self, text: str, *, preformatted: int = 0) -> None:
        self.text, self.preformatted = text, preformatted


_CLOSE = {
    **{tag: _Close("\n") for tag in _BLOCKS},
    **{tag: _Close(" ") for tag in _CELLS},
    "pre": _Close("\n", preformatted=1),
}


def _is_hidden(element: Any) -> bool:
    style = element.get("style")
    return element.get("hidden") is not None or (style is not None and _hidden_style(style) is not None)

"""The text of an element as a reader sees it, with line breaks where a browser makes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

# Elements whose text no reader sees, or that isn't part of what the author wrote.
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


def html_text(element: Any, skip: Container[Any] = frozenset()) -> str:  # noqa: C901 -- a loop without calls takes half the time
    """Returns the text of an element, not yet clean: runs of blanks and line breaks are left to `text.paragraphs`.

    Args:
        element: An lxml element. Its own tag doesn't matter, so that a `<title>` or `<textarea>` has text, too.
        skip: Elements whose text is left out.
    """
    tag = element.tag
    around, keeps_lines = _AROUND.get(tag) or "", tag == "pre"
    parts: list[str] = [around]
    if text := element.text:
        parts.append(text if keeps_lines else _on_one_line(text))
    # Open elements, each with what to go on with after it: pages may nest deeper than Python's calls.
    opened: list[tuple[Any, Iterator[Any], str, bool]] = []
    children = iter(element) if len(element) else iter(())
    while True:
        for child in children:
            tag = child.tag
            of_child = _AROUND.get(tag, "")
            if of_child is not None and not _is_hidden(child) and not (skip and child in skip):
                if of_child:
                    parts.append(of_child)
                keeps = keeps_lines or tag == "pre"
                if text := child.text:
                    parts.append(text if keeps else _on_one_line(text))
                if len(child):
                    opened.append((child, children, of_child, keeps_lines))
                    children, keeps_lines = iter(child), keeps
                    break
                if of_child:
                    parts.append(of_child)
            if tail := child.tail:
                parts.append(tail if keeps_lines else _on_one_line(tail))
        else:
            if not opened:
                parts.append(around)
                return "".join(parts)
            child, children, of_child, keeps_lines = opened.pop()
            parts.append(of_child)
            if tail := child.tail:
                parts.append(tail if keeps_lines else _on_one_line(tail))


def _on_one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")


# What a browser puts before and after an element; None for an element that it doesn't show.
_AROUND: dict[Any, str | None] = {
    **dict.fromkeys(_BLOCKS, "\n"),
    **dict.fromkeys(_CELLS, " "),
    **dict.fromkeys(_INVISIBLE),
    **dict.fromkeys((etree.Comment, etree.ProcessingInstruction, etree.Entity)),  # their "tags"
}


def _is_hidden(element: Any) -> bool:
    style = element.get("style")
    return element.get("hidden") is not None or (style is not None and _hidden_style(style) is not None)

"""The texts of lines: of what may say who wrote a page, when, or what it is called.

Such elements are looked for by the names that they have, and a page may give those names to boxes that are within each
other, hundreds of them, around all that it has. Each of them would be read to its end only to see that it is no line.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from crawler.base import text
from crawler.extract.html_text import HtmlText

if TYPE_CHECKING:
    from turbohtml import Element

MAX_NODES = 500  # elements and texts of a line; icons that are drawn in it have dozens
MAX_CHARACTERS = 20_000  # with those that nobody sees, such as a script's


def line_of(element: Element) -> str:
    """Returns the text of an element as one line; empty if it holds more than a line does."""
    return text.line(HtmlText().of(element)) if is_small(element) else ""


def lines_of(element: Element) -> list[str]:
    """Returns the text of an element as the lines that a reader sees; none if it holds more than a line does."""
    return text.paragraphs(HtmlText().of(element)).split("\n") if is_small(element) else []


def is_small(element: Element) -> bool:
    """Returns whether an element holds no more than a line does. No more of it is looked at than that."""
    return next(islice(element.descendants, MAX_NODES, None), None) is None and len(element.text) <= MAX_CHARACTERS

"""CSS selectors, run by turbohtml, with parsel's `::text` and `::attr(name)` at their ends.

turbohtml takes linear time for a selector on any page: `.post img` or `li:nth-child(2n)` some 50 ms on 100,000
elements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import turbohtml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turbohtml import Document, Element

_ending = re.compile(r"::(?:text|attr\(\s*([\"']?)([^\s\"'()]+)\1\s*\))$", re.IGNORECASE).search
_OPEN_ENDS = (" ", "\t", "\n", ">", "+", "~")  # what ends so goes on with any element: `.post ::text`, as in parsel
_EMPTY = turbohtml.parse("")


@dataclass(frozen=True, slots=True)
class CssPart:
    """A selector, or a list of them, with one ending.

    Attributes:
        css: Without the ending.
        takes_text: It ended in `::text`.
        attribute: The name in `::attr(name)`; empty for none.
    """

    css: str
    takes_text: bool = False
    attribute: str = ""

    @classmethod
    def parse(cls, text: str) -> CssPart:
        """Separates a selector from its ending."""
        text = text.strip()
        ending = _ending(text)
        if ending is None:
            return cls(text)
        css = text[: ending.start()]
        css += "*" if not css or css.endswith(_OPEN_ENDS) else ""
        return cls(css, takes_text=ending[2] is None, attribute=(ending[2] or "").lower())

    def search(self, document: Document | Element) -> Sequence[Element | str] | None:
        """Returns what the selector finds; None if only a walk over the page can tell the order of the texts."""
        elements = document.select(self.css)
        if self.attribute:
            return [value for element in elements if (value := element.attr(self.attribute)) is not None]
        if not self.takes_text:
            return elements
        texts = []
        for element in elements:
            if element.select_one("*") is not None:
                return None
            texts.append(element.text)
        return [text for text in texts if text]


@dataclass(frozen=True, slots=True)
class Css:
    """A compiled selector.

    Attributes:
        parts: One for each ending, none twice: `a, b` has one, `a::text, b` two.
    """

    parts: tuple[CssPart, ...]

    @classmethod
    def parse(cls, text: str) -> Css:
        """Compiles a selector or a list of them.

        Raises:
            ValueError: The text is no selector.
        """
        of_ending: dict[tuple[bool, str], list[str]] = {}
        for part in map(CssPart.parse, _split(text)):
            _EMPTY.select(part.css)  # raises; a page's `select` doesn't compile it again
            of_ending.setdefault((part.takes_text, part.attribute), []).append(part.css)
        return cls(tuple(CssPart(", ".join(parts), *ending) for ending, parts in of_ending.items()))

    def search(self, document: Document | Element) -> Sequence[Element | str]:
        """Returns the elements or strings that the selector finds, in the order of the page.

        A text is what stands between two tags; a comment doesn't end it.
        """
        matches = self.parts[0].search(document) if len(self.parts) == 1 else None
        return self._walk(document) if matches is None else matches

    def _walk(self, document: Document | Element) -> list[Element | str]:
        members = [(part, frozenset(document.select(part.css))) for part in self.parts]
        takes_text = frozenset[object]().union(*(elements for part, elements in members if part.takes_text))
        matches: list[Element | str] = []
        text_of: object = None  # the element in which the last node was a text
        for node in document.descendants:
            if isinstance(node, turbohtml.Element):
                text_of = None
                parts = [part for part, elements in members if node in elements and not part.takes_text]
                names = {part.attribute for part in parts}
                matches += [node] if "" in names else []
                matches += [node.attr(name) or "" for name in node.attrs if name in names] if names else []
            elif isinstance(node, turbohtml.Text) and (parent := node.parent) in takes_text:
                if parent == text_of:
                    matches[-1] = f"{matches[-1]}{node.data}"
                else:
                    matches.append(node.data)
                text_of = parent
        return matches


def _split(text: str) -> list[str]:
    """Returns the selectors of a list: what stands between commas outside of quotes and brackets."""
    parts, begin, depth, quote = [], 0, 0, ""
    characters = enumerate(text)
    for at, character in characters:
        if character == "\\":
            next(characters, None)
        elif quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]]

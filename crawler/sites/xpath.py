"""XPath 1.0 expressions, run by turbohtml.

Its functions and axes are those of the standard. libxml2's, which parsel has, differs in how numbers become strings
(`string(1 div 3)` has 15 digits there, 16 here) and in `lang()`, which here heeds HTML's `lang`, too. Usual paths take
linear time; `following::`, `preceding::` and, on deep pages, `ancestor::` don't in either: 5 s for 20,000 elements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import turbohtml

if TYPE_CHECKING:
    from turbohtml import Document, Element

_FUNCTIONS = frozenset(
    """last position count id local-name namespace-uri name string concat starts-with contains substring-before
    substring-after substring string-length normalize-space translate boolean not true false lang number sum floor
    ceiling round text node comment processing-instruction and or div mod""".split()
)
_string = re.compile(r"\"[^\"]*\"|'[^']*'")
_called = re.compile(r"([\w:.-]+)\s*\(").findall
_prefixed = re.compile(r"(?<![:\w])[\w.-]+:(?!:)").search
_PROBE = turbohtml.parse("<p>")


@dataclass(frozen=True, slots=True)
class XPath:
    """A compiled expression."""

    run: turbohtml.XPath

    @classmethod
    def parse(cls, text: str) -> XPath:
        """Compiles an expression.

        Raises:
            ValueError: The text is no XPath 1.0, or has variables, namespaces or functions that nobody defines.
        """
        rest = _string.sub("''", text)
        if unknown := [name for name in _called(rest) if name.rpartition("::")[2] not in _FUNCTIONS]:
            raise ValueError(f"unknown function {unknown[0]}")
        if "$" in rest or _prefixed(rest):
            raise ValueError("neither variables nor namespace prefixes are defined")
        compiled = turbohtml.XPath(text)
        try:
            compiled(_PROBE)
        except TypeError as error:
            raise ValueError(str(error)) from None
        return cls(compiled)

    def search(self, document: Document | Element) -> list[Element | str] | float | bool | str:
        """Returns the elements and strings that the expression finds, or its number, string or bool.

        Nothing is found where a function gets a value that it doesn't take.
        """
        try:
            result = self.run(getattr(document, "root", None) or document)  # an element has no root of its own
        except (TypeError, ValueError):
            return []
        if not isinstance(result, list):
            return result
        return [node for node in result if isinstance(node, turbohtml.Element | str)]  # no comments

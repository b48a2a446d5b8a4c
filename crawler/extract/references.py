"""Character references, such as `&#228;` or `&amp;`, that are left in a text after it was parsed: it was escaped twice.

Feeds are written so, and what a page declares for programs. What they stand for is sure of a name; a title may be about
such references, and has them then.
"""

from __future__ import annotations

import html
import re
from html.entities import html5

_reference = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# The references that stand for `&`, `<`, `>`, quotes and a blank: a text about markup is likely to show them.
_is_of_markup = re.compile(
    r"&(?:amp|lt|gt|quot|apos|nbsp|#0*(?:3[489]|6[02]|160)|#x0*(?:2[267]|3[ce]|a0));", re.IGNORECASE
).fullmatch

_NO_BREAK_SPACE = "\xa0"


def unescaped(words: str) -> str:
    """Returns a text with the characters for which references stand in it; what those spell by chance stays."""
    return _reference.sub(lambda match: _character(match[0]), words) if "&" in words else words


def has_references(words: str) -> bool:
    """Returns whether a text has references."""
    return unescaped(words) != words


def name_of(words: str) -> str:
    """Returns a name as it was before it was escaped for a second time; empty if it was escaped even more often."""
    name = unescaped(words)
    return name if name == words or not has_references(name) else ""


def references_in(words: str) -> list[str]:
    """Returns the references in a text, as they stand there."""
    return [reference for reference in _reference.findall(words) if _character(reference) != reference]


def is_of_markup(reference: str) -> bool:
    """Returns whether a reference is one that a text about markup is likely to show."""
    return _is_of_markup(reference) is not None


def _character(reference: str) -> str:
    if not reference.startswith("&#"):
        return html5.get(reference[1:], reference)
    character = html.unescape(reference)
    is_shown = character == _NO_BREAK_SPACE or (character.isprintable() and "\ufffd" not in character)
    return character if character and is_shown else reference

"""What a JSON value holds, as paths that selectors can have, each with an example."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PATHS = 40  # most paths that are shown of one value: a record of a forum has 20 fields
MAX_DEPTH = 6  # most levels of objects in each other that are shown
MAX_EXAMPLE_CHARACTERS = 60
_WITHIN: dict[type, str] = {dict: "{...}", list: "[...]"}  # stands in place of what is deeper
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def outline(value: Any) -> dict[str, str]:
    """Returns an example of each value, by its JMESPath path: of a list, of its first entry that has one."""
    examples: dict[str, str] = {}
    for path, example in _leaves(value, "", MAX_DEPTH):
        if len(examples) == MAX_PATHS:
            break
        examples.setdefault(path or "@", example)
    return examples


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth:
        for name, entry in value.items():
            written = name if _PLAIN_NAME.fullmatch(name) else json.dumps(name)
            yield from _leaves(entry, f"{path}.{written}" if path else written, depth - 1)
    elif isinstance(value, list) and value and depth:
        for entry in value[:MAX_PATHS]:  # the first may lack what others have
            yield from _leaves(entry, f"{path}[]", depth - 1)
    elif value not in (None, [], {}):
        text = _WITHIN.get(type(value)) or json.dumps(value, ensure_ascii=False)
        yield path, text if len(text) <= MAX_EXAMPLE_CHARACTERS else text[:MAX_EXAMPLE_CHARACTERS] + "..."

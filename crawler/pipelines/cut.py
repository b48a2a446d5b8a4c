"""Cuts an item's message that is larger than a server takes: the item arrives, and says what it lacks."""

from __future__ import annotations

from typing import Any

import orjson

from crawler.base.item import CUT_FIELDS

MAX_STEPS = 20  # most steps in which a message is cut; each halves a list, or takes off a text what is too much


def cut(value: bytes, max_bytes: int) -> bytes | None:
    """Returns an item's message in at most so many bytes, whose `truncated` names the fields that were cut.

    The fields are those that `Item` marks with `MayBeCut`, in their turn.

    Returns:
        None if the rest of the item is too large by itself.
    """
    message: dict[str, Any] = orjson.loads(value)
    for name in CUT_FIELDS:
        for _ in range(MAX_STEPS):
            excess = len(value) - max_bytes
            if excess <= 0:
                return value
            if not message[name]:
                break
            message[name] = _shortened(message[name], excess + len(f'"{name}",'))  # `truncated` grows by the name
            message["truncated"] = list(dict.fromkeys([*message["truncated"], name]))
            value = orjson.dumps(message)
    return value if len(value) <= max_bytes else None


def _shortened(value: str | list[Any] | dict[str, Any], excess_bytes: int) -> str | list[Any] | dict[str, Any]:
    """Returns the beginning of a text, without part of a character; half of a list; an empty object."""
    if isinstance(value, str):
        encoded = value.encode()
        return encoded[: max(0, len(encoded) - excess_bytes)].decode(errors="ignore").rstrip()
    if isinstance(value, list):
        return value[: len(value) // 2]  # of comments, those stay whose parents are all there
    return {}

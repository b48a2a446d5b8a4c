"""Cuts an item's message that is larger than a server takes: the item arrives, and says what it lacks."""

from __future__ import annotations

from typing import Any

import orjson

MAX_STEPS = 20  # each halves a list, or takes off a text what is too much


def cut(value: bytes, max_bytes: int) -> bytes | None:
    """Returns an item's message in at most so many bytes, whose `truncated` names the fields that were cut.

    The last comments go first, then the end of the text, then all of `extra`.

    Returns:
        None if the rest of the item is too large by itself.
    """
    message: dict[str, Any] = orjson.loads(value)
    for name, shorten in (("comments", _fewer), ("content", _shorter), ("extra", _none)):
        for _ in range(MAX_STEPS):
            excess = len(value) - max_bytes
            if excess <= 0:
                return value
            if not message[name]:
                break
            message[name] = shorten(message[name], excess)
            message["truncated"] = list(dict.fromkeys([*message["truncated"], name]))
            value = orjson.dumps(message)
    return value if len(value) <= max_bytes else None


def _fewer(comments: list[Any], _excess: int) -> list[Any]:
    """Returns half of the comments: those whose parents are all there."""
    return comments[: len(comments) // 2]


def _shorter(text: str, excess: int) -> str:
    """Returns a text without its last bytes, and without part of a character."""
    written = text.encode()
    return written[: max(0, len(written) - excess - len('"content",'))].decode(errors="ignore").rstrip()


def _none(_extra: dict[str, Any], _excess: int) -> dict[str, Any]:
    return {}

r"""JSON as pages write it, which isn't always Unicode.

Many an application cuts a text in the middle of an emoji, and writes the half that is left as `\ud83d`. Browsers read
that, and so must the crawl: else one such text would cost the page, or all results.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
import re2

# A surrogate pair, half of one, or any other escape, so that `\\ud83d` counts as a backslash before a word.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
# A string, to the text's end where none closes it, a number, or as its group an integer with more digits than a number
# of 64 bits has. Something matches at each quote, so that no text takes time by the square of its length.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|(-?[1-9][0-9]{19,})(?![0-9.eE])|-?[0-9][0-9.eE+-]*', re.DOTALL)
_has_long_integer = re2.compile(rb"[:,\[]\s*-?[1-9][0-9]{19,}\s*[,\]}]").search
_REPLACEMENT = rb"\ufffd"


def loads(body: bytes) -> Any:
    """Returns the value of a JSON text in UTF-8. Half a surrogate pair is U+FFFD in it.

    Of a key that an object has twice the last value counts, as in browsers. Integers of 20 digits and more are text, as
    numbers they would lose some.

    Raises:
        orjson.JSONDecodeError: It is none; or it has NaN, a number beyond 1.8e308, or more than 1,024 levels.
    """
    if _has_long_integer(body):
        body = _TOKEN.sub(lambda token: b'"%b"' % token[0] if token[1] else token[0], body)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if not _is_about_half_a_pair(error):
            raise
    return orjson.loads(_ESCAPE.sub(lambda escape: _REPLACEMENT if escape[1] else escape[0], body))


def may_be_json(body: bytes) -> bool:
    """Returns whether a body is JSON, as far as that is known quickly: halves of pairs aren't replaced for it."""
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        return _is_about_half_a_pair(error)
    return True


def is_alike(body: bytes, other: bytes) -> bool:
    """Returns whether two bodies are JSON of one shape, as the answers to a request that is made twice."""
    try:
        value, value_of_other = loads(body), loads(other)
    except orjson.JSONDecodeError:
        return False
    if isinstance(value, dict) and isinstance(value_of_other, dict):
        return value.keys() == value_of_other.keys()
    return isinstance(value, list) and isinstance(value_of_other, list) and bool(value) == bool(value_of_other)


def _is_about_half_a_pair(error: orjson.JSONDecodeError) -> bool:
    return "surrogate" in error.msg

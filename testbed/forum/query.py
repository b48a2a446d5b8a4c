"""A request's query, byte for byte."""

from __future__ import annotations

from datetime import date
from urllib.parse import parse_qsl

MAX_FIELDS = 20  # parameters; no page of the forum takes more than five


class BadQueryError(ValueError):
    """A parameter has a value that the forum can't use; answered with 400."""


class Query:
    """The part of a URL after the question mark.

    Args:
        raw: As the client sent it, one character per byte (Latin-1).
        encoding: Of the values, once they are unquoted; what can't be decoded becomes U+FFFD.

    Raises:
        BadQueryError: More than `MAX_FIELDS` parameters.
    """

    def __init__(self, raw: str, encoding: str = "utf-8") -> None:
        self.raw = raw
        try:
            pairs = parse_qsl(raw, keep_blank_values=True, encoding="latin-1", max_num_fields=MAX_FIELDS)
        except ValueError as error:
            raise BadQueryError(str(error)) from None
        # Latin-1 has a character for every byte, so that also bytes that were sent unquoted are still there.
        self._values = {name: value.encode("latin-1").decode(encoding, "replace") for name, value in pairs}

    def text(self, name: str, default: str = "") -> str:
        """Returns a parameter; where it is repeated, its last value."""
        return self._values.get(name, default)

    def number(self, name: str, default: int, low: int, high: int) -> int:
        """Returns a whole number from `low` to `high`.

        Raises:
            BadQueryError: Anything else.
        """
        value = self._values.get(name, str(default))
        if not (value.isascii() and value.isdigit() and len(value) <= len(str(high)) and low <= int(value) <= high):
            raise BadQueryError(f"{name}: expected a whole number from {low} to {high}")
        return int(value)

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        """Returns one of `choices`.

        Raises:
            BadQueryError: Anything else.
        """
        value = self._values.get(name, default)
        if value not in choices:
            raise BadQueryError(f"{name}: expected one of {', '.join(choices)}")
        return value

    def day(self, name: str) -> date | None:
        """Returns a date, None when it is missing or empty.

        Raises:
            BadQueryError: Not YYYY-MM-DD.
        """
        value = self._values.get(name, "")
        try:
            return date.fromisoformat(value) if value else None
        except ValueError:
            raise BadQueryError(f"{name}: expected YYYY-MM-DD") from None

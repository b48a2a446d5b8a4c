"""Regular expressions of site files, run by RE2: linear time on any text, for any pattern.

Python's own module would hang on `(a+)+$`. RE2's syntax is Python's without backreferences and lookarounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import re2
from pydantic import GetPydanticSchema
from pydantic_core import core_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_PATTERN_CHARACTERS = 500  # a person writes far less; definitions also come from Redis
PATTERN_MEMORY_BYTES = 1 << 20  # a compiled pattern may take so much; nested repetitions take more and are refused
# RE2 takes at most so many steps of some 5 ns for a text: its instructions by the text's bytes. `\d{4}-\d\d` has 14
# instructions, `.{0,200}` 1,800, which leaves it 160 kB. What is behind that of a longer text isn't looked through.
MAX_STEPS = 300_000_000


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        text: The pattern as written.
        compiled: As RE2 has it.
    """

    text: str
    compiled: Any = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Compiles a pattern.

        Raises:
            ValueError: The text is no pattern; the message says what was expected.
        """
        if not text or len(text) > MAX_PATTERN_CHARACTERS:
            raise ValueError(f"a regular expression of 1 to {MAX_PATTERN_CHARACTERS} characters")
        options = re2.Options()
        options.max_mem, options.log_errors = PATTERN_MEMORY_BYTES, False
        try:
            return cls(text, re2.compile(text, options))
        except re2.error as error:
            reason = error.args[0].decode("utf-8", "replace") if error.args else "refused"
            raise ValueError(f"a regular expression in RE2's syntax ({reason})") from None

    def found_in(self, text: str) -> bool:
        """Returns whether the pattern matches anywhere in a text."""
        return self.compiled.search(self._bytes(text)) is not None

    def parts(self, text: str, max_parts: int) -> Iterator[str]:
        """Yields what the pattern matches, from left to right: its first group if it has one, else all of the match.

        Args:
            text: To look through.
            max_parts: Matches that are looked at; a group that took no part in its match yields nothing.
        """
        group = min(1, self.compiled.groups)
        for match in islice(self.compiled.finditer(self._bytes(text)), max_parts):
            if match[group] is not None:
                yield match[group].decode("utf-8", "replace")

    def names(self, text: str) -> dict[str, str] | None:
        """Returns what the named groups of the first match hold, "" for one that took no part; None: no match."""
        match = self.compiled.search(self._bytes(text))
        if match is None:
            return None
        return {name: (value or b"").decode("utf-8", "replace") for name, value in match.groupdict().items()}

    @property
    def group_names(self) -> frozenset[str]:
        """The names of its groups."""
        return frozenset(self.compiled.groupindex)

    def _bytes(self, text: str) -> bytes:
        """Returns as much of a text as is looked through."""
        encoded = text.encode("utf-8", "replace")  # a lone surrogate isn't UTF-8, which RE2 reads
        max_bytes = MAX_STEPS // self.compiled.programsize
        return encoded if len(encoded) <= max_bytes else encoded[:max_bytes].decode("utf-8", "ignore").encode()


def compiled_field(parse: Callable[[str], Any], shown: dict[str, str]) -> GetPydanticSchema:
    """Returns how pydantic takes what is compiled of a text: a string in YAML and JSON.

    Args:
        parse: Compiles it; the result has the text as `text`.
        shown: What the field's JSON Schema says beside its type.
    """
    return GetPydanticSchema(
        lambda _type, _handler: core_schema.no_info_after_validator_function(
            parse,
            core_schema.str_schema(strict=True),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda compiled: compiled.text),
        ),
        lambda schema, handler: {**handler(schema), **shown},
    )


PatternField = Annotated[Pattern, compiled_field(Pattern.parse, {"format": "regular expression in RE2's syntax"})]

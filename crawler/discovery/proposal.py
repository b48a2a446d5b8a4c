"""The proposal: the text of a site file, and what it reads on the pages that were asked for.

The file is written by a YAML library, which quotes whatever a page has put into a value. What stands in a comment is on
one line and inert.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from crawler.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.extract.field_kinds import Fields
    from crawler.extract.results import Links

LINE_CHARACTERS = 10_000  # no value is so long, so none is broken over lines
COMMENT_CHARACTERS = 110  # a longer comment is broken between words
NESTED = ("search", "results", "content", "content.comments")  # the keys whose parts have lines of their own


@dataclass(frozen=True, slots=True)
class SiteProposal:
    """A site file to look at, and to save.

    Attributes:
        text: The file.
        definition: What it says, as the keys of a site file.
        unknown: What could not be found, in words; each stands in the file as well.
        links: What the file reads on the page of results; None if there is none.
        fields: What it reads on content pages, by their addresses.
    """

    text: str
    definition: Mapping[str, Any]
    unknown: Sequence[str] = ()
    links: Links | None = None
    fields: Mapping[str, Fields] = field(default_factory=dict)


@dataclass(slots=True)
class Notes:
    """Remarks for the file: what was found where, and what wasn't.

    Attributes:
        at: By the key (`results.empty`) beside which they stand; under "" those on the whole file.
        unknown: Those that say what couldn't be found.
    """

    at: dict[str, list[str]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def say(self, key: str, remark: str) -> None:
        """Adds a remark on what was found."""
        self.at.setdefault(key, []).append(one_line(remark))

    def take_back(self, key: str, words: str) -> None:
        """Removes the remarks that have these words, since more was found meanwhile."""
        self.at[key] = [remark for remark in self.at.get(key, []) if words not in remark]

    def miss(self, key: str, remark: str) -> None:
        """Adds a remark on what was not."""
        self.say(key, remark)
        self.unknown.append(one_line(f"{key}: {remark}" if key else remark))


def write(definition: Mapping[str, Any], notes: Notes) -> str:
    """Returns the text of a site file.

    Args:
        definition: Its keys, in order.
        notes: Become comments. One on a key that the definition lacks stands at the end of its part.
    """
    lines = [*_comments(notes.at.get("", ()), "")]
    lines += _part(definition, notes, "", "")
    return "\n".join(lines) + "\n"


def _part(values: Mapping[str, Any], notes: Notes, path: str, indent: str) -> list[str]:
    """Returns the lines of one part: what it says, and then what isn't known of it."""
    lines: list[str] = []
    nested = [key for key, value in values.items() if f"{path}{key}" in NESTED and isinstance(value, dict)]
    for key in [key for key in values if key not in nested]:
        lines += _comments(notes.at.get(f"{path}{key}", ()), indent)
        lines += [f"{indent}{key}: {_value(values[key])}"]
    for key, remarks in notes.at.items():
        name = key.removeprefix(path) if key.startswith(path) else ""
        if name and "." not in name and name not in values:
            lines += _comments([f"{name}: {remarks[0]}", *remarks[1:]], indent)
    for key in nested:
        lines += [*([] if path else [""]), *_comments(notes.at.get(f"{path}{key}", ()), indent), f"{indent}{key}:"]
        lines += _part(values[key], notes, f"{path}{key}.", f"{indent}  ")
    return lines


def _value(value: Any) -> str:
    """Returns a value as YAML has it on one line."""
    is_nested = isinstance(value, dict | list)
    written: str = yaml.safe_dump(
        value, allow_unicode=True, sort_keys=False, default_flow_style=is_nested, width=LINE_CHARACTERS
    )
    return written.removesuffix("...\n").strip()


def _comments(remarks: Sequence[str], indent: str) -> list[str]:
    lines = []
    for remark in remarks:
        line = ""
        for word in one_line(remark).split():
            if line and len(line) + len(word) >= COMMENT_CHARACTERS:
                lines.append(f"{indent}# {line}")
                line = ""
            line = f"{line} {word}".strip()
        lines.append(f"{indent}# {line}")
    return lines

"""Reads a YAML file so that every complaint can name its line.

The text is measured first (depth, entries, aliases unfolded), so that no file can exhaust the process; then it is read
into plain values by YAML's safe types and validated by a pydantic model. The first thing that doesn't fit becomes an
`InputError` with file, line, key, value and what was expected.

Deviations from YAML 1.1: dates stay text, a key stands once in a mapping, keys are text, no tags, one document a file.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from crawler.errors import InputError
from crawler.yamlerrors import KeyPath, explain, explain_syntax

if TYPE_CHECKING:
    from collections.abc import Sequence

Model = TypeVar("Model", bound=BaseModel)
MAX_FILE_BYTES = 1_000_000  # a plan or site is written by a person; more is a mistake or an attack
MAX_DEPTH = 20  # mappings in lists in mappings; a site's deepest key is 6 down
MAX_ENTRIES = 200_000  # keys, values and entries with every alias unfolded; a full megabyte of short words has 150,000
_TAG = "tag:yaml.org,2002:"
_TEXT_TAG, _NULL_TAG, _MERGE_TAG = _TAG + "str", _TAG + "null", _TAG + "merge"
_PLAIN_TAGS = {_TAG + kind for kind in ("str", "int", "float", "bool", "null", "seq", "map")}
_UNUSED_TAGS = (_TAG + "timestamp", _TAG + "value")  # YAML 1.1's dates, and its meaning of a lone `=`


@dataclass(frozen=True)
class Document:
    """A parsed YAML file.

    Attributes:
        file: Its name as the user gave it.
        value: Its content as dicts, lists and scalars.
        lines: 1-based line of each key and entry, by path; empty when there is no file.
        texts: What is written for each scalar that YAML doesn't read as text (`no`, `12:30`), by path.
    """

    file: str
    value: Any
    lines: dict[KeyPath, int] = field(default_factory=dict)
    texts: dict[KeyPath, str] = field(default_factory=dict)

    def line(self, path: Sequence[str | int]) -> int:
        """Returns the line of the deepest part of `path` that the file has; 0 when there is no file."""
        known = tuple(path)
        while known and known not in self.lines:
            known = known[:-1]
        return self.lines.get(known, 1 if self.lines else 0)

    def error(self, path: Sequence[str | int], value: object, expected: str) -> InputError:
        """Returns the error to raise about what stands at `path`."""
        return InputError(self.file, self.line(path), ".".join(map(str, path)), value, expected)


def read(path: str) -> Document:
    """Reads and parses a file.

    Raises:
        InputError: No such file, not a regular one, not readable, or what `parse` raises.
    """
    try:
        mode = Path(path).stat().st_mode
        if not stat.S_ISREG(mode):  # a named pipe would wait for somebody to write to it
            raise InputError(path, 0, "", "a directory" if stat.S_ISDIR(mode) else "a device or a pipe", "a file")
        with Path(path).open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise InputError(path, 0, "", "no such file", "a file that exists") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise InputError(path, 0, "", getattr(error, "strerror", None) or str(error), "a readable file") from None
    return parse(text, path)


def parse(text: str | bytes, file: str) -> Document:
    """Parses YAML text.

    Args:
        text: At most `MAX_FILE_BYTES` bytes; bytes are UTF-8, or UTF-16 with its byte order mark.
        file: The name that errors show.

    Raises:
        InputError: Not YAML, empty, not a mapping, a key twice in one mapping, a key that isn't text, or too large.
    """
    try:
        raw = text.encode() if isinstance(text, str) else text
        if len(raw) > MAX_FILE_BYTES:
            raise InputError(file, 0, "", f"more than {MAX_FILE_BYTES} bytes", f"at most {MAX_FILE_BYTES} bytes")
        _refuse_depth(raw, file)
        loader = _Loader(raw)
        root = loader.get_single_node()
        if root is None:
            raise InputError(file, 0, "", "an empty file", "a mapping of keys to values")
        index = _Index(file)
        index.add(root, ())
        value = loader.construct_document(root)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a lone surrogate, or a number like 0o9
        raise explain_syntax(error, text, file) from None
    if not isinstance(value, dict):
        raise InputError(file, index.lines[()], "", value, "a mapping of keys to values")
    return Document(file, value, index.lines, index.texts)


def validate(document: Document, model: type[Model]) -> Model:
    """Returns the document as a model.

    Raises:
        InputError: The first thing in the file that doesn't fit; a key that is unknown goes before one that is missing,
            since a misspelt key is both.
    """
    try:
        return model.model_validate(document.value)
    except ValidationError as failure:
        details = failure.errors(include_url=False, include_context=False)
        path, value, expected = min(
            (explain(document.value, document.texts, detail, model) for detail in details),
            key=lambda found: (found[1] is None, document.line(found[0])),
        )
        raise document.error(path, value, expected) from None


class _Loader(yaml.CSafeLoader):
    """YAML's safe types, but dates stay the text that the user wrote."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _UNUSED_TAGS]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _refuse_depth(raw: bytes, file: str) -> None:
    """Refuses nesting that the recursive steps after this one would fail on; the parser itself is iterative."""
    depth = 0
    for event in yaml.parse(raw, yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                line = event.start_mark.line + 1 if event.start_mark else 0
                raise InputError(file, line, "", f"more than {MAX_DEPTH} levels", f"at most {MAX_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


class _Index:
    """Where each key and entry stands. Counts what it meets, so that nested aliases end early."""

    def __init__(self, file: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.texts: dict[KeyPath, str] = {}
        self._file = file
        self._entries = 0

    def add(self, node: yaml.Node, path: KeyPath) -> None:
        line = node.start_mark.line + 1
        self._entries += 1
        # An alias inside what it stands for unfolds for ever: the path grows past the depth of any text.
        if self._entries > MAX_ENTRIES or len(path) > 2 * MAX_DEPTH:
            expected = f"at most {MAX_ENTRIES} entries, aliases unfolded"
            raise InputError(self._file, line, "", "more entries", expected)
        self.lines.setdefault(path, line)
        if isinstance(node, yaml.MappingNode):
            for key_node, value_node in node.value:
                key = self._key(key_node, path)
                self.lines[*path, key] = key_node.start_mark.line + 1
                self.add(value_node, (*path, key))
        elif isinstance(node, yaml.SequenceNode):
            for index, entry in enumerate(node.value):
                self.add(entry, (*path, index))
        if node.tag not in _PLAIN_TAGS:
            raise InputError(self._file, line, ".".join(map(str, path)), f"the tag {node.tag}", "a value without a tag")
        if isinstance(node, yaml.ScalarNode) and node.tag not in (_TEXT_TAG, _NULL_TAG):
            self.texts[path] = node.value

    def _key(self, node: yaml.Node, path: KeyPath) -> str:
        line, where = node.start_mark.line + 1, ".".join(map(str, path))
        if not isinstance(node, yaml.ScalarNode):
            raise InputError(self._file, line, where, "a list or mapping as key", "a word as key")
        key = str(node.value)
        if node.tag not in (_TEXT_TAG, _MERGE_TAG):
            raise InputError(self._file, line, where, key, f'text as key: put it in quotes, "{key}"')
        if (*path, key) in self.lines:
            raise InputError(self._file, line, ".".join(map(str, (*path, key))), key, "each key once")
        return key

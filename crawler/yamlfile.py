"""Reads a YAML file so that every complaint can name its line.

The text is measured first (depth, entries, aliases unfolded), so that no file can exhaust the process; then it is read
into plain values by YAML's safe types and validated by a pydantic model. The first thing that doesn't fit becomes an
`InputError` with file, line, key, value and what was expected.

Deviations from YAML 1.1: dates stay text, a key stands once in a mapping, keys are text, no tags, one document a file.
"""

from __future__ import annotations

import difflib
import re
import stat
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from crawler.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

KeyPath = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)
MAX_FILE_BYTES = 1_000_000  # a plan or site is written by a person; more is a mistake or an attack
MAX_DEPTH = 20  # mappings in lists in mappings; a site's deepest key is 6 down
MAX_ENTRIES = 200_000  # keys, values and entries with every alias unfolded; a full megabyte of short words has 150,000
_TAG = "tag:yaml.org,2002:"
_TEXT_TAG, _NULL_TAG, _MERGE_TAG = _TAG + "str", _TAG + "null", _TAG + "merge"
_PLAIN_TAGS = {_TAG + kind for kind in ("str", "int", "float", "bool", "null", "seq", "map")}
_UNUSED_TAGS = (_TAG + "timestamp", _TAG + "value")  # YAML 1.1's dates, and its meaning of a lone `=`

# "Input should be less than or equal to 5" -> "at most 5"; "List should have at least 1 item" -> "at least 1 item".
_WORDING = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^Value error, ", ""),
        (r"^[A-Z][a-z]+ should (be |have )?", ""),
        (r"^greater than or equal to ", "at least "),
        (r"^less than or equal to ", "at most "),
        (r"^match pattern ", "text that matches "),
        (r" after validation, not (\d+|more)$", ""),
    )
)
# What pydantic calls by Python's names.
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "list_type": "a list",
    "tuple_type": "a list",
}


class Part(BaseModel):
    """A mapping in a file: exact types, no other keys, unchangeable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True)


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
        raise _explain_syntax(error, text, file) from None
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
        details = failure.errors(include_url=False)
        path, value, expected = min(
            (_explain(document.value, document.texts, detail, model) for detail in details),
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


def _explain_syntax(error: Exception, text: str | bytes, file: str) -> InputError:
    """Returns the error for text that isn't YAML, with the line where reading stopped (0 when that is unknown)."""
    raw = text.encode(errors="replace") if isinstance(text, str) else text
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        written = raw.split(b"\n")[mark.line : line] if mark else []
        tab = any(entry[: len(entry) - len(entry.lstrip())].count(b"\t") for entry in written)
        opened = error.context_mark.line + 1 if error.context_mark else line
        since = f" from line {opened}" if opened != line else ""
        problem = f"{error.problem} ({error.context}{since})" if error.context else error.problem
        return InputError(file, line, "", problem, "valid YAML" + (" (indent with spaces, not with tabs)" * tab))
    if isinstance(error, yaml.reader.ReaderError):  # `position` counts bytes, from the C parser
        return InputError(file, raw[: error.position].count(b"\n") + 1, "", error.reason, "YAML in UTF-8")
    return InputError(file, 0, "", str(error), "YAML in UTF-8 with plain values")


def _explain(
    value: Any, texts: Mapping[KeyPath, str], detail: ErrorDetails, model: type[BaseModel]
) -> tuple[KeyPath, object, str]:
    """Returns the path of what pydantic complains about, what stands there (None: nothing), and what may stand there.

    Args:
        value: The whole document.
        texts: What is written for scalars that YAML doesn't read as text.
        detail: One of pydantic's errors.
        model: What the document was validated as.
    """
    path, kind = _path_in(value, detail["loc"]), detail["type"]
    if kind == "missing":
        return (*path, detail["loc"][-1]), None, "this key"
    if kind == "extra_forbidden":
        known = sorted(_keys_at(model, path[:-1]))
        close = difflib.get_close_matches(str(path[-1]), known, 1)
        return path, path[-1], f"{close[0]} (did you mean it?)" if close else "one of " + ", ".join(known)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        key = detail["ctx"]["discriminator"].strip("'")
        allowed, _, last = detail["ctx"].get("expected_tags", "").rpartition(", ")
        return (*path, key), detail["input"].get(key), f"{allowed} or {last}" if last else "this key"
    if kind == "string_type" and path in texts:
        return path, texts[path], f'text: put it in quotes, "{texts[path]}"'
    return path, detail["input"], _EXPECTED.get(kind) or _plainly(detail["msg"])


def _plainly(message: str) -> str:
    for pattern, replacement in _WORDING:
        message = pattern.sub(replacement, message)
    return message


def _path_in(value: Any, loc: Sequence[str | int]) -> KeyPath:
    """Drops the parts of pydantic's location that name a union's branch and not a key of the file."""
    path: list[str | int] = []
    for part in loc:
        in_list = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if in_list or (isinstance(value, dict) and part in value):
            value = value[part]
            path.append(part)
    return tuple(path)


def _keys_at(model: type[BaseModel], path: KeyPath) -> set[str]:
    """Returns the keys of the models that may stand at `path`."""
    current: list[Any] = [model]
    for part in path:
        current = [inner for outer in current for inner in _step(outer, part)]
    return {_key(name, info) for found in current if _is_model(found) for name, info in found.model_fields.items()}


def _step(annotation: Any, part: str | int) -> list[Any]:
    """Returns the types that may stand under `part` of a model, list or mapping."""
    if _is_model(annotation):
        fields = annotation.model_fields.items()
        return [kind for name, info in fields if _key(name, info) == part for kind in _options(info.annotation)]
    arguments = get_args(annotation)
    if not arguments:
        return []
    return _options(arguments[1] if isinstance(part, str) else arguments[0])


def _options(annotation: Any) -> list[Any]:
    """Takes unions and annotations apart."""
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [kind for argument in get_args(annotation) for kind in _options(argument)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel)


def _key(name: str, info: FieldInfo) -> str:
    return info.alias or name

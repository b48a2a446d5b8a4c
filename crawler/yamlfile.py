"""Reads a YAML file so that every complaint can name its line.

The text is composed to nodes (never constructed to arbitrary objects), validated by a pydantic model, and the first
error in the order of the file becomes an `InputError` with file, line, key, value and what was expected.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from crawler.errors import InputError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound=BaseModel)
Path = tuple[str | int, ...]
MAX_FILE_BYTES = 1_000_000  # a plan or site is written by a person; more is a mistake or an attack
MAX_ALIASES = 100  # keeps a small file from unfolding to gigabytes


@dataclass(frozen=True)
class Document:
    """A parsed YAML file.

    Attributes:
        file: Its name as the user gave it.
        value: Its content as dicts, lists and scalars.
        lines: 1-based line of each key and entry, by path.
    """

    file: str
    value: Any
    lines: dict[Path, int]

    def line(self, path: Sequence[str | int]) -> int:
        """Returns the line of the deepest part of `path` that the file has; 1 when it has none of it."""
        known = tuple(path)
        while known and known not in self.lines:
            known = known[:-1]
        return self.lines.get(known, 1)

    def error(self, path: Sequence[str | int], value: object, expected: str) -> InputError:
        """Returns the error to raise about what stands at `path`."""
        return InputError(self.file, self.line(path), ".".join(map(str, path)), value, expected)


def parse(text: str | bytes, file: str) -> Document:
    """Parses YAML text.

    Raises:
        InputError: Not YAML, not a mapping, a key twice in one mapping, or too large.
    """
    if len(text) > MAX_FILE_BYTES:
        raise InputError(file, 0, "", f"{len(text)} bytes", f"at most {MAX_FILE_BYTES} bytes")
    try:
        if sum(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, yaml.CSafeLoader)) > MAX_ALIASES:
            raise InputError(file, 0, "", "more aliases", f"at most {MAX_ALIASES} aliases (*name)")
        root = yaml.compose(text, yaml.SafeLoader)
        lines: dict[Path, int] = {}
        if root is not None:
            _walk(root, (), lines, file)
        value = yaml.load(text, _PlainLoader)  # noqa: S506 -- a SafeLoader without dates
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InputError(file, mark.line + 1 if mark else 0, "", error.problem, "valid YAML") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(file, 0, "", str(error).splitlines()[0], "valid YAML in UTF-8") from None
    if not isinstance(value, dict):
        raise InputError(file, 1, "", value, "a mapping of keys to values")
    return Document(file, value, lines)


def validate(document: Document, model: type[Model]) -> Model:
    """Returns the document as a model.

    Raises:
        InputError: The first thing in the file that doesn't fit.
    """
    try:
        return model.model_validate(document.value)
    except ValidationError as failure:
        errors = [_as_input_error(document, detail, model) for detail in failure.errors(include_url=False)]
        raise min(errors, key=lambda error: error.line) from None


class _PlainLoader(yaml.SafeLoader):
    """YAML's safe types, but dates stay the text that the user wrote."""


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _walk(node: yaml.Node, path: Path, lines: dict[Path, int], file: str) -> None:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key_node, value_node in node.value:
            key, line = key_node.value, key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise InputError(file, line, ".".join(map(str, path)), "a compound key", "a word as key")
            if key in seen:
                raise InputError(file, line, ".".join(map(str, (*path, key))), key, "each key once")
            seen.add(key)
            lines[*path, key] = line
            _walk(value_node, (*path, key), lines, file)
    elif isinstance(node, yaml.SequenceNode):
        for index, entry in enumerate(node.value):
            _walk(entry, (*path, index), lines, file)


def _as_input_error(document: Document, detail: ErrorDetails, model: type[BaseModel]) -> InputError:
    path = _path_in(document.value, detail["loc"])
    value, kind = detail["input"], detail["type"]
    if kind == "missing":
        expected = f"the key {detail['loc'][-1]}"
        return document.error((*path, detail["loc"][-1]) if path else (detail["loc"][-1],), None, expected)
    if kind == "extra_forbidden":
        known = sorted(_fields_at(model, path[:-1]))
        close = difflib.get_close_matches(str(path[-1]), known, 1)
        hint = f"{close[0]} (did you mean it?)" if close else "one of " + ", ".join(known) if known else "no such key"
        return document.error(path, path[-1], hint)
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return document.error(path, value, message)


def _path_in(value: Any, loc: Sequence[str | int]) -> Path:
    """Drops the parts of pydantic's location that name a union's branch and not a key of the file."""
    path: list[str | int] = []
    for part in loc:
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        ):
            value = value[part]
            path.append(part)
    return tuple(path)


def _fields_at(model: type[BaseModel], path: Path) -> set[str]:
    """Returns the keys that a nested model takes at `path`; none where that isn't a model."""
    current: Any = model
    for part in path:
        if not (isinstance(current, type) and issubclass(current, BaseModel)) or part not in current.model_fields:
            return set()
        annotation = current.model_fields[str(part)].annotation
        options = getattr(annotation, "__args__", (annotation,))
        current = next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)
    return set(current.model_fields) if current else set()

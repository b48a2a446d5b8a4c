"""YAML files that people write: parsed, validated by a pydantic model, and refused with the line of what is wrong.

`parse` measures the text first (its depth, and its entries with all aliases unfolded), so that no file can exhaust the
process; then it constructs plain values with YAML's safe types. `validate` makes a model of them. The first thing in
the file that doesn't fit becomes an `InputError` with file, line, key, value and what was expected; it knows the errors
after it.

Deviations from YAML 1.1: dates stay text, keys are text and stand once in a mapping, there are no tags, and a file is a
single document.
"""

from __future__ import annotations

import difflib
import re
import stat
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from crawler.base.errors import MAX_SHOWN_CHARACTERS, InputError, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

KeyPath = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)
SUFFIXES = (".yaml", ".yml")
MAX_FILE_BYTES = 1_000_000  # the longest file: a person writes a plan or site, and more is a mistake or an attack
MAX_DEPTH = 20  # most levels of mappings and lists; a site file has 6
# Most values, also mappings and lists, with every alias unfolded; 1 MB of short words has 150,000.
MAX_ENTRIES = 200_000
_TAG = "tag:yaml.org,2002:"
_TEXT_TAG, _NULL_TAG, _MERGE_TAG = _TAG + "str", _TAG + "null", _TAG + "merge"
_PLAIN_TAGS = {_TAG + kind for kind in ("str", "int", "float", "bool", "null", "seq", "map")}
_BRACE_VALUE = re.compile(rb"(?::|^\s*-) \{\w+\}")  # `url: {base}/search` begins a mapping that ends too soon
_IGNORED_TAGS = (_TAG + "timestamp", _TAG + "value")  # the tags of dates, and of a lone `=`; both stay text


@dataclass(frozen=True)
class YamlDocument:
    """A parsed YAML file.

    Attributes:
        file: Name of the file as the user gave it.
        value: Content of the file as dicts, lists and scalars.
        lines: Line of each key and entry, from 1, by path; empty if the document doesn't come from a file.
        texts: How each scalar that YAML doesn't read as text (`no`, `12:30`) is written, by path.
    """

    file: str
    value: Any
    lines: dict[KeyPath, int] = field(default_factory=dict)
    texts: dict[KeyPath, str] = field(default_factory=dict)

    def line(self, path: Sequence[str | int]) -> int:
        """Returns the line of the deepest part of `path` that the file has; 0 if there is no file."""
        known = tuple(path)
        while known and known not in self.lines:
            known = known[:-1]
        return self.lines.get(known, 1 if self.lines else 0)

    def error(self, path: Sequence[str | int], value: object, expected: str) -> InputError:
        """Returns an error about the value at `path`, to be raised."""
        return InputError(self.file, self.line(path), ".".join(map(str, path)), value, expected)


class Part(BaseModel):
    """A mapping in a YAML file, as a model: values of the exact types, no other keys, unchangeable."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True)


class ShortPart(Part):
    """A part that a text alone can stand for.

    Attributes:
        short_for: The key that has this text.
        forms: What may stand in place of anything else, for errors; empty: as of any part.
    """

    short_for: ClassVar[str]
    forms: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {cls.short_for: value}
        if cls.forms and not isinstance(value, dict | cls):
            raise ValueError(cls.forms)  # pydantic collects ValueErrors
        return value


@dataclass(frozen=True)
class WrittenAs:
    """Marks a field whose type isn't a `Part`, with the `Part` that has its keys in the file: errors name those."""

    part: type[Part]


def read(path: str) -> YamlDocument:
    """Reads and parses a file.

    Raises:
        InputError: The file doesn't exist, isn't a regular file, can't be read, or is refused by `parse`.
    """
    try:
        mode = Path(path).stat().st_mode
        if not stat.S_ISREG(mode):  # reading a named pipe would wait until something is written to it
            raise InputError(path, 0, "", "a directory" if stat.S_ISDIR(mode) else "a device or a pipe", "a file")
        with Path(path).open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise InputError(path, 0, "", "no such file", f"a file that exists{_nearest_file(Path(path))}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise InputError(path, 0, "", getattr(error, "strerror", None) or str(error), "a readable file") from None
    return parse(text, path)


def _nearest_file(path: Path) -> str:
    """Returns which file of the same folder may have been meant, for an error; empty: none looks like it."""
    try:
        names = [other.name for other in path.parent.iterdir() if other.suffix in SUFFIXES]
    except OSError:
        return ""
    close = difflib.get_close_matches(path.name[:MAX_SHOWN_CHARACTERS], names, 1)
    return f" (did you mean {path.parent / close[0]}?)" if close else ""


def parse(text: str | bytes, file: str) -> YamlDocument:
    """Parses YAML text.

    Args:
        text: At most `MAX_FILE_BYTES` bytes; bytes are UTF-8, or UTF-16 with its byte order mark.
        file: The name that errors show.

    Raises:
        InputError: The text isn't YAML, is too large, empty or no mapping, or it has a tag, a key that isn't text, or
            a key twice in one mapping.
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
        index = _Index(file)  # before the values are constructed, since it refuses what has too many of them
        index.add(root, ())
        value = loader.construct_document(root)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a lone surrogate, or a number like 0o9
        raise _explain_syntax(error, text, file) from None
    if not isinstance(value, dict):
        raise InputError(file, index.lines[()], "", value, "a mapping of keys to values")
    return YamlDocument(file, value, index.lines, index.texts)


def validate(document: YamlDocument, model: type[Model]) -> Model:
    """Returns the document as a model.

    Raises:
        InputError: Something in the document doesn't fit. The error names what comes first in the file, and knows all
            that comes after. Unknown keys are named before missing ones, since a misspelt key is both.
    """
    try:
        return model.model_validate(document.value)
    except ValidationError as failure:
        details = [detail for detail in failure.errors(include_url=False) if not _lacks_wrong_ones(detail)]
        order = {path: number for number, path in enumerate(document.lines)}
        explained = sorted(
            (_explain(document.value, document.texts, detail, model) for detail in details),
            key=lambda words: (words[1] is None, document.line(words[0]), order.get(words[0], 0)),
        )
        unknown = [_path_in(document.value, detail["loc"]) for detail in details if detail["type"] == "extra_forbidden"]
        meant = {(*path[:-1], _nearest(path[-1], _keys_at(model, path[:-1]))) for path in unknown}
        errors = [document.error(*words) for words in explained if words[1] is not None or words[0] not in meant]
        raise in_one(errors) from None


def _lacks_wrong_ones(detail: ErrorDetails) -> bool:
    """Returns whether a list is only too short since pydantic leaves out its wrong entries, which it names as well."""
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def in_one(errors: Iterable[InputError]) -> InputError:
    """Returns the first of several errors, at least one, which has all others as its `further`."""
    first, *further = (each for error in errors for each in (error, *error.further))
    first.further = tuple(further)
    return first


class _Loader(yaml.CSafeLoader):
    """YAML's safe types except dates, which stay the text that the user wrote."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _IGNORED_TAGS]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _refuse_depth(raw: bytes, file: str) -> None:
    """Refuses nesting on which the recursive steps after this one would fail; the parser itself is iterative."""
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
    """The line of each key and entry. Counts them on the way, so that nested aliases can't unfold without end."""

    def __init__(self, file: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.texts: dict[KeyPath, str] = {}
        self._file = file
        self._entries = 0

    def add(self, node: yaml.Node, path: KeyPath) -> None:
        line = node.start_mark.line + 1
        self._entries += 1
        # An alias inside its own anchor unfolds for ever; its path gets longer than that of any text.
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
            point = "; a decimal number has a point" if key.isdecimal() else ""  # `delay: 0,5` within braces
            raise InputError(self._file, line, where, key, f'text as key: put it in quotes, "{short(key)}"{point}')
        if (*path, key) in self.lines:
            raise InputError(self._file, line, ".".join(map(str, (*path, key))), key, "each key once")
        return key


def _explain_syntax(error: Exception, text: str | bytes, file: str) -> InputError:
    """Returns the error for text that isn't YAML, with the line where the parser stopped; 0 if that is unknown."""
    raw = text.encode(errors="replace") if isinstance(text, str) else text
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        written = raw.split(b"\n")[mark.line : line] if mark else []
        tab = any(entry[: len(entry) - len(entry.lstrip())].count(b"\t") for entry in written)
        opened = error.context_mark.line + 1 if error.context_mark else line
        since = f" from line {opened}" if opened != line else ""
        problem = f"{error.problem} ({error.context}{since})" if error.context else error.problem
        lines = raw.split(b"\n")[opened - 1 : line]
        hint = " (indent with spaces, not with tabs)" if tab else _quotes_missing(lines, str(error.problem))
        return InputError(file, line, "", problem, f"valid YAML{hint}")
    if isinstance(error, yaml.reader.ReaderError):  # the C parser raises it, whose `position` counts bytes
        return InputError(file, raw[: error.position].count(b"\n") + 1, "", error.reason, "YAML in UTF-8")
    return InputError(file, 0, "", str(error), "YAML in UTF-8 with plain values")


def _quotes_missing(lines: Sequence[bytes], problem: str) -> str:
    """Returns a hint, where in lines that are no YAML a value may lack the quotes that it needs; empty for none."""
    if any(_BRACE_VALUE.search(line) for line in lines):
        return " (a value that begins with { stands in quotes)"
    if problem.startswith("mapping values are not allowed"):
        return " (a value with a colon and a blank in it stands in quotes)"
    return ""


# Shortens pydantic's messages: "Input should be less than or equal to 5" becomes "at most 5".
_SHORTER = tuple(
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
_NO_MAPPING = ("dict_type", "model_type", "model_attributes_type")  # errors where something else stands for a mapping
# What pydantic's errors expect, without Python's names for it; by the type of the error.
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    **dict.fromkeys(_NO_MAPPING, "a mapping of keys to values"),
}


def _explain(
    value: Any, texts: Mapping[KeyPath, str], detail: ErrorDetails, model: type[BaseModel]
) -> tuple[KeyPath, object, str]:
    """Returns the path that one of pydantic's errors is about, the value there (None for none), and what is expected.

    Args:
        value: The whole document.
        texts: `YamlDocument.texts`.
        detail: The error.
        model: The model as which the document was validated.
    """
    path, kind = _path_in(value, detail["loc"]), detail["type"]
    if kind == "missing":
        return (*path, detail["loc"][-1]), None, "this key"
    if kind == "extra_forbidden":
        known = _keys_at(model, path[:-1], _at(value, path[:-1]))
        allowed = ", ".join(known)
        near = _nearest(path[-1], known)
        return path, path[-1], f"{near} (did you mean it?); keys here: {allowed}" if near else f"one of {allowed}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        key = detail["ctx"]["discriminator"].strip("'")
        allowed, _, last = detail["ctx"].get("expected_tags", "").rpartition(", ")
        return (*path, key), detail["input"].get(key), f"{allowed} or {last}" if last else "this key"
    if kind == "string_type" and path in texts:
        return path, texts[path], f'text: put it in quotes, "{texts[path]}"'
    if kind in _NO_MAPPING and (known := _keys_at(model, path)):
        return path, detail["input"], f"a mapping, whose keys may be {', '.join(known)}"
    expected = detail["msg"]
    for pattern, replacement in _SHORTER:
        expected = pattern.sub(replacement, expected)
    keys, value, expected = _named_key(detail["input"], _EXPECTED.get(kind, expected))
    return (*path, *keys), value, expected


def _named_key(part: Any, expected: str) -> tuple[list[str], Any, str]:
    """Returns the key that an error about several keys begins with, its value, and what is expected there.

    Args:
        part: The part of the document that the error is about; what is returned where the error names no key in it.
        expected: As `search.url: a URL without #/`.
    """
    name, colon, rest = expected.partition(": ")
    keys, value = name.split("."), part
    for key in keys:
        if not colon or not isinstance(value, dict) or key not in value:
            return [], part, expected
        value = value[key]
    return keys, value, rest


def _path_in(value: Any, loc: Sequence[str | int]) -> KeyPath:
    """Returns pydantic's location without those parts that name a branch of a union instead of a key of the file."""
    path: list[str | int] = []
    for part in loc:
        in_list = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if in_list or (isinstance(value, dict) and part in value):
            value = value[part]
            path.append(part)
    return tuple(path)


def _nearest(key: str | int, known: Sequence[str]) -> str:
    """Returns the known key that is spelt most like one; empty when none is like it."""
    return next(iter(difflib.get_close_matches(str(key), known, 1)), "")


def _keys_at(model: type[BaseModel], path: KeyPath, part: Any = None) -> list[str]:
    """Returns the keys of the models that may stand at `path`, sorted.

    Args:
        part: What stands there; those models alone count that may be of its kind.
    """
    current: list[Any] = [model]
    for key in path:
        current = [inner for outer in current for inner in _step(outer, key)]
    kinds = [kind for kind in current if _is_model(kind) and _is_of_kind(part, kind)]
    return sorted({_key(name, info) for kind in kinds for name, info in kind.model_fields.items()})


def _is_of_kind(part: Any, model: type[BaseModel]) -> bool:
    """Returns whether a mapping has no other word where a model has one of a few, as `kind: cursor`."""
    words = {name: get_args(info.annotation) for name, info in model.model_fields.items() if _is_word(info)}
    return not isinstance(part, dict) or all(part.get(name) in (None, *allowed) for name, allowed in words.items())


def _is_word(info: FieldInfo) -> bool:
    return get_origin(info.annotation) is Literal


def _at(value: Any, path: KeyPath) -> Any:
    """Returns what stands at a path that `_path_in` has found."""
    for part in path:
        value = value[part]
    return value


def _step(annotation: Any, part: str | int) -> list[Any]:
    """Returns the types that may stand under `part` of a model, list or mapping."""
    if _is_model(annotation):
        fields = [info for name, info in annotation.model_fields.items() if _key(name, info) == part]
        marks = [mark.part for info in fields for mark in info.metadata if isinstance(mark, WrittenAs)]
        return marks + [kind for info in fields for kind in _options(info.annotation)]
    arguments = get_args(annotation)
    if not arguments:
        return []
    return _options(arguments[1] if isinstance(part, str) else arguments[0])


def _options(annotation: Any) -> list[Any]:
    """Returns the types in a union or annotation."""
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [kind for argument in get_args(annotation) for kind in _options(argument)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and get_origin(annotation) is None and issubclass(annotation, BaseModel)


def _key(name: str, info: FieldInfo) -> str:
    return info.alias or name

"""Turns what PyYAML and pydantic complain about into words for the person who wrote the file."""

from __future__ import annotations

import difflib
import re
import types
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel

from crawler.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

KeyPath = tuple[str | int, ...]

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
    "list_type": "a list",
    "tuple_type": "a list",
}


def explain_syntax(error: Exception, text: str | bytes, file: str) -> InputError:
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


def explain(
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

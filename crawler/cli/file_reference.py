"""The pages in `docs/` that say every key of a YAML file, made from its model: `scrapy site reference` and the like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from crawler.base import yamlfile
from crawler.base.errors import InputError
from crawler.base.yaml_schema import parts_of, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawler.base.yamlfile import Part

_PROBES: dict[str, Any] = {"string": "?", "boolean": "?", "array": "?", "object": "?"}
_LONG = "x" * 10_000  # refused by texts that take any short one
_TABLE = "| key | value | default | meaning | example |\n|---|---|---|---|---|\n"


def reference(model: type[Part], headings: Mapping[str, str]) -> str:
    """Returns a section with a table of keys for each part of a file.

    Args:
        model: Of the whole file.
        headings: The sections in order: the name of a part's model, and its heading.

    Raises:
        KeyError: A part has no heading, or a heading no part.
    """
    schema = schema_of(model, "")
    parts = parts_of(model)
    described = {model.__name__: schema} | {name: schema["$defs"][name] for name in parts if name != model.__name__}
    if wrong := set(parts) ^ set(headings):
        raise KeyError(*wrong)
    return "".join(_section(headings[name], described[name], parts[name], schema) for name in headings)


def _section(heading: str, about: Mapping[str, Any], part: type[Part], schema: Mapping[str, Any]) -> str:
    intro = about["description"].replace("\n", " ")
    rows = "".join(_row(key, entry, part, schema) for key, entry in _in_order(_mapping(about)))
    return f"\n## {heading}\n\n{intro}\n\n{_TABLE}{rows}"


def _in_order(about: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the keys of a part, those that it must have first."""
    required = about.get("required", ())
    for is_first in (True, False):
        yield from ((key, entry) for key, entry in about["properties"].items() if (key in required) == is_first)


def _row(key: str, entry: dict[str, Any], part: type[Part], schema: Mapping[str, Any]) -> str:
    field = part.model_fields[key]
    [example] = field.examples or [""]  # a test holds that each key has one
    default = "*required*" if field.is_required() else _written(entry.get("default", ""))
    cells = (
        f"`{key}`",
        _values(key, entry, part, schema),
        default,
        entry["description"],
        _written(example),
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


def _written(value: Any) -> str:
    """Returns a value as it is written in a file on one line; empty for an empty text."""
    if value == "":
        return ""
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000, sort_keys=False)
    return f"`{text.removesuffix('...' + chr(10)).strip()}`"


def _values(key: str, entry: Mapping[str, Any], part: type[Part], schema: Mapping[str, Any]) -> str:
    """Returns what may stand under a key, in the words of the error about anything else."""
    about = _chosen(entry, schema)
    json_type = about.get("type", "object")
    if "anyOf" in about:
        names = list(_mapping(about)["properties"])
        return "a rule, or its selector alone" if "select" in names else f"keys of its own, or `{names[0]}` alone"
    if "properties" in about:
        return "keys of its own, below"
    if "format" in about:
        return f"a {about['format']}"
    if choices := about.get("enum") or ([about["const"]] if "const" in about else []):
        return " or ".join(f"`{choice}`" for choice in choices)
    if json_type in ("integer", "number"):
        ends = f" from {about['minimum']}" + (f" to {about['maximum']}" if "maximum" in about else " on")
        return ("a whole number" if json_type == "integer" else "a number") + ends
    return _refusal(key, _PROBES[json_type], part) or _refusal(key, _LONG, part) or "text"


def _refusal(key: str, value: Any, part: type[Part]) -> str:
    """Returns what is expected under a key instead of a value; empty: the value may stand there."""
    try:
        yamlfile.validate(yamlfile.YamlDocument("", {key: value}), part)
    except InputError as error:
        errors = (error, *error.further)
        return next((one.expected for one in errors if one.key == key and one.value is not None), "")
    return ""


def _chosen(entry: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the schema of a value that isn't null, looked up where it is named."""
    if "oneOf" in entry:
        return _chosen(entry["oneOf"][0], schema)
    if entry.get("anyOf", [{}])[-1] == {"type": "null"}:
        return _chosen(entry["anyOf"][0], schema)
    if "$ref" in entry:
        return _chosen(schema["$defs"][entry["$ref"].rpartition("/")[2]], schema)
    return entry


def _mapping(about: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the schema of a part's mapping, where a text may stand for it, too."""
    return about if "properties" in about else next(one for one in about["anyOf"] if "properties" in one)

"""Pages in `docs/` that are made of a text in `reference_texts/` and of tables of keys or settings.

`python -m testbed.reference_pages`, as of `make reference`, writes them anew.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from crawler import config
from crawler.base import yamlfile
from crawler.base.errors import InputError
from crawler.base.models import Fetched
from crawler.base.yaml_schema import parts_of, schema_of
from crawler.config.setting import Section, Setting
from crawler.extract.field_kinds import Fields
from crawler.extract.parser import Page
from crawler.plans.plan_file import PlanFile
from crawler.sites import Site, kinds, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawler.base.yamlfile import Part

SITE_HEADINGS = {
    "Site": "The site",
    "Search": "`search`",
    "PageNumbers": "`search.paging` with `kind: page`",
    "Offsets": "`search.paging` with `kind: offset`",
    "Cursors": "`search.paging` with `kind: cursor`",
    "NextLinks": "`search.paging` with `kind: link`",
    "Indexes": "`search.paging` with `kind: index`",
    "Results": "`results`",
    "RowFields": "`results.fields`",
    "Content": "`content`",
    "CommentRules": "`content.comments`",
    "Rule": "A rule: `content.title` and all other fields, under `content.extra` and `content.comments`, too",
    "Twin": "`content.fetch`",
    "Joined": "`content.joined`",
    "Follow": "`follow`",
    "Render": "`render`",
    "LoadedFrom": "`from`, under `results` and `content`",
    "Rendering": "`render.content` and `render.results`",
    "Settle": "`settle`, under `render.content` and `render.results`",
    "PageStep": "`steps`, under `render.content` and `render.results`",
    "Wait": "The step `wait`",
    "Fill": "The step `fill`",
    "Press": "The step `press`",
    "Select": "The step `select`",
    "CheckBox": "The step `check`",
    "Scroll": "The step `scroll`",
    "DialogAnswer": "The step `dialog`",
    "SetCookie": "The step `cookie`",
    "Repeat": "The step `repeat`",
    "PolitenessPart": "`politeness`",
}
PLAN_HEADINGS = {
    "PlanFile": "The plan",
    "SiteUse": "An entry of `sites`",
    "KeywordClass": "A class of `keywords`",
    "PlanFollow": "`follow`",
    "PlanSearches": "`searches`",
    "PlanBudget": "`budget`",
    "ScopeFile": "`scope`",
    "ScopeRules": "`scope.media`",
}
_PROBES: dict[str, Any] = {"string": "?", "boolean": "?", "array": "?", "object": "?"}
_LONG = "x" * 10_000  # a text that those limits refuse which take any short one
_TABLE = "| key | value | default | meaning | example |\n|---|---|---|---|---|\n"


def site_files() -> str:
    """Returns docs/site-files.md."""
    return _filled("site-files", kinds=_kinds(), keys=_keys(Site, SITE_HEADINGS), page=_page(), fields=_fields())


def plan_files() -> str:
    """Returns docs/plan-files.md."""
    return _filled("plan-files", keys=_keys(PlanFile, PLAN_HEADINGS))


def settings() -> str:
    """Returns docs/settings.md."""
    return _filled("settings", settings="".join(_settings()))


def _filled(name: str, **parts: str) -> str:
    """Returns a text of `reference_texts/` with parts in the place of their names: `<!-- keys -->`."""
    text = (Path(__file__).parent / "reference_texts" / f"{name}.md").read_text("utf-8")
    return re.sub(r"<!-- (\w+) -->", lambda place: parts[place[1]].strip("\n"), text)


# -- Keys of files ----------------------------------------------------------------------------------------------------


def _keys(model: type[Part], headings: Mapping[str, str]) -> str:
    """Returns a section with a table of keys for each part of a file.

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
        return _alternatives(key, about, part, schema)
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


def _alternatives(key: str, about: Mapping[str, Any], part: type[Part], schema: Mapping[str, Any]) -> str:
    """Returns what may stand under a key that takes values of two kinds."""
    word, other = about["anyOf"][:2]
    if "const" in word:
        return f"`{word['const']}`, or {_values(key, other, part, schema)}"
    names = list(_mapping(about)["properties"])
    return "a rule, or its selector alone" if "select" in names else f"keys of its own, or `{names[0]}` alone"


def _refusal(key: str, value: Any, part: type[Part]) -> str:
    """Returns what is expected under a key instead of a value; empty: the value may stand there."""
    try:
        yamlfile.validate(yamlfile.YamlDocument("", {key: value}), part)
    except InputError as error:
        errors = (error, *error.further)
        return next((refusal.expected for refusal in errors if refusal.key == key and refusal.value is not None), "")
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
    return about if "properties" in about else next(choice for choice in about["anyOf"] if "properties" in choice)


# -- Settings ---------------------------------------------------------------------------------------------------------


def _settings() -> Iterator[str]:
    for entry in config.TABLE:
        if isinstance(entry, Section):
            yield f"\n## {entry.heading}\n\n| setting | default | values | |\n|---|---|---|---|\n"
        else:
            yield _setting_row(entry)


def _setting_row(setting: Setting[Any]) -> str:
    why = setting.why
    if setting.secret:
        why += " A password in it is shown nowhere."
    if setting.owner:
        why += f" *{setting.owner}'s.*"
    cells = (f"`{setting.name}`", _default_of(setting), setting.expected, why)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _default_of(setting: Setting[Any]) -> str:
    value = setting.default
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict | tuple):
        return ", ".join(value)
    return f"{value} {setting.unit}".strip()


# -- Kinds of sites, and what parsers are given ------------------------------------------------------------------------


def _kinds() -> str:
    rows = []
    for name in kinds.names():
        content = load(name).content
        read = ", ".join(f"`{field}`" for field in content.rules) if content else "found without selectors"
        rows.append(f"| `{name}` | {kinds.about(name)} | {read} |\n")
    return "".join(rows)


def _page() -> str:
    plain = ", ".join(f"`{field.name}`" for field in fields(Fetched))
    rows = (
        f"| `page.{name}` | {(inspect.getdoc(value) or '').splitlines()[0]} |\n"
        for name, value in vars(Page).items()
        if isinstance(value, property | cached_property)
    )
    fetched = f"{plain}, as it was fetched (`sent_on` is None, or has the addresses `asked` for and redirected `to`)"
    return f"A `Page` has {fetched}, and\n\n| attribute | |\n|---|---|\n{''.join(rows)}"


def _fields() -> str:
    names = (field.name for field in fields(Fields) if field.name not in ("missing", "truncated"))
    return f"`Fields` takes {', '.join(f'`{name}`' for name in names)}.\n"


if __name__ == "__main__":
    DOCS = Path(__file__).parent.parent / "docs"
    for file, written in (("site-files", site_files), ("plan-files", plan_files), ("settings", settings)):
        (DOCS / f"{file}.md").write_text(written(), "utf-8")

"""Kinds of sites: definitions of software and formats that many places have, which a site file takes over by `kind`.

A kind is a site file like any other, in the folder `kinds/` beside this module, without a `base`; it may itself take
over another one. What a file says itself goes before what its kind says.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from crawler.base import yamlfile
from crawler.base.errors import existing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from crawler.base.yamlfile import YamlDocument

SUFFIX = ".yaml"  # what the name of a site file ends with
# A part that says by one of these keys what it is shares no other key with a part that says otherwise; by the key, what
# a part is that doesn't say it.
_TELLTALES = {"kind": None, "type": "html"}


def folder() -> Traversable:
    """Returns where the kinds are; in a zipped egg, too."""
    return resources.files(__package__) / "kinds"


def names() -> list[str]:
    """Returns the names of all kinds, sorted."""
    return sorted(file.name.removesuffix(SUFFIX) for file in folder().iterdir() if file.name.endswith(SUFFIX))


def about(kind: str) -> str:
    """Returns what the file of a kind says of it, on one line: its comments before the first key."""
    lines = (folder() / f"{kind}{SUFFIX}").read_text(encoding="utf-8").splitlines()
    head = itertools.takewhile(lambda line: line.startswith("#"), lines)
    return " ".join(line.removeprefix("#").strip() for line in head if "yaml-language-server" not in line)


def completed(document: YamlDocument) -> YamlDocument:
    """Returns a site file with all that its kind says and itself doesn't.

    Mappings are merged key by key; anything else that the file has takes the place of what the kind has, and a key
    without a value (`images:`) takes it away. The lines of errors stay those of the file.

    Raises:
        InputError: There is no such kind.
    """
    if "kind" not in document.value:
        return document
    kind, kinds = document.value["kind"], names()
    if kind not in kinds:
        raise document.error(("kind",), kind, f"the name of a kind; {existing(str(kind), kinds, 'known')}")
    built_in = yamlfile.parse((folder() / f"{kind}{SUFFIX}").read_bytes(), f"kind {kind}")
    theirs = {key: value for key, value in completed(built_in).value.items() if key != "kind"}
    own = {key: value for key, value in document.value.items() if key != "kind"}
    return replace(document, value={"kind": kind, **_merged(theirs, own)})


def _merged(kind: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    if any(name in own and own[name] != kind.get(name, default) for name, default in _TELLTALES.items()):
        return dict(own)
    merged = {**kind}
    for key, value in own.items():
        if value is None:
            merged.pop(key, None)
        else:
            theirs = merged.get(key)
            merged[key] = _merged(theirs, value) if isinstance(value, dict) and isinstance(theirs, dict) else value
    return merged

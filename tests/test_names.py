"""One name for one thing, one thing for one name: over modules, classes and identifiers."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from pathlib import Path

from crawler import config

ROOT = Path(__file__).parent.parent
PRODUCT = sorted([*(ROOT / "crawler").rglob("*.py"), *(ROOT / "testbed").rglob("*.py")])

# Words for a thing that has another, standard name here. `docs/architecture.md` has the glossary.
STANDARD_NAMES = {
    "ails": "failing",
    "borrow": "acquire",
    "borrowed": "acquired",
    "borrower": "owner",
    "crowd": "many hosts",
    "doubted": "suspected",
    "fared": "record",
    "fullness": "redis_full",
    "holdings": "in_flight",
    "lend": "acquire",
    "most": "max",
    "persistence": "durability",
    "privacy": "private_addresses",
    "prose": "html_text",
    "readiness": "preflight",
}
# Names of other people's things, and of fields that `scrapy plan check --json` prints.
FOREIGN = {"most_common", "pages_at_most", "hours_at_most"}


# Scrapy looks for settings under their own names in the module of settings.
SETTINGS_MODULES = {Path("crawler/settings.py"), Path("crawler/config/__init__.py")}


def words(identifier):
    """Returns an identifier's words in lower case: `max` and `bytes` of `MaxBytes`, `max_bytes` and `MAX_BYTES`."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", identifier)]


def test_a_class_s_name_stands_for_one_class():
    places = defaultdict(list)
    for path in PRODUCT:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name != "Command":  # Scrapy wants each command to be called so
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_setting_s_name_stands_for_the_setting_alone():
    found = {}
    for path in PRODUCT:
        if path.relative_to(ROOT) in SETTINGS_MODULES:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = {target.id for target in targets if isinstance(target, ast.Name)} & config.BY_NAME.keys()
            if names:
                found[str(path.relative_to(ROOT))] = names
    assert found == {}


def test_things_have_their_standard_names():
    found = {}
    for path in PRODUCT:
        names = {path.stem}
        for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
            if token.type == tokenize.NAME:
                names.add(token.string)
        for name in names - FOREIGN:
            standard = [STANDARD_NAMES[word] for word in words(name) if word in STANDARD_NAMES]
            if standard:
                found.setdefault(str(path.relative_to(ROOT)), {})[name] = standard[0]
    assert found == {}

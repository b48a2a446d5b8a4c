"""A name stands for one thing: of classes, and of settings."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from crawler import config

ROOT = Path(__file__).parent.parent
PRODUCT = sorted([*(ROOT / "crawler").rglob("*.py"), *(ROOT / "testbed").rglob("*.py")])
# Scrapy looks for settings under their own names in the module of settings.
SETTINGS_MODULES = {Path("crawler/settings.py"), Path("crawler/config/__init__.py")}


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

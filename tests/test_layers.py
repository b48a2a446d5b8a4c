"""The contracts of imports in pyproject.toml leave out no part of the package."""

from __future__ import annotations

import pkgutil
import tomllib
from pathlib import Path

import crawler

ROOT = Path(__file__).parent.parent
LAYERS, TOP, FAST, *_ = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
FOUND = list(pkgutil.iter_modules(crawler.__path__))
PARTS = {f"crawler.{part.name}" for part in FOUND}
# The scheduler is a module with a layer of its own, as packages have.
IN_LAYERS = {f"crawler.{part.name}" for part in FOUND if part.ispkg or part.name == "scheduler"}


def test_every_package_has_a_layer():
    assert {name for row in LAYERS["layers"] for name in row.split(" | ")} == IN_LAYERS


def test_every_module_at_the_top_knows_none_of_the_packages_but_the_settings():
    assert set(TOP["forbidden_modules"]) == IN_LAYERS - {"crawler.config"}
    assert set(TOP["source_modules"]) == PARTS - IN_LAYERS | {"crawler.config"}


def test_the_fast_engine_knows_nothing_of_the_project_but_what_is_private_of_scrapy():
    assert FAST["source_modules"] == ["crawler.fast"]
    assert set(FAST["forbidden_modules"]) == PARTS - {"crawler.fast", "crawler.base.scrapy_private"}

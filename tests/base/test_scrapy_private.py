"""Private names of Scrapy are touched in one module, which lists those that subclasses use."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from scrapy.core.engine import ExecutionEngine

from crawler.base import scrapy_private
from crawler.fast.engine import LeanEngine

ROOT = Path(__file__).parents[2]
PRODUCT = sorted([*(ROOT / "crawler").rglob("*.py"), *(ROOT / "testbed").rglob("*.py")])
# Where other libraries' private names are touched, each with its reason.
OTHERS = {"crawler/pipelines/kafka.py", "crawler/servers/redis_cluster.py"}


def test_no_other_module_imports_a_private_name_of_scrapy():
    found = []
    for path in PRODUCT:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scrapy"):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                found += [(path.name, name) for name in names if name.startswith("_")]
    assert {name for name, _ in found} <= {"scrapy_private.py"}


def test_no_other_module_touches_a_private_attribute_of_scrapy():
    exempt = {str(path.relative_to(ROOT)) for path in PRODUCT if "noqa: SLF001" in path.read_text(encoding="utf-8")}
    assert exempt == OTHERS  # ruff finds the rest


def test_what_the_subclass_uses_of_its_base_is_listed():
    text = Path(ROOT / f"{LeanEngine.__module__.replace('.', '/')}.py").read_text(encoding="utf-8")
    used = set(re.findall(r"(?:self|super\(\))\.(_[a-z]\w*)|def (_[a-z]\w*)\(self", text))
    names = {name for pair in used for name in pair if name and hasattr(ExecutionEngine, name)}
    assert names == set(scrapy_private.SUBCLASSED)


def test_a_method_that_is_gone_is_named(monkeypatch):
    assert scrapy_private.missing_methods() == []
    monkeypatch.delattr(ExecutionEngine, "_download")
    assert scrapy_private.missing_methods() == ["ExecutionEngine._download"]

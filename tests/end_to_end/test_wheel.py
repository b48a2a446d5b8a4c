"""The wheel holds all that a crawl needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from runner import NOWHERE

from deploy import clone
from testbed.servers.process import ROOT

SOURCES = ("crawler", "plans", "headroom_commands.py", "pyproject.toml", "README.md", "LICENSE")
BUILD_SECONDS = 120
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


def run(*words, **options):
    """Runs Python to its end, which must be a good one; returns what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which the wheel of this tree was installed, without its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    clone.copy(SOURCES, source)
    wheel = folder / run("-c", BUILD, folder, cwd=source).split()[-1]
    target = folder / "installed"
    run("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", target, wheel)
    return target


def test_it_holds_what_is_no_python_too(installed):
    names = {path.relative_to(ROOT).as_posix() for path in (ROOT / "crawler").rglob("*") if path.is_file()}
    wanted = {name for name in names if not name.endswith(".pyc")}
    assert {name for name in wanted if name.endswith((".lua", ".yaml", ".json", ".typed"))}
    assert [name for name in sorted(wanted) if not (installed / name).is_file()] == []
    plans = {path.name for path in (installed / "share" / "headroom" / "plans").iterdir()}
    assert plans == {path.name for path in (ROOT / "plans").glob("*.yaml")}
    (about,) = installed.glob("headroom-*.dist-info")
    assert "the Headroom authors" in (about / "licenses" / "LICENSE").read_text()
    assert "License-Expression: MIT" in (about / "METADATA").read_text()


def test_its_commands_run_without_this_checkout(installed, tmp_path):
    environment = {**os.environ, **NOWHERE, "PYTHONPATH": str(installed), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    plan = installed / "share" / "headroom" / "plans" / "demo.yaml"
    checked = json.loads(run("-m", "scrapy", "plan", "check", plan, "--json", cwd=tmp_path, env=environment))
    assert checked["nav_seeds"] > 0
    where = run("-c", "import crawler; print(crawler.__file__)", cwd=tmp_path, env=environment)
    assert Path(where.strip()).parent == installed / "crawler"

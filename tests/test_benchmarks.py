"""Benchmarks that nobody runs for a while still begin: they know the crawler's parts by name. Nothing is timed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import benchmarks
from benchmarks.simulation import Scale, Simulation

SCRIPTS = sorted(path.stem for path in Path(benchmarks.__file__).parent.glob("*.py") if path.stem != "__init__")
# What a comparison of libraries is given beside this project's own packages; its docstring says how.
COMPARED = ("chardet", "django", "selectolax")
SMALL = Scale(nodes=3, hosts=1, pages_per_s=30, join_s=0, crowd_s=2, scarce_s=3, idle_s=1)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_benchmark_imports(name):
    try:
        assert importlib.import_module(f"benchmarks.{name}").__doc__
    except ModuleNotFoundError as missing:
        if missing.name not in COMPARED:
            raise
        pytest.skip(f"{missing.name} isn't installed: benchmarks.{name} compares it")


@pytest.mark.process
def test_simulated_nodes_crawl(tmp_path, capsys):
    from testbed.servers import Redis

    with Redis(tmp_path) as server:
        Simulation(server, SMALL).scarce()
    said = capsys.readouterr().out
    assert "too short: 0, two at once: 0" in said
    assert "ended early" not in said
    assert "all together: 0.0 pages/s" not in said

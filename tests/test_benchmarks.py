"""Benchmarks that nobody runs for a while still run: each for a moment, on a part of its work. Nothing is timed."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from pathlib import Path

import pytest
from needs import need

import benchmarks
from benchmarks.simulation import Scale, Simulation
from testbed.servers import Redis

SCRIPTS = sorted(path.stem for path in Path(benchmarks.__file__).parent.glob("*.py") if path.stem != "__init__")
# Script -> arguments, constants that make it small, and a part of what it prints.
SMALL = {
    "extraction": ("--rounds 1", {"PAGES": 5}, "WHOLE: bytes to bytes"),
    "frontier": (
        "--only scale",
        {"SCALES": (100, 1_000, 10_000), "SCALE_ROUNDS": 20},
        "1,000 seeds, 1 hosts",
    ),
    "large_frontier": (
        "--seeds 2000 --hosts 1000",
        {"REAL_HOSTS": 1_000, "WIDE_SEEDS": 1_000, "ROUNDS": 4, "CLAIM_SEEDS": 50},
        "| drop | all of it |",
    ),
    "order": ("--hosts 2 --seconds 30", {}, "though something was due: 0"),
}
LARGE = {
    "made_web.__main__": ("--pages 2000", {}, "| 2,000 |"),
    "million": (
        "--pages 1000",
        {"LOOK_SECONDS": 0.02, "TENTHS": 2, "GROWTH_MAX": 100, "START_SECONDS": 300},
        "1,000 pages",
    ),
    "side_by_side.__main__": ("--pages 200 --rounds 1 --only files", {}, "**Headroom**, files"),
    "sinks": ("--messages 20 --rounds 1", {}, "kafka"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_benchmark_knows_the_crawlers_parts_by_name(name):
    assert importlib.import_module(f"benchmarks.{name}").__doc__


@pytest.fixture
def run(monkeypatch, capfd):
    """Returns a function that runs a script on a small part of its work, and gives what it prints."""

    def ran(name, arguments, constants):
        monkeypatch.setattr(sys, "argv", [name, *arguments.split()])
        module = importlib.import_module(f"benchmarks.{name}")
        for constant, value in constants.items():
            monkeypatch.setattr(module, constant, value)
        assert not module.main(), capfd.readouterr().err
        return capfd.readouterr().out

    processors = os.sched_getaffinity(0)
    yield ran
    os.sched_setaffinity(0, processors)  # some keep to one of them


@pytest.mark.process
@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_runs(run, name):
    arguments, constants, printed = SMALL[name]
    assert printed in run(name, arguments, constants)


@pytest.mark.process
def test_simulated_nodes_crawl(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.simulation.PROCESSES", 1)
    with Redis(tmp_path) as server:
        Simulation(server, Scale(nodes=3, hosts=1, pages_per_s=30, join_s=0, crowd_s=2, scarce_s=4, idle_s=1)).scarce()
    printed = capsys.readouterr().out
    assert "too short: 0, two at once: 0" in printed
    assert "ended early" not in printed
    assert "all together: 0.0 pages/s" not in printed


@pytest.mark.faults  # they start several servers and a crawl
@pytest.mark.parametrize("name", LARGE)
def test_a_benchmark_with_servers_and_crawls_runs(run, name):
    if name != "sinks" and not shutil.which("nginx"):
        need("nginx")
    arguments, constants, printed = LARGE[name]
    assert printed in run(name, arguments, constants)

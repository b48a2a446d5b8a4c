"""The units in deploy/: systemd takes them without a word, and they are shut off as docs/deploy-systemd.md says."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from needs import need

from crawler import config
from testbed.servers.process import ROOT

pytestmark = pytest.mark.deploy
UNITS = sorted((ROOT / "deploy").glob("*/*.service"))
OTHERS = [ROOT / "deploy/systemd/headroom.slice", ROOT / "deploy/systemd/headroom.target"]
PAGE = (ROOT / "docs/deploy-systemd.md").read_text("utf-8")


@pytest.fixture
def analyze():
    """Returns a function that runs systemd-analyze, which needs no running systemd; it gives all that it printed."""
    if not shutil.which("systemd-analyze"):
        need("systemd-analyze isn't installed")

    def run(*words):
        done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr

    return run


@pytest.fixture
def node(tmp_path):
    """A copy of the units that start programs of this machine, since /opt is empty here."""
    for unit in (*UNITS, *OTHERS):
        text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text("utf-8"))
        (tmp_path / unit.name).write_text(text, "utf-8")
    return tmp_path


def test_systemd_takes_every_unit_without_a_word(analyze, node):
    units = [str(node / unit.name.replace("@.", "@1.")) for unit in UNITS if "@" in unit.name]
    for unit in UNITS:
        if "@" in unit.name:
            (node / unit.name.replace("@.", "@1.")).write_text((node / unit.name).read_text("utf-8"), "utf-8")
    units += [str(node / unit.name) for unit in (*UNITS, *OTHERS) if "@" not in unit.name]
    assert analyze("verify", *units) == ""


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_what_a_unit_is_exposed_to_is_what_the_page_says(analyze, node, unit):
    (score,) = re.findall(
        r"exposure level for \S+: ([\d.]+)", analyze("security", "--offline=true", str(node / unit.name))
    )
    assert f"| `{unit.name}` | {score} |" in PAGE


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_stop_outlasts_a_worker_s_last_pages(unit):
    (seconds,) = re.findall(r"(?m)^TimeoutStopSec=(\d+)$", unit.read_text("utf-8"))
    assert int(seconds) > 30


@pytest.mark.parametrize("file", sorted((ROOT / "deploy").glob("*/*.env")), ids=lambda file: file.name)
def test_the_environment_is_one_of_settings(file):
    names = re.findall(r"(?m)^(\w+)=", file.read_text("utf-8"))
    assert names
    assert [name for name in names if name not in config.BY_NAME] == []
    assert "ITEMS_DIR" in names


def test_producer_and_consumer_differ_in_nothing_but_the_spider():
    consumer, producer = (
        (ROOT / f"deploy/systemd/headroom-{name}.service").read_text("utf-8").split("[Unit]")[1]
        for name in ("consumer@", "producer")
    )
    assert producer == consumer.replace("consumer %i", "producer").replace("consumer", "producer")

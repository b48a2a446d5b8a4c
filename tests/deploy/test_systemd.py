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
DROP_IN = ROOT / "deploy/systemd/headroom-.service.d/worker.conf"
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
    shutil.copytree(DROP_IN.parent, tmp_path / DROP_IN.parent.name)
    return tmp_path


def seconds_of(name, file):
    (seconds,) = re.findall(rf"(?m)^{name}=(\d+)$", file.read_text("utf-8"))
    return int(seconds)


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


@pytest.mark.parametrize("file", [DROP_IN, ROOT / "deploy/scrapyd/scrapyd.service"], ids=lambda file: file.name)
def test_a_stop_outlasts_a_worker_s_last_pages(file):
    assert seconds_of("TimeoutStopSec", file) > 30


def test_a_start_outlasts_the_search_for_redis_and_silence_means_more_than_a_stop():
    assert seconds_of("TimeoutStartSec", DROP_IN) > config.CONNECT_SECONDS.default + 30
    assert seconds_of("WatchdogSec", DROP_IN) > seconds_of("TimeoutStopSec", DROP_IN)


@pytest.mark.parametrize("file", sorted((ROOT / "deploy").glob("*/*.env")), ids=lambda file: file.name)
def test_the_environment_is_one_of_settings(file):
    names = re.findall(r"(?m)^(\w+)=", file.read_text("utf-8"))
    assert names
    assert [name for name in names if name not in config.BY_NAME] == []
    assert "ITEMS_DIR" in names


def test_what_workers_have_in_common_stands_in_one_file():
    """A unit has its own name, its command, and what a drop-in can't have; `verify` doesn't read drop-ins' sections."""
    for unit in (unit for unit in UNITS if unit.parent == DROP_IN.parent.parent):
        keys = re.findall(r"(?m)^(\w+)=", unit.read_text("utf-8"))
        assert keys == ["Description", "ExecStart", "WantedBy"]
        assert unit.name.startswith("headroom-")

"""docs/deploy-systemd.md, followed on a bare machine that systemd boots: workers join, freeze, and come back."""

from __future__ import annotations

import json

import pytest
from deploy.clone import PIP, make
from deploy.machine import Machine
from documents.walk import blocks
from waiting import until

from testbed.audit import handed_on
from testbed.servers.process import ROOT

pytestmark = pytest.mark.deploy
WORKERS = ("headroom-producer", "headroom-consumer@1", "headroom-consumer@2")
ADDRESS = "redis://headroom:PASSWORD@redis.example.org:6379/0"  # in the page's text
SECONDS = 120  # some ten times what it takes on an idle machine
PAGE = blocks(ROOT / "docs/deploy-systemd.md")
(INSTALL,) = (text for language, text in PAGE if language == "console")
(COMMANDS,) = (text for language, text in PAGE if language == "sh")
# What a node of the tests needs beside the page's: an address within, and less patience than a crawl's.
LOCAL = """[Service]
Environment=ALLOW_PRIVATE_ADDRESSES=1 NODE_CPU_LIMIT_PERCENT=100 NODE_MEMORY_LIMIT_PERCENT=100
Environment=SESSION_SECONDS=2 CONNECT_SECONDS=1
WatchdogSec=4
TimeoutAbortSec=2
RestartSec=1
"""


def install(machine, redis_url):
    """Types the page's lines into a machine, up to those that start workers."""
    lines = [line.removeprefix("# ") for line in INSTALL.splitlines()]
    *before, enable = lines
    assert enable == f"systemctl enable --now headroom.target {' '.join(WORKERS)}"
    text = "\n".join(before)
    assert ADDRESS in text
    machine.run(f"cd /source\n{text.replace(ADDRESS, redis_url)}", PIP)
    machine.place("/etc/systemd/system/headroom-.service.d/zz-local.conf").write_text(LOCAL)
    machine.run("systemctl daemon-reload")
    return enable


@pytest.fixture(scope="module")
def machine(tmp_path_factory, forum, redis_server):
    folder = tmp_path_factory.mktemp("machine")
    with Machine(folder, "node1", make(folder / "clone", forum)) as machine:
        machine.enable = install(machine, redis_server.url)
        yield machine


@pytest.fixture
def started(machine, crawl):
    """The machine with its workers, on an empty Redis; nobody is left afterwards."""
    machine.run(machine.enable)
    yield machine
    machine.run("systemctl stop headroom.target")
    until(lambda: {one["state"] for one in crawl.workers()} <= {"lapsed"}, "those that were killed to lapse")


def shown(machine, unit, name):
    """Returns what systemd says of a unit."""
    return machine.run(f"systemctl show --property={name} --value {unit}").strip()


def items(machine):
    files = machine.place("/var/lib/headroom/items").glob("*.jsonl")
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def test_workers_have_joined_when_the_start_comes_back_and_know_their_password_by_a_file(started, crawl):
    assert [shown(started, unit, "ActiveState") for unit in WORKERS] == ["active"] * 3
    until(lambda: len(crawl.workers()) == 3, "the first figures of all three")
    assert {worker["node"] for worker in crawl.workers()} == {"node1"}
    pid = shown(started, WORKERS[0], "MainPID")
    assert "REDIS_URL" not in started.run(f"tr '\\0' '\\n' < /proc/{pid}/environ")
    assert started.run(f"stat -c %U /proc/{pid}") == "headroom\n"
    with pytest.raises(AssertionError, match="Permission denied"):
        started.run(f"setpriv --reuid nobody --clear-groups cat /run/credentials/{WORKERS[1]}.service/REDIS_URL")


def test_a_worker_that_is_frozen_is_aborted_tells_where_it_was_and_is_started_again(started):
    unit = WORKERS[1]
    before = shown(started, unit, "NRestarts")
    started.run(f"kill -STOP {shown(started, unit, 'MainPID')}")
    until(lambda: shown(started, unit, "NRestarts") != before, "systemd to start it again", SECONDS)
    until(lambda: shown(started, unit, "ActiveState") == "active", "it to join", SECONDS)
    told = started.run(f"journalctl --unit {unit} --no-pager")
    assert "Watchdog timeout" in told
    assert "Fatal Python error: Aborted" in told


def test_one_that_ends_is_started_again_and_one_that_can_t_start_is_tried_again(started, crawl):
    unit = WORKERS[2]
    credential = started.place("/etc/headroom/credentials/REDIS_URL")
    address = credential.read_text()
    credential.write_text("redis://:wrong@127.0.0.1:1/0\n")
    try:
        started.run(f"kill -KILL {shown(started, unit, 'MainPID')}")
        until(lambda: int(shown(started, unit, "NRestarts")) >= 2, "two vain starts", SECONDS)
        assert "wrong" not in started.run("journalctl --no-pager")
    finally:
        credential.write_text(address)
    until(lambda: shown(started, unit, "ActiveState") == "active", "it to join", SECONDS)


def test_what_a_machine_held_when_its_power_went_is_crawled_when_it_is_back(started, crawl, forum):
    started.run(COMMANDS)
    until(lambda: crawl.counts()["executing"] and crawl.counts()["finished"] > 1, "pages to be crawled", SECONDS)
    started.cut_power()
    assert crawl.counts()["executing"] > 0
    started.boot()
    assert [shown(started, unit, "ActiveState") for unit in WORKERS] == ["active"] * 3  # they were enabled
    until(lambda: crawl.total()["ready"] == crawl.total()["executing"] == 0, "the crawl to end", SECONDS)
    assert crawl.total()["difference"] == 0
    counts = crawl.counts()  # a page that leads to another one has the other's item
    assert len({item["id"] for item in items(started)}) == counts["finished"] - handed_on(counts) > 20

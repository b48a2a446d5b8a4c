"""Each incident of docs/incidents.md is brought about, and mended by the very commands of the page."""

from __future__ import annotations

import os
import signal

import pytest
import yaml
from documents.reader import Reader
from documents.walk import ROOT
from waiting import until

pytestmark = pytest.mark.faults

PAGE = ROOT / "docs" / "incidents.md"


@pytest.fixture
def rig(files_rig):
    """A cluster that writes files alone."""
    return files_rig


@pytest.fixture
def reader(rig, tmp_path):
    (tmp_path / "sites").mkdir()
    return Reader(PAGE, tmp_path, rig.environment | rig.settings | {"SITES_DIR": tmp_path / "sites"})


def states(rig):
    return {worker["state"] for worker in rig.workers()}


def test_a_node_is_silent(rig, reader, row):
    rig.offer(rig.origin.urls(200, "slow"), site="paced")
    frozen = rig.worker()
    until(lambda: rig.ended() >= 10, "pages")
    os.kill(frozen.pid, signal.SIGSTOP)
    until(lambda: states(rig) <= {"silent", "lapsed"}, "the node to be silent")
    assert "lapsed" in reader.follow("A node is silent", 1) or "silent for" in reader.follow("A node is silent", 1)
    assert "T (stopped)" in reader.follow("A node is silent", 2, NODE_PID=frozen.pid)
    assert frozen.wait(10) == -signal.SIGKILL
    rig.finish()
    assert "all agrees" in reader.follow("A node is silent", 3)
    row("a node is silent, by docs/incidents.md", rig.audit())


def test_redis_is_full(rig, reader, row):
    worker = rig.worker()
    rig.offer(rig.origin.urls(200, "slow"), site="paced")
    until(lambda: rig.ended() >= 10, "pages")
    rig.redis.config_set("maxmemory", 1)
    try:
        until(lambda: "redis-full" in states(rig), "the worker to say that Redis is full")
        printed = reader.follow("Redis is full", MORE_MEMORY="1gb")
    finally:
        rig.redis.config_set("maxmemory", 0)
    assert "maxmemory:1\n" in printed.replace("\r", "")
    rig.until_done()
    assert worker.running
    row("Redis is full, by docs/incidents.md", rig.audit())
    assert rig.counts()["failed"] == 0


def submit_plan(rig, forum, folder, changed=""):
    """Submits a plan on a board of the forum, in whose definition the selectors of content aren't right if so asked."""
    site = yaml.safe_load((ROOT / "crawler/sites/demo_forum.yaml").read_text("utf-8"))
    site |= {"name": "board", "base": forum.url}
    if changed:
        site["content"]["content"]["select"] = changed
    rig.settings["SITES_DIR"] = folder / "sites"
    (file := folder / "sites" / "board.yaml").write_text(yaml.safe_dump(site), "utf-8")
    rig.submit(["board"], ["洪水"], name="flood")
    return {"SITE": "board", "SITE_FILE": file, "PLAN": "flood", "PLAN_FILE": rig.folder / "flood.yaml"}


def test_a_site_yields_nothing(rig, reader, forum, row, tmp_path):
    names = submit_plan(rig, forum, tmp_path, changed="css:.post-text")  # as if the forum had been `.post-body` since
    rig.finish(producers=1)
    failed = [url for url, (_, reason) in rig.unfinished().items() if reason == "no-content"]
    assert len(failed) > 5
    assert not rig.items()
    heading = "A site yields nothing"
    names["URL"] = next(url for url in failed if "/thread/" in url)
    assert f"no-content {len(failed)}" in reader.follow(heading, 1, **names, status=1)
    file = names["SITE_FILE"]
    file.write_text(file.read_text("utf-8").replace(".post-text", ".post-body"), "utf-8")
    reader.follow(heading, 2, **names)
    rig.finish(producers=1)
    left = [url for url, (_, reason) in rig.unfinished().items() if reason == "no-content"]
    row("a site yields nothing, by docs/incidents.md", failed=len(failed), failed_then=len(left))
    assert len(left) < 3  # some of the forum's pages have no content
    assert len(rig.items()) >= len(failed) - len(left)


def test_the_ledger_s_difference_isn_t_0(rig, reader, forum, row, tmp_path):
    names = submit_plan(rig, forum, tmp_path)
    rig.finish(producers=1)
    delivered = len(rig.items())
    assert delivered > 5
    rig.redis.hincrby(rig.keys.partition(0).ledger("flood", "board"), "content:offered", 3)  # three are gone
    heading = "The ledger's difference isn't 0"
    assert "content: difference 3" in reader.follow(heading, 1, status=1).replace("\n", " ")
    reader.follow(heading, 2, **names)
    rig.finish(producers=1)
    total = rig.total()
    row("the ledger's difference isn't 0, by docs/incidents.md", difference=total["difference"])
    assert total["difference"] == 0
    assert len(rig.items()) == delivered

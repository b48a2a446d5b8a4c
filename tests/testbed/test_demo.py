"""One real demo, shared by all that is asked of it (in `make faults`: it takes a minute), and the ends that come early.

How it uses named servers, and that it can be stopped at any moment, is tested in tests/faults/test_demo.py.
"""

import json
import os
import re
import signal
from collections import Counter

import pytest
from demo_run import DemoRun, broken_java, expected_items
from scrapy.settings import Settings
from waiting import until

from crawler.base.errors import HeadroomError
from crawler.base.models import Seed
from crawler.frontier.settlement import Settlement
from crawler.plans.operator import Operator
from testbed import demo
from testbed.demo import MARK, output_folder

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with DemoRun(tmp_path_factory.mktemp("demo")) as run:
        assert run.end() == (0, ""), run.output
        return run


@pytest.fixture(scope="module")
def items(run):
    files = (run.folder / "demo-output/items").glob("*.jsonl")
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


@pytest.mark.faults
def test_it_leaves_no_process_and_only_what_it_is_for(run):
    assert run.leaves_nothing()
    assert {path.name for path in (run.folder / "demo-output").iterdir()} == {MARK, "items", "media", "logs"}


@pytest.mark.faults
def test_the_files_hold_what_the_forum_has(items, run):
    assert Counter(item["resource"] for item in items) == expected_items()
    assert len({item["id"] for item in items}) == len(items)
    media = run.folder / "demo-output/media"
    assert all((media / image["path"]).exists() for item in items for image in item["images"])


@pytest.mark.faults
def test_the_result_says_so(run):
    total = sum(expected_items().values())
    kafka = "no kafka" not in run.output
    assert kafka or os.environ.get("CI") != "true"
    sinks = ["files", "mongo", *["kafka"] * kafka]
    assert run.row("sinks").startswith(", ".join(f"{sink} {total}" for sink in sinks) + "; the same by id")
    assert re.match(r"[345]\d search pages, ", run.row("seeds"))  # which search is first to find nothing new, varies
    assert run.row("items") == ", ".join(f"{site} {number}" for site, number in expected_items().items())
    assert run.row("ledger") == "difference 0, and a recount agrees"
    assert int(run.row("speed").partition(" ")[0].replace(",", "")) > 60


@pytest.mark.faults
def test_what_it_says_to_try_next_works(run):
    *tries, again = run.commands("Try next")
    assert again == "make demo ARGS=--keep"
    assert len(tries) == 3
    assert [run.shell(command) for command in tries] == [0, 0, 0]


def test_ctrl_c_while_maven_downloads_leaves_nothing(tmp_path):
    environment = broken_java(tmp_path / "bin") | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    (tmp_path / "bin/mvn").write_text("#!/bin/sh\nsleep 600 & sleep 600\n")
    with DemoRun(tmp_path, environment=environment) as run:
        until(lambda: ["sleep", "600"] in run.living(), "Maven's start")
        assert run.interrupt(signal.SIGINT) == (128 + signal.SIGINT, "stopped: nothing of it is left running\n")
        assert run.leaves_nothing()
    assert [path for path in (tmp_path / "cache/headroom").iterdir() if path.is_dir()] == []


def test_a_named_server_that_is_away_is_one_clear_line(tmp_path):
    with DemoRun(tmp_path, environment={"REDIS_URL": "redis://:secret@127.0.0.1:1/0"}) as run:
        assert run.end() == (1, "error: REDIS_URL: redis://127.0.0.1:1/0 doesn't answer (ConnectionError)\n")
        assert run.leaves_nothing()


async def test_a_pause_for_pages_that_are_tried_again_is_explained(redis_url):
    async with Operator.connect(Settings({"REDIS_URL": redis_url}), begin=True) as operator:
        queue, owner = operator.queues["content"], "node:1:1:x"
        await queue.offer([Seed("http://board.test/1", "demo", "board"), Seed("http://other.test/2", "demo", "board")])
        assert await demo.retries("demo", operator) == ""
        await operator.redis.zadd(operator.keys.partition(0).sessions, {owner: 10**15})
        (claimed,) = (await queue.claim(0, owner, f"{owner}#1", max_seeds=1, carrying=0)).seeds
        await queue.settle(0, owner, [Settlement("retry", claimed, 60_000, "http-500")], [])
        said = await demo.retries("demo", operator)
    assert said == "waiting: pages that failed are tried again after a pause (http-500 1); the next in 60 s"


class TestOutputFolder:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path, monkeypatch):
        monkeypatch.setattr(demo, "OUTPUT", tmp_path / "out")
        return tmp_path / "out"

    def test_a_folder_with_other_files_is_left_alone(self, folder):
        folder.mkdir()
        (folder / "letter").touch()
        with pytest.raises(HeadroomError, match="holds files that are not the demo's"), output_folder():
            pass
        assert [path.name for path in folder.iterdir()] == ["letter"]

    def test_a_link_is_not_followed(self, folder, tmp_path):
        (tmp_path / "precious").mkdir()
        (tmp_path / "precious/letter").touch()
        with output_folder():
            (folder / "items").symlink_to(tmp_path / "precious")
        with pytest.raises(OSError, match="symbolic link"), output_folder():
            pass
        assert (tmp_path / "precious/letter").exists()

"""Follows README's step by step path, and the pages for analysts, operators and Scrapy developers from its first steps.

It is their very text, as a stranger would type it, but for addresses.
"""

from __future__ import annotations

import fcntl
import json
import re
from urllib.parse import urlsplit

import pytest
from documents.walk import ROOT, first_steps, quick_start, script_of

from crawler.frontier.keys import SCHEMA_VERSION
from testbed.forum.content import expected_results

DOCS = ROOT / "docs"
ABOUT_TROUBLE = [DOCS / f"{name}.md" for name in ("nodes", "alerts", "metrics", "logs")]
BEGIN = """
scrapy plan submit plans/demo.yaml
export WORKERS=1
"""
UNTIL_LOGGED = """
until_logged() {
    for _ in $(seq 600); do
        if grep -q "$1" producer.log && grep -q "$1" consumer.log; then return; fi
        sleep 0.1
    done 2>/dev/null
    return 1
}
"""


def items(folder, site):
    """Returns the items of a site that were delivered to files."""
    lines = [line for file in folder.glob(f"items/{site}.*.jsonl") for line in file.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]


@pytest.mark.faults  # it is the demo and a crawl, step by step
def test_the_quick_start_ends_with_items(walk):
    output = walk.follow(quick_start())
    assert "warning: site" not in output
    shown = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert {item["resource"] for item in shown} >= {"demo_forum", "demo_forum_ajax"}
    assert re.search(r"^all +(\d+) .* 0$", output, re.MULTILINE)
    assert f"{walk.folder}/items/SITE.*.jsonl" in output


def test_an_analyst_gets_items_of_a_site_and_a_plan_of_their_own_and_a_page_again(walk, forked_path):
    printed = walk.follow(first_steps() + script_of(DOCS / "analyst.md"), PATH=forked_path)
    walk.check_text(DOCS / "analyst.md", printed)
    found = items(walk.folder, "town_forum")
    assert len(found) == len({item["id"] for item in found}) > 20
    assert {item["plan"] for item in found} == {"flood"}
    from_addresses = [item for item in items(walk.folder, "web") if item["plan"] == "board"]
    assert len(from_addresses) == len({item["id"] for item in from_addresses}) == 10
    (again,) = items(walk.folder, "town_forum_again")
    (first,) = (item for item in found if item["url"] == again["url"])
    assert (again["content"], again["id"] != first["id"]) == (first["content"], True)


@pytest.mark.faults
def test_a_scrapy_developer_gets_items_by_each_kind_of_code_of_their_own(walk):
    printed = walk.follow(first_steps() + script_of(DOCS / "scrapy.md"))
    walk.check_text(DOCS / "scrapy.md", printed)
    shop = walk.folder / "shop"
    own = [json.loads(line) for line in (shop / "threads.jsonl").read_text("utf-8").splitlines()]
    assert len(own) == len({item["url"] for item in own}) == 20
    english = [item for item in items(shop, "demo_forum") if item["plan"] == "english"]
    assert [item["extra"]["characters"] for item in english] == [len(item["content"]) for item in english]
    assert {item["language"] for item in english} == {"en"}
    posts = items(shop, "shop_forum")
    truth = {thread.path: "\n".join(thread.paragraphs) for thread in expected_results("")}
    assert [item["content"] for item in posts] == [truth[urlsplit(item["url"]).path] for item in posts]
    assert sorted(item["extra"]["posts"] for item in posts) == [2, 3]
    lines = (shop / "lines.jsonl").read_text("utf-8").splitlines()
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(item["id"] for item in posts)


def test_an_operator_migrates(walk, forked_path):
    script = first_steps() + "scrapy plan submit plans/demo.yaml\n" + script_of(DOCS / "upgrade.md")
    printed = walk.follow(script, PATH=forked_path)
    assert f"the frontier has format {SCHEMA_VERSION}, this version's: nothing to do" in printed


@pytest.mark.faults
def test_an_operator_starts_workers_looks_and_stops_them(walk):
    script = script_of(DOCS / "operator.md")
    assert script.count("\nkill -TERM") == 1
    # A reader takes longer than a worker does to start or to end; a shell that types at once must wait for both.
    started, ended = "until_logged 'worker .* on frontier'\n", "until_logged 'Spider closed (shutdown)'\n"
    script = script.replace("\nkill -TERM", f"\n{started}kill -TERM") + ended
    printed = walk.follow(UNTIL_LOGGED + first_steps() + script)
    assert re.search(r"^all +(\d+) .* 0$", printed, re.MULTILINE)
    assert walk.redis_url in printed.splitlines()


@pytest.mark.faults  # each command is a process
def test_an_operator_asks_what_is_wrong_and_collects_the_items_of_workers_that_have_ended(walk):
    items = walk.folder / "items"
    items.mkdir()
    for number in (1, 2):
        (items / f"site.node.{number}.jsonl").write_text(f"{number}\n")
    with (items / "site.node.2.jsonl").open("rb") as in_use:
        fcntl.flock(in_use, fcntl.LOCK_EX)
        printed = walk.follow(first_steps() + BEGIN + "".join(map(script_of, ABOUT_TROUBLE)))
    lines = printed.splitlines()
    assert "0 workers are alive, not 1" in lines
    assert "the ledger's difference isn't 0" not in lines
    assert "in use: items/site.node.2.jsonl" in lines
    assert [file.read_text() for file in (walk.folder / "collected").iterdir()] == ["1\n"]
    assert [file.name for file in items.iterdir()] == ["site.node.2.jsonl"]

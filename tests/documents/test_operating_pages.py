"""Follows the pages on nodes, alerts, metrics and logs: what they have an operator type does what they say."""

from __future__ import annotations

import fcntl

import pytest
from documents.walk import ROOT, first_steps, script_of

pytestmark = pytest.mark.faults  # each command is a process

PAGES = [ROOT / "docs" / f"{name}.md" for name in ("nodes", "alerts", "metrics", "logs")]
BEGIN = """
scrapy plan submit plans/demo.yaml
export WORKERS=1
"""


def test_an_operator_asks_what_is_wrong_and_collects_the_items_of_workers_that_have_ended(walk):
    items = walk.folder / "items"
    items.mkdir()
    for number in (1, 2):
        (items / f"site.node.{number}.jsonl").write_text(f"{number}\n")
    with (items / "site.node.2.jsonl").open("rb") as in_use:
        fcntl.flock(in_use, fcntl.LOCK_EX)
        printed = walk.follow(first_steps() + BEGIN + "".join(map(script_of, PAGES)))
    lines = printed.splitlines()
    assert "0 workers are alive, not 1" in lines
    assert "the ledger's difference isn't 0" not in lines
    assert "in use: items/site.node.2.jsonl" in lines
    assert [file.read_text() for file in (walk.folder / "collected").iterdir()] == ["1\n"]
    assert [file.name for file in items.iterdir()] == ["site.node.2.jsonl"]

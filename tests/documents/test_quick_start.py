"""Follows README's step by step path as a stranger would: its very text, but for addresses."""

from __future__ import annotations

import json
import re

import pytest
from documents.walk import quick_start


@pytest.mark.faults  # it is the demo and a crawl, step by step
def test_it_ends_with_items(walk):
    output = walk.follow(quick_start())
    assert "warning: site" not in output
    shown = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert {item["resource"] for item in shown} >= {"demo_forum", "demo_forum_ajax"}
    assert re.search(r"^all +(\d+) .* 0$", output, re.MULTILINE)
    assert f"{walk.folder}/items/SITE.*.jsonl" in output

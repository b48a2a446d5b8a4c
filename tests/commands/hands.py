"""What the tests of commands work with."""

from __future__ import annotations

from crawler.models import Seed


def content(number, plan="flood", site="board"):
    return Seed(f"http://board.test/thread/{number}", plan, site, keywords=("洪水",))

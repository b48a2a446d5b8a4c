"""Seeds that the tests of commands offer."""

from __future__ import annotations

from crawler.models import Seed


def content_seed(number, plan="flood", site="board"):
    return Seed(f"http://board.test/thread/{number}", plan, site, keywords=("洪水",))

"""Seeds that lead elsewhere: one hop, several, round in circles, to other hosts. Each ends, and says how."""

from __future__ import annotations

import json

import pytest
from faults.rig import FULL

pytestmark = pytest.mark.faults

SEEDS = 10_000 if FULL else 400
KINDS = ("one", "chain", "loop", "cross", "wide-loop")


def test_redirecting_seeds(files_rig, row):
    """Those that lead to a page are delivered, those that lead nowhere fail with a reason."""
    rig = files_rig
    each = SEEDS // len(KINDS)
    for kind in KINDS:
        rig.offer(rig.origin.urls(each, f"redirect/{kind}"))
    workers = [rig.worker(STOP_WHEN_DONE=1) for _ in range(2)]
    for worker in workers:
        assert worker.wait(600) == 0
    counts = rig.counts()
    pages = {one["url"].rpartition("/")[2] for one in rig.items()}
    failed = json.loads(rig.scrapy("seeds", "list", "--state", "failed", "--limit", SEEDS, "--json"))["seeds"]
    reasons = {one["reason"] for one in failed}
    row(
        f"{SEEDS:,} redirecting seeds",
        delivered=len(pages),
        failed=len(failed),
        reasons=", ".join(sorted(reasons)),
        not_ended=counts["ready"] + counts["executing"],
    )
    assert pages == {f"{kind}-{number}" for kind in ("one", "chain", "cross") for number in range(each)}
    assert reasons == {"too-many-redirects"}
    assert len(failed) == 2 * each
    assert counts["ready"] == counts["executing"] == 0
    assert json.loads(rig.scrapy("ledger", "--verify", "--json"))["total"]["difference"] == 0

"""Seeds that lead elsewhere: one hop, several, round in circles, to other hosts. Each ends, and says how."""

from __future__ import annotations

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
    rig.finish(consumers=2)
    counts = rig.counts()
    pages = {one["url"].rpartition("/")[2] for one in rig.items()}
    ends = rig.unfinished().values()
    row(
        f"{SEEDS:,} redirecting seeds",
        delivered=len(pages),
        failed=len(ends),
        ends=", ".join(sorted({reason for _, reason in ends})),
        not_ended=counts["ready"] + counts["executing"],
    )
    assert pages == {f"{kind}-{number}" for kind in ("one", "chain", "cross") for number in range(each)}
    assert set(ends) == {("failed", "too-many-redirects")}
    assert len(ends) == 2 * each
    assert counts["ready"] == counts["executing"] == 0
    assert rig.total()["difference"] == 0

"""The parts of the checks keep within their budgets, as their times were recorded last."""

from __future__ import annotations

from pathlib import Path

import pytest
from parts import BUDGET_SECONDS, recorded

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("part", BUDGET_SECONDS)
def test_a_part_takes_no_longer_than_it_may(part):
    """Who adds tests makes others cheaper, or says here why there is more to check; `make times` records."""
    times = recorded()
    took = sum(times[part].values())
    assert 0 < took <= BUDGET_SECONDS[part], f"{part}: {took:.0f} s"


def test_times_are_of_files_that_exist():
    gone = {file for files in recorded().values() for file in files if not (ROOT / file).exists()}
    assert gone == set()

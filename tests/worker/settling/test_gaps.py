"""What an item lacks stays known, whatever takes the item's place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pipelines.sink_samples import page
from samples import RecordedVisit

from crawler.base.item import item_id
from crawler.worker.settling.gaps import Gaps


@pytest.fixture
def found():
    """The one item of a visited page, and the visit."""
    recorded = RecordedVisit()
    recorded.visit.items = 1
    item = page(id=item_id(recorded.visit.claimed.fingerprint.hex()))
    item.visit = recorded.visit
    return item, recorded


@pytest.mark.parametrize(("number", "served"), [(0, "1 p"), (1, "0 p")])
async def test_no_later_plan_is_told_of_an_item_that_another_visit_may_complete(found, number, served):
    item, recorded = found
    item.gaps = number
    Gaps().note(item)
    recorded.end_callback()
    assert recorded.settlements[0].served == served


async def test_a_later_visit_that_lacks_nothing_has_the_last_word(found):
    item, _ = found
    gaps, item.gaps = Gaps(), 2
    gaps.note(item)
    item.gaps = 0
    gaps.note(item)
    other = replace(item)
    gaps.restore(other)
    assert other.gaps == 0


async def test_what_an_item_says_itself_stands(found):
    item, _ = found
    gaps, item.gaps, item.missing_pages = Gaps(), 1, ["http://a.test/2"]
    gaps.note(item)
    other = replace(item, missing_pages=["http://a.test/3"])
    other.gaps = 2
    gaps.restore(other)
    assert (other.gaps, other.missing_pages) == (2, ["http://a.test/3"])

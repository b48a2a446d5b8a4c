"""The state of a visit's request is one object in its meta, and the part that it stands for ends once."""

from __future__ import annotations

import pytest
from samples import a_visit

from crawler.base.events import Events
from crawler.worker.visits.request_part import RequestPart
from crawler.worker.visits.visit import PageFetched, VisitEnded


@pytest.mark.parametrize("keeps_lane", [True, False])
async def test_a_part_ends_once(keeps_lane):
    events, heard = Events(), []
    for kind in (PageFetched, VisitEnded):
        events.subscribe(kind, lambda event: heard.append(type(event)))
    visit = a_visit(events=events)
    visit.begin_part(fetches=True)  # the page's own callback is still at work
    part = RequestPart(visit, keeps_lane=keeps_lane)
    part.end()
    part.drop()
    assert heard == []
    visit.end_fetch()
    visit.end_part()
    assert heard == [PageFetched, VisitEnded]

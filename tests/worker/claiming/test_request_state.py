"""The state of a visit's request is one object in its meta, and the part that it stands for ends once."""

from __future__ import annotations

import pytest
from samples import a_visit
from scrapy import Request

from crawler.base.events import Events
from crawler.worker.claiming.request_part import RequestPart
from crawler.worker.claiming.request_state import META_KEY, Purpose, RequestState, part_of, state_of
from crawler.worker.claiming.visits import PageFetched, VisitEnded


def test_only_requests_of_visits_have_a_state():
    visit = a_visit()
    part = RequestPart(visit)
    state = RequestState(Purpose(visit, part=part))
    request = Request("http://a.test/", meta=state.meta(download_timeout=3))
    assert request.meta == {META_KEY: state, "download_timeout": 3}
    moved = request.replace(url="http://a.test/moved")  # as a redirect does
    assert (state_of(moved), part_of(moved)) == (state, part)
    assert state_of(Request("http://a.test/")) is state_of(None) is part_of(None) is None


async def test_a_request_doesn_t_hold_a_turn_that_was_released():
    visit = a_visit()
    state = RequestState(Purpose(visit), visit.lane)
    assert state.held_lane is visit.lane
    visit.lane.release()
    assert state.held_lane is None


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

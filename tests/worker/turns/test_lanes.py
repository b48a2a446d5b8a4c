"""Lanes start a host's visits one by one, and none while the host has a backoff."""

from __future__ import annotations

import pytest
from samples import TURN, a_visit

from crawler.base.events import Events
from crawler.worker.turns.lanes import LaneEmpty, Lanes
from crawler.worker.visits.visit import Lane, VisitEnded


class RecordedLanes:
    """Lanes with visits, and what was published of both."""

    def __init__(self):
        self.released = []
        self.outcomes = []
        self.events = Events()
        self.events.subscribe(LaneEmpty, lambda event: self.released.append(event.lane))
        self.events.subscribe(
            VisitEnded, lambda event: self.outcomes.append((event.settlement.operation, event.settlement.reason))
        )
        self.lanes = Lanes(self.events)

    def lane(self, visits, host="a.test", delay_s=0.0):
        lane = Lane(host, TURN, 0, delay_s)
        for number in range(visits):
            lane.not_started.append(a_visit(f"http://{host}/{number}", number=number, lane=lane, events=self.events))
        self.lanes.hold([lane])
        self.lanes.start(lane)
        return lane

    def fetch(self, lane, sign):
        """Fetches the lane's next page."""
        visit = self.lanes.next_visit()
        assert visit.lane is lane
        lane.record(sign)
        visit.end_fetch()
        return visit


@pytest.fixture
async def recorded():
    return RecordedLanes()


async def test_a_lane_starts_visit_after_visit_while_its_host_is_healthy(recorded):
    lane = recorded.lane(3)
    for _ in range(3):
        recorded.fetch(lane, "answers")
    assert recorded.released == [lane]
    told = lane.release()
    assert (told.answers, told.failures, told.backoff_ms) == (3, 0, 0)
    assert recorded.outcomes == []


async def test_a_failure_releases_the_visits_not_started(recorded):
    lane = recorded.lane(3)
    recorded.fetch(lane, "answers")
    recorded.fetch(lane, "failures")
    assert recorded.released == [lane]
    assert recorded.outcomes == [("release", "stopped")]
    told = lane.release()
    assert (told.answers, told.failures) == (1, 1)


async def test_visits_on_slow_lanes_are_counted(recorded):
    quick, paced, slow = recorded.lane(2), recorded.lane(3, "b.test", delay_s=60.0), recorded.lane(4, "c.test")
    assert recorded.lanes.slow_visits() == 0
    await paced.start()
    paced.finish()
    assert recorded.lanes.slow_visits() == 3
    for lane in (quick, paced, slow):
        assert recorded.lanes.next_visit().lane is lane
    await slow.start()
    slow._last_start -= 5  # no answer yet
    assert recorded.lanes.slow_visits() == 3 + 4
    slow.finish()
    assert recorded.lanes.slow_visits() == 3


async def test_a_backoff_that_another_worker_found_releases_the_visits_not_started(recorded):
    busy, idle, other = recorded.lane(2), recorded.lane(2), recorded.lane(2, "b.test")
    visit = recorded.lanes.next_visit()
    assert visit.lane is busy
    recorded.lanes.back_off("a.test", 30.0)
    assert recorded.released == [idle]
    assert recorded.outcomes == [("release", "stopped")] * 3
    assert recorded.lanes.next_visit().lane is other
    visit.end_fetch()  # a page under way is still fetched
    assert recorded.released == [idle, busy]
    assert all(lane.backoff_s > 29 for lane in (busy, idle))


async def test_a_crawl_delay_releases_the_visits_not_started_but_those_of_the_turn_that_is_kept(recorded):
    kept, busy, idle = recorded.lane(2), recorded.lane(2), recorded.lane(2)
    kept.slow_down(30.0)
    kept.heed_politeness(kept.changes, 30.0, 0.0)
    visits = [recorded.lanes.next_visit() for _ in range(2)]
    assert [visit.lane for visit in visits] == [kept, busy]
    recorded.lanes.slow_down("a.test", 30.0)
    assert recorded.released == [idle]
    assert recorded.outcomes == [("release", "stopped")] * 3
    assert (len(kept.not_started), len(busy.not_started)) == (1, 0)
    visits[1].end_fetch()
    assert recorded.released == [idle, busy]
    assert [lane.must_ask for lane in (kept, busy)] == [False, True]


async def test_a_changed_site_releases_the_visits_not_started_and_has_the_others_ask(recorded):
    busy, idle = recorded.lane(2), recorded.lane(2, "b.test")
    visit = recorded.lanes.next_visit()
    recorded.lanes.change_politeness("b.test")  # an operator's order, for one host
    assert (recorded.released, busy.must_ask) == ([idle], False)
    recorded.lanes.change_politeness()
    assert recorded.released == [idle]
    assert recorded.outcomes == [("release", "stopped")] * 3
    assert busy.must_ask
    visit.end_fetch()
    assert recorded.released == [idle, busy]

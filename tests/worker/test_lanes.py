"""Lanes give out a host's seeds one by one, and none to a host that is failing or has asked for a pause."""

from __future__ import annotations

import pytest
from samples import a_visit

from crawler.events import Events
from crawler.worker.lanes import Lane, LaneEmpty, Lanes
from crawler.worker.visits import VisitEnded


class Held:
    """Lanes with visits in them, and what became of both."""

    def __init__(self):
        self.released = []
        self.ended = []
        self.events = Events()
        self.events.subscribe(LaneEmpty, lambda event: self.released.append(event.lane))
        self.events.subscribe(
            VisitEnded, lambda event: self.ended.append((event.settlement.operation, event.settlement.reason))
        )
        self.lanes = Lanes(self.events)

    def lane(self, visits, host="a.test", delay_s=0.0):
        lane = Lane(host, 1001, 0, delay_s)
        for number in range(visits):
            lane.waiting.append(a_visit(f"http://{host}/{number}", number=number, lane=lane, events=self.events))
        self.lanes.hold([lane])
        self.lanes.start(lane)
        return lane

    def fetch(self, lane, *, well):
        """Fetches the lane's next page."""
        visit = self.lanes.next_visit()
        assert visit.lane is lane
        lane.record(success=well)
        visit.end_fetch()
        return visit


@pytest.fixture
async def held():
    return Held()


async def test_a_lane_goes_on_while_its_host_is_well(held):
    lane = held.lane(3)
    for _ in range(3):
        held.fetch(lane, well=True)
    assert held.released == [lane]
    back = lane.release()
    assert (back.error_level_change, back.error_level_min, back.backoff_ms) == (-3, 0, 0)
    assert held.ended == []


async def test_a_failure_sends_the_other_seeds_back_untried(held):
    lane = held.lane(3)
    held.fetch(lane, well=True)
    held.fetch(lane, well=False)
    assert held.released == [lane]
    assert held.ended == [("release", "stopped")]
    back = lane.release()
    assert (back.error_level_change, back.error_level_min) == (0, 1)
    assert 900 < back.backoff_ms <= 1_000


async def test_visits_on_slow_hosts_are_told_apart(held):
    quick, paced, slow = held.lane(2), held.lane(3, "b.test", delay_s=60.0), held.lane(4, "c.test")
    assert held.lanes.slow_visits() == 0
    await paced.start()
    paced.finish()
    assert held.lanes.slow_visits() == 3
    for lane in (quick, paced, slow):
        assert held.lanes.next_visit().lane is lane
    await slow.start()
    slow._last_start -= 5  # no answer yet
    assert held.lanes.slow_visits() == 3 + 4
    slow.finish()
    assert held.lanes.slow_visits() == 3


async def test_a_host_that_another_worker_found_failing_is_left_alone_here_too(held):
    busy, idle, other = held.lane(2), held.lane(2), held.lane(2, "b.test")
    visit = held.lanes.next_visit()
    assert visit.lane is busy
    held.lanes.back_off("a.test", 30.0)
    assert held.released == [idle]
    assert held.ended == [("release", "stopped")] * 3
    assert held.lanes.next_visit().lane is other
    visit.end_fetch()  # what was sent is brought to its end
    assert held.released == [idle, busy]
    assert all(lane.backoff_s > 29 for lane in (busy, idle))

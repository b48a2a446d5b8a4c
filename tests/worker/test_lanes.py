"""Lanes give out a host's seeds one by one, and none to a host that fails or wants to be left alone."""

from __future__ import annotations

import asyncio

import pytest

from crawler.errors import LeftAloneError
from crawler.models import Claimed, Seed
from crawler.worker.lanes import Lanes
from crawler.worker.visits import Lane, Visit


class Held:
    """Lanes with visits in them, and what became of both."""

    def __init__(self):
        self.released = []
        self.ended = []
        self.lanes = Lanes(self.released.append, lambda: None)

    def lane(self, visits, host="a.test", delay_s=0.0):
        lane = Lane(host, 1001, 0, delay_s)
        for number in range(visits):
            claimed = Claimed(Seed(f"http://{host}/{number}", "p", "s"), b"%d" % number, 0, "A#1", 1001, 0, 0, delay_s)
            lane.waiting.append(
                Visit(claimed, lane, lambda visit: self.lanes.fetched(visit.lane), lambda _visit, end: self.end(end))
            )
        self.lanes.hold([lane])
        self.lanes.start(lane)
        return lane

    def end(self, settlement):
        self.ended.append((settlement.operation, settlement.reason))

    def fetch(self, lane, *, well):
        """Fetches the lane's next page."""
        visit = self.lanes.next_visit()
        assert visit.lane is lane
        lane.fared(well=well)
        visit.fetch_ends()
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
    assert (back.error_level_change, back.error_level_min, back.leave_alone_ms) == (-3, 0, 0)
    assert held.ended == []


async def test_a_failure_sends_the_other_seeds_back_untried(held):
    lane = held.lane(3)
    held.fetch(lane, well=True)
    held.fetch(lane, well=False)
    assert held.released == [lane]
    assert held.ended == [("release", "stopped")]
    back = lane.release()
    assert (back.error_level_change, back.error_level_min) == (0, 1)
    assert 900 < back.leave_alone_ms <= 1_000


async def test_a_host_that_recovered_while_a_page_was_under_way_is_well():
    lane = Lane("a.test", 1001, 0, 0.0)
    lane.fared(well=False)
    assert lane.ails
    lane.fared(well=True)
    assert not lane.ails


@pytest.mark.parametrize(
    ("failures", "delay_s", "pause_s"), [(1, 0, 1), (2, 0, 2), (5, 0, 16), (1, 20, 20), (3, 20, 80), (12, 0, 300)]
)
async def test_a_page_s_further_requests_wait_ever_longer_for_a_failing_host(failures, delay_s, pause_s):
    lane = Lane("a.test", 1001, 0, delay_s)
    for _ in range(failures):
        lane.fared(well=False)
    assert pause_s - 0.1 < lane.leave_s <= pause_s


async def test_they_don_t_wait_for_long(held):
    lane = Lane("a.test", 1001, 0, 0.0)
    lane.leave_s = 11
    with pytest.raises(LeftAloneError) as caught:
        await lane.start()
    assert 10 < caught.value.wait_s <= 11
    assert not lane._sending.locked()


async def test_who_queues_when_the_host_asks_to_be_left_alone_is_told(held):
    lane = Lane("a.test", 1001, 0, 0.0)
    await lane.start()
    queued = asyncio.create_task(lane.start())
    await asyncio.sleep(0)
    lane.leave_s = 3_600
    lane.done()
    with pytest.raises(LeftAloneError):
        await queued


async def test_visits_on_slow_hosts_are_told_apart(held):
    quick, paced, slow = held.lane(2), held.lane(3, "b.test", delay_s=60.0), held.lane(4, "c.test")
    assert held.lanes.stuck() == 0
    await paced.start()
    paced.done()
    assert held.lanes.stuck() == 3
    for lane in (quick, paced, slow):
        assert held.lanes.next_visit().lane is lane
    await slow.start()
    slow._last_start -= 5  # no answer yet
    assert held.lanes.stuck() == 3 + 4
    slow.done()
    assert held.lanes.stuck() == 3


async def test_a_host_that_another_worker_found_failing_is_left_alone_here_too(held):
    busy, idle, other = held.lane(2), held.lane(2), held.lane(2, "b.test")
    visit = held.lanes.next_visit()
    assert visit.lane is busy
    held.lanes.leave("a.test", 30.0)
    assert held.released == [idle]
    assert held.ended == [("release", "stopped")] * 3
    assert held.lanes.next_visit().lane is other
    visit.fetch_ends()  # what was sent is brought to its end
    assert held.released == [idle, busy]
    assert all(lane.leave_s > 29 for lane in (busy, idle))

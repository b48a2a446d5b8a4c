"""Lanes pace requests; visits end once, when all of their parts have, and let their lane go as soon as they can."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from crawler.errors import PageTimeoutError, SessionLostError
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.models import Claimed, Seed
from crawler.worker.visits import Lane, Visit

DELAY_S = 0.05


class Ends:
    """Makes a visit on a lane, and remembers what it says."""

    def __init__(self, delay_s=0.0):
        self.lane = Lane("a.test", 1001, 0, delay_s)
        self.fetched = 0
        self.settlements = []
        claimed = Claimed(Seed("http://a.test/", "p", "s"), b"f", 0, "A#1", 1001, 7, 0, delay_s)
        self.visit = Visit(claimed, self.lane, self._fetched, lambda _visit, end: self.settlements.append(end))

    def _fetched(self, visit):
        self.fetched += 1

    def callback_ends(self):
        self.visit.fetch_ends()
        self.visit.part_ends()


@pytest.fixture
async def ends():
    return Ends()


# -- Visits -----------------------------------------------------------------------------------------------------------


async def test_a_page_without_items_finishes_when_its_callback_ends(ends):
    ends.callback_ends()
    assert ends.settlements == [Settlement("finish", ends.visit.claimed)]
    assert ends.fetched == 1


async def test_it_ends_after_its_last_item_however_late(ends):
    ends.visit.part_begins(fetches=False)
    ends.visit.part_begins(fetches=False)
    ends.callback_ends()
    assert ends.fetched == 1  # the lane goes on, the sinks are nobody's turn
    ends.visit.part_ends()
    assert ends.settlements == []
    ends.visit.part_ends()
    assert [end.operation for end in ends.settlements] == ["finish"]


async def test_items_that_are_there_first_don_t_end_it_early(ends):
    ends.visit.part_begins(fetches=False)
    ends.visit.part_ends()
    assert ends.settlements == []
    ends.callback_ends()
    assert len(ends.settlements) == 1


async def test_the_lane_waits_for_the_media_of_its_host(ends):
    ends.visit.part_begins(fetches=True)
    ends.callback_ends()
    assert ends.fetched == 0
    ends.visit.fetch_ends()
    assert (ends.fetched, ends.settlements) == (1, [])
    ends.visit.part_ends()
    assert len(ends.settlements) == 1


async def test_the_lane_goes_on_once_even_if_told_twice(ends):
    ends.visit.fetch_ends()  # the producer, before its offers
    ends.callback_ends()
    assert ends.fetched == 1


async def test_an_item_that_never_came_to_its_media_lets_the_lane_go_at_the_end(ends):
    ends.visit.part_begins(fetches=True)
    ends.callback_ends()
    ends.visit.part_ends()  # dropped
    assert ends.fetched == 1
    assert len(ends.settlements) == 1


async def test_the_first_word_decides(ends):
    ends.visit.decide("retry", "timeout", 500)
    ends.visit.decide("fail", "no-content")
    assert ends.visit.failed
    ends.callback_ends()
    assert ends.settlements == [Settlement("retry", ends.visit.claimed, 500, "timeout")]


async def test_a_note_goes_with_the_finish(ends):
    ends.visit.note = "redirected"
    ends.callback_ends()
    assert ends.settlements == [Settlement("finish", ends.visit.claimed, reason="redirected")]


async def test_handing_back_ends_it_for_good(ends):
    running = asyncio.create_task(ends.visit.run(asyncio.sleep(60)))
    await asyncio.sleep(0)
    ends.visit.hand_back()
    ends.visit.hand_back()
    ends.callback_ends()
    assert [(end.operation, end.reason) for end in ends.settlements] == [("release", "stopped")]
    with pytest.raises(SessionLostError):
        await running
    assert ends.visit.ended


async def test_an_abandoned_visit_says_nothing(ends):
    ends.visit.abandon()
    ends.visit.hand_back()
    ends.callback_ends()
    assert (ends.settlements, ends.fetched, ends.visit.ended) == ([], 0, True)


async def test_what_it_fetches_is_cut_off_when_its_time_is_up(ends):
    ends.visit.deadline.start(0.02)
    async with asyncio.timeout(1):
        with pytest.raises(PageTimeoutError):
            await ends.visit.run(asyncio.sleep(60))
        with pytest.raises(PageTimeoutError):  # nor does it begin anything more
            await ends.visit.run(asyncio.sleep(60))
    ends.callback_ends()
    assert [end.operation for end in ends.settlements] == ["finish"]  # who was cut off decides otherwise


async def test_a_cancelled_part_is_not_the_visits_doing(ends):
    running = asyncio.create_task(ends.visit.run(asyncio.sleep(60)))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert await ends.visit.run(asyncio.sleep(0, "others go on")) == "others go on"


# -- Lanes ------------------------------------------------------------------------------------------------------------


async def test_a_lane_sends_one_request_at_a_time_a_delay_apart():
    lane, loop, starts, at_once = Lane("a.test", 1001, 0, DELAY_S), asyncio.get_running_loop(), [], []

    async def request():
        await lane.start()
        starts.append(loop.time())
        at_once.append(1)
        await asyncio.sleep(0)
        assert len(at_once) == 1
        at_once.clear()
        lane.done()

    await asyncio.gather(*(request() for _ in range(4)))
    assert all(later - earlier >= DELAY_S for earlier, later in itertools.pairwise(starts))


async def test_waiting_on_a_lane_may_be_given_up():
    lane = Lane("a.test", 1001, 0, 60.0)
    await lane.start()
    queued = asyncio.create_task(lane.start())
    await asyncio.sleep(0)
    queued.cancel()
    await asyncio.wait([queued])
    lane.done()
    paused = asyncio.create_task(lane.start())
    await asyncio.sleep(0)
    paused.cancel()
    await asyncio.wait([paused])
    lane.delay_s = 0.0
    async with asyncio.timeout(1):
        await lane.start()  # nobody kept it


async def test_a_host_that_wants_to_be_left_alone_is_left_alone_on_the_turn_at_hand():
    lane = Lane("a.test", 1001, 0, 0.0)
    assert (lane.leave_s, lane.pause_s()) == (0.0, 0.0)
    lane.leave_s = 30.0
    lane.leave_s = 0.0  # the next answer doesn't say
    lane.leave_s = 5.0
    assert 29 < lane.pause_s() <= 30
    assert 29_000 < lane.release().leave_alone_ms <= 30_000


async def test_a_turn_goes_back_with_the_age_of_its_last_start():
    lane = Lane("a.test", 1001, 0, 0.0)
    assert not lane.released
    assert lane.release() == TurnRelease("a.test", 1001, -1, 0)
    assert lane.released
    await lane.start()
    assert 0 <= lane.release().since_start_ms < 1_000

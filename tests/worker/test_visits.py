"""A visit ends once, when all of its parts have ended, and lets its lane go on as soon as it can."""

from __future__ import annotations

import asyncio

import pytest
from samples import a_visit

from crawler.errors import PageTimeoutError, SessionLostError
from crawler.events import Events
from crawler.frontier.settlement import Settlement
from crawler.worker.visits import PageFetched, VisitEnded


class Followed:
    """A visit on a lane, and what it has published."""

    def __init__(self, delay_s=0.0):
        self.fetched = 0
        self.settlements = []
        events = Events()
        events.subscribe(PageFetched, self._fetched)
        events.subscribe(VisitEnded, lambda event: self.settlements.append(event.settlement))
        self.visit = a_visit(due_ms=7, delay_s=delay_s, events=events)

    def _fetched(self, event):
        assert event.visit is self.visit
        self.fetched += 1

    def callback_ends(self):
        self.visit.end_fetch()
        self.visit.end_part()


@pytest.fixture
async def followed():
    return Followed()


async def test_a_page_without_items_finishes_when_its_callback_ends(followed):
    followed.callback_ends()
    assert followed.settlements == [Settlement("finish", followed.visit.claimed)]
    assert followed.fetched == 1


async def test_it_ends_after_its_last_item_however_late(followed):
    followed.visit.begin_part(fetches=False)
    followed.visit.begin_part(fetches=False)
    followed.callback_ends()
    assert followed.fetched == 1  # the lane goes on, the sinks are nobody's turn
    followed.visit.end_part()
    assert followed.settlements == []
    followed.visit.end_part()
    assert [end.operation for end in followed.settlements] == ["finish"]


async def test_items_that_are_there_first_don_t_end_it_early(followed):
    followed.visit.begin_part(fetches=False)
    followed.visit.end_part()
    assert followed.settlements == []
    followed.callback_ends()
    assert len(followed.settlements) == 1


async def test_the_lane_waits_for_the_media_of_its_host(followed):
    followed.visit.begin_part(fetches=True)
    followed.callback_ends()
    assert followed.fetched == 0
    followed.visit.end_fetch()
    assert (followed.fetched, followed.settlements) == (1, [])
    followed.visit.end_part()
    assert len(followed.settlements) == 1


async def test_the_lane_goes_on_once_even_if_told_twice(followed):
    followed.visit.end_fetch()  # the producer, before its offers
    followed.callback_ends()
    assert followed.fetched == 1


async def test_an_item_that_never_came_to_its_media_lets_the_lane_go_at_the_end(followed):
    followed.visit.begin_part(fetches=True)
    followed.callback_ends()
    followed.visit.end_part()  # dropped
    assert followed.fetched == 1
    assert len(followed.settlements) == 1


async def test_the_first_word_decides(followed):
    followed.visit.decide_outcome("retry", "timeout", 500)
    followed.visit.decide_outcome("fail", "no-content")
    assert followed.visit.failed
    followed.callback_ends()
    assert followed.settlements == [Settlement("retry", followed.visit.claimed, 500, "timeout")]


async def test_a_note_goes_with_the_finish(followed):
    followed.visit.note = "redirected"
    followed.callback_ends()
    assert followed.settlements == [Settlement("finish", followed.visit.claimed, reason="redirected")]


async def test_handing_back_ends_it_for_good(followed):
    running = asyncio.create_task(followed.visit.run(asyncio.sleep(60)))
    await asyncio.sleep(0)
    followed.visit.release()
    followed.visit.release()
    followed.callback_ends()
    assert [(end.operation, end.reason) for end in followed.settlements] == [("release", "stopped")]
    with pytest.raises(SessionLostError):
        await running
    assert followed.visit.ended


async def test_an_abandoned_visit_says_nothing(followed):
    followed.visit.abandon()
    followed.visit.release()
    followed.callback_ends()
    assert (followed.settlements, followed.fetched, followed.visit.ended) == ([], 0, True)


async def test_what_it_fetches_is_cut_off_when_its_time_is_up(followed):
    followed.visit.deadline.start(0.02)
    async with asyncio.timeout(1):
        with pytest.raises(PageTimeoutError):
            await followed.visit.run(asyncio.sleep(60))
        with pytest.raises(PageTimeoutError):  # nor does it begin anything more
            await followed.visit.run(asyncio.sleep(60))
    followed.callback_ends()
    assert [end.operation for end in followed.settlements] == ["finish"]  # who was cut off decides otherwise


async def test_a_cancelled_part_is_not_the_visits_doing(followed):
    running = asyncio.create_task(followed.visit.run(asyncio.sleep(60)))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert await followed.visit.run(asyncio.sleep(0, "others go on")) == "others go on"

"""A host that gives no answer is at fault only if somebody else has answered since."""

from __future__ import annotations

import asyncio

import pytest

from crawler.base.events import Events
from crawler.worker.life import egress
from crawler.worker.life.egress import Egress, EgressChanged, Place

WELL, SILENT = Place("http://well.test", "s"), Place("http://silent.test", "s")


class Redis:
    """Holds one value."""

    def __init__(self):
        self.value = None

    async def get(self, _key):
        return self.value

    async def set(self, _key, value, px):
        self.value = value.encode()


class Recorded:
    """A way out, what it asked, and what it published."""

    def __init__(self, doubt_s=3_600.0):
        self.redis, self.asked, self.changes, events = Redis(), [], [], Events()
        events.subscribe(EgressChanged, lambda event: self.changes.append(event.is_down))
        self.egress = Egress(self.redis, "reached", events, doubt_s=doubt_s)
        self.answering = ()

    async def ask(self, place):
        self.asked.append(place)
        await asyncio.sleep(0)
        if place in self.answering:
            self.egress.answered(place)

    async def blames(self, host="silent.test", site="s"):
        return await self.egress.blames(host, site, self.ask)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    monkeypatch.setattr(egress, "LISTEN_SECONDS", 0.05)


@pytest.fixture
async def recorded():
    return Recorded()


async def test_a_host_is_blamed_at_once_where_others_answer_meanwhile_or_nobody_doubts(recorded):
    asyncio.get_running_loop().call_later(0.01, recorded.egress.answered, WELL)
    assert await recorded.blames()
    assert await Recorded(doubt_s=0).blames()
    assert (recorded.asked, recorded.changes) == ([], [])


async def test_an_answer_from_before_says_nothing_so_who_gave_it_is_asked_again(recorded):
    recorded.egress.answered(WELL)
    recorded.egress.answered(SILENT)
    recorded.answering = (WELL,)
    assert await recorded.blames()
    assert (recorded.asked, recorded.changes) == ([WELL], [])


async def test_who_nobody_answers_has_lost_its_way_out_until_somebody_does(recorded):
    recorded.egress.answered(WELL)
    assert not await recorded.blames()
    assert (recorded.egress.is_down, recorded.changes) == (True, [True])
    assert not recorded.egress.probe_is_due
    recorded.egress.answered(SILENT)
    assert (recorded.egress.is_down, recorded.egress.down_s, recorded.changes) == (False, 0, [True, False])


async def test_one_check_serves_all_that_failed_before_it(recorded):
    recorded.egress.answered(WELL)
    assert await asyncio.gather(*(recorded.blames() for _ in range(20))) == [False] * 20
    assert (recorded.asked, recorded.changes) == ([WELL], [True])


async def test_a_worker_that_was_never_answered_asks_where_others_are(recorded):
    recorded.redis.value = b"http://well.test s"
    recorded.answering = (WELL,)
    assert await recorded.blames()
    assert recorded.asked == [WELL]


@pytest.mark.parametrize(
    "junk",
    [
        b"x s",
        b"http://well.test",
        b"http://well.test a b",
        b"http://well.test/x s",
        b"http://[ s",
        b"ftp://a.test s",
        b"\xff",
    ],
)
async def test_junk_in_place_of_where_others_are_answered_is_no_place(recorded, junk):
    recorded.redis.value = junk
    assert not await recorded.blames()
    assert recorded.asked == []


async def test_of_a_site_that_went_away_with_all_of_its_hosts_another_site_s_host_is_asked(recorded):
    recorded.egress.answered(WELL)
    for number in range(3 * egress.MAX_SITES):
        recorded.egress.answered(Place(f"http://{number}.silent.test", "many"))
    recorded.answering = (WELL,)
    assert await recorded.blames("0.silent.test", "many")
    assert (recorded.asked, recorded.changes) == ([WELL], [])


async def test_one_answer_stands_for_some_time_for_what_fails_of_the_same_site(recorded, monkeypatch):
    recorded.egress.answered(WELL)
    recorded.answering = (WELL,)
    for number in range(5):
        assert await recorded.blames(f"{number}.test", "many")
    assert recorded.asked == [WELL]
    assert await recorded.blames("silent.test", "other")
    assert recorded.asked == [WELL] * 2
    monkeypatch.setattr(egress, "_now", lambda now=egress._now: now() + egress.PROVEN_SECONDS)
    assert await recorded.blames("5.test", "many")
    assert recorded.asked == [WELL] * 3


async def test_the_only_host_that_ever_answered_is_asked_itself(recorded):
    recorded.egress.answered(SILENT)
    recorded.answering = (SILENT,)
    assert await recorded.blames()  # its other pages are answered


async def test_after_long_enough_hosts_are_blamed_unless_others_are_answered():
    recorded = Recorded(doubt_s=0.1)
    assert not await recorded.blames()
    await asyncio.sleep(0.1)
    recorded.redis.value = b"http://well.test s"
    assert not await recorded.blames()
    recorded.redis.value = None
    assert await recorded.blames()
    assert not recorded.egress.is_down  # it claims as many seeds as ever


async def test_a_worker_tells_others_that_it_is_answered(recorded):
    await recorded.egress.share()
    assert recorded.redis.value is None
    recorded.egress.answered(WELL)
    await recorded.egress.share()
    assert recorded.redis.value == b"http://well.test s"


async def test_hosts_that_all_send_nonsense_may_be_one_network_that_does(recorded):
    way_out = recorded.egress
    assert [way_out.suspects(host) for host in ("a.test", "a.test", "b.test")] == [False] * 3
    way_out.answered(WELL)
    assert [way_out.suspects(host) for host in ("a.test", "b.test", "c.test", "a.test")] == [False, False, True, True]

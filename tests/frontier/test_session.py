"""A session is a worker's lease: what a lapsed one held goes to others."""

from __future__ import annotations

import threading
import time

import pytest
from frontier.driver import PATIENCE_SECONDS, content, nav

from crawler.events import Events
from crawler.frontier import session as session_module
from crawler.frontier.session import Session, SessionLost, SessionRenewed
from crawler.servers.redis import redis_sync

# -- Reclaiming -------------------------------------------------------------------------------------------------------


async def test_what_a_lapsed_session_held_is_claimed_by_the_next(frontier):
    await frontier.offer(content(1))
    await frontier.session("C", 50)
    assert len((await frontier.claim("C")).seeds) == 1

    async def reclaimed():
        return (await frontier.claim("A")).seeds

    seeds = await frontier.until(reclaimed)
    assert seeds[0].seed == content(1)
    assert seeds[0].tries == 0  # a lapsed session costs no try
    assert (await frontier.account()).notes == {"reclaimed": 1}
    assert await frontier.problems() == []


async def test_reclaiming_is_bounded_per_call_and_complete_after_several(frontier):
    await frontier.polite(burst=500)
    await frontier.offer(*(content(number, f"h{number % 3}.test") for number in range(450)))
    await frontier.session("C")
    assert len((await frontier.claim("C", 1_000)).seeds) == 450
    await frontier.lapse("C")
    sizes = []
    while await frontier.redis.exists(frontier.key("held:C")):
        answer = await frontier.claim("A", 0)  # it only looks
        assert answer.seeds == []
        if await frontier.redis.exists(frontier.key("held:C")):
            assert answer.wait_ms == 0
        sizes.append(await frontier.redis.scard(frontier.key("held:C")))
    assert sizes == [253, 53, 0]  # 200 a call, three turns among them
    assert await frontier.redis.zcard(frontier.key("lapsed")) == 0
    assert (await frontier.totals()).ready == 450
    assert await frontier.problems() == []


async def test_dead_producers_don_t_hide_dead_consumers(frontier):
    """In a frontier without living workers nobody reclaims anything; the other frontier must not wait for that."""
    for number in range(15):
        await frontier.session(f"producer{number}")
        await frontier.offer(nav(number, f"n{number}.test"))
        await frontier.claim(f"producer{number}", frontier="nav")
    for number in range(15):
        await frontier.lapse(f"producer{number}")
    await frontier.offer(content(1))
    await frontier.session("C")
    await frontier.claim("C")
    await frontier.lapse("C")
    for _ in range(4):
        answer = await frontier.claim("A")
        if answer.seeds:
            break
    assert [claimed.seed for claimed in answer.seeds] == [content(1)]
    for _ in range(15):
        seeds = (await frontier.claim("B", frontier="nav")).seeds
        await frontier.finish("B", seeds, frontier="nav")
    assert (await frontier.totals("nav")).finished == 15
    assert await frontier.problems() == []


# -- Renewing ---------------------------------------------------------------------------------------------------------


async def test_a_late_renewal_succeeds_if_nobody_reclaimed(frontier):
    await frontier.offer(content(1))
    seeds = (await frontier.claim("A")).seeds
    await frontier.lapse("A")
    assert await frontier.session("A", what="renew")
    assert (await frontier.claim("B")).seeds == []
    assert await frontier.finish("A", seeds) == (1, 0)


async def test_a_late_renewal_fails_if_somebody_did(frontier):
    await frontier.offer(content(1))
    seeds = (await frontier.claim("A")).seeds
    await frontier.lapse("A")
    await frontier.claim("B")
    assert not await frontier.session("A", what="renew")
    assert await frontier.finish("A", seeds) == (0, 1)


async def test_a_session_with_seeds_doesn_t_end(frontier):
    await frontier.offer(content(1))
    seeds = (await frontier.claim("A")).seeds
    assert not await frontier.session("A", what="end")
    await frontier.finish("A", seeds)
    assert await frontier.session("A", what="end")
    assert (await frontier.claim("A")).state == "lapsed"


# -- The thread -------------------------------------------------------------------------------------------------------


class AtOnce:
    """An event loop that does in the caller's thread what is called from there."""

    def is_closed(self):
        return False

    def call_soon_threadsafe(self, call, *arguments):
        call(*arguments)


@pytest.fixture
def opened(frontier, redis_settings):
    """Returns a function that opens a session of `seconds`; `session.lost` is set when it was lost."""
    made = []

    def open_session(seconds, renewed=lambda event: None):
        lost, events = threading.Event(), Events()
        events.subscribe(SessionLost, lambda _event: lost.set())
        events.subscribe(SessionRenewed, renewed)
        client = redis_sync(redis_settings)
        session = Session(client, frontier.keys, partitions=1, seconds=seconds, events=events)
        made.append(session)
        session.open(AtOnce())
        session.lost = lost
        return session

    yield open_session
    for session in made:
        session.close()


def deadline_of(frontier, redis_settings, owner):
    with redis_sync(redis_settings) as client:
        return client.zscore(frontier.keys.partition(0).sessions, owner)


def wait(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


def test_the_thread_renews_and_ends_cleanly(frontier, redis_settings, opened):
    beats = []
    session = opened(0.2, renewed=beats.append)
    first = deadline_of(frontier, redis_settings, session.owner)
    wait(lambda: deadline_of(frontier, redis_settings, session.owner) > first)
    assert session.alive
    assert beats
    assert session.close()
    assert not session.alive
    assert deadline_of(frontier, redis_settings, session.owner) is None
    assert "session" not in {thread.name for thread in threading.enumerate()}


def test_a_loop_that_is_stuck_is_not_renewed(frontier, redis_settings, opened, monkeypatch):
    ahead = [0.0]
    real = session_module.boottime
    monkeypatch.setattr(session_module, "boottime", lambda: real() + ahead[0])
    beats = []
    session = opened(0.1, renewed=beats.append)
    wait(lambda: beats)
    ahead[0] = session_module.LOOP_STUCK_SECONDS + 1
    assert not session.alive
    number = len(beats) + 1  # one may be under way
    wait(lambda: deadline_of(frontier, redis_settings, session.owner) < time.time() * 1000)
    assert len(beats) <= number
    session.note_loop_alive()  # it moves again; nobody has reclaimed
    wait(lambda: session.alive)
    assert not session.lost.is_set()


def test_a_lost_session_is_told_and_starts_over_under_another_name(frontier, redis_settings, opened):
    session = opened(0.1)
    old = session.owner
    with redis_sync(redis_settings) as client:
        client.zrem(frontier.keys.partition(0).sessions, old)
    assert session.lost.wait(PATIENCE_SECONDS)
    assert not session.alive
    session.reopen()
    assert session.alive
    assert session.owner != old
    wait(lambda: deadline_of(frontier, redis_settings, session.owner))


def test_a_session_is_renewed_whatever_its_subscribers_do(frontier, redis_settings, opened, caplog):
    def broken(event):
        raise ValueError("figures")

    session = opened(0.1, renewed=broken)
    first = deadline_of(frontier, redis_settings, session.owner)
    wait(lambda: deadline_of(frontier, redis_settings, session.owner) > first)
    wait(lambda: "figures" in caplog.text)

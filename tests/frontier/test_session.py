"""A session is a worker's lease: what a lapsed one held goes to others."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from frontier.driver import LONG_MS, PATIENCE_SECONDS, content, nav
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.base import crawl_time
from crawler.base.errors import FrontierError
from crawler.base.events import Events
from crawler.base.tasks import TaskDied, cancel
from crawler.frontier import session as session_module
from crawler.frontier.keys import SCHEMA_VERSION
from crawler.frontier.owners import process_of
from crawler.frontier.session import (
    WATCH_SECONDS,
    Lease,
    Session,
    SessionExpired,
    SessionLost,
    SessionRenewed,
)
from crawler.servers.redis import redis_sync


@pytest.fixture(autouse=True)
def own_clock(monkeypatch):
    """Has this process forget Redis's time after each test; some of them set the clock that it is counted by."""
    monkeypatch.setattr(crawl_time, "_epoch_at_boot_s", None)


# -- Reclaiming -------------------------------------------------------------------------------------------------------


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


# -- A Redis that was away, or whose clock was set ---------------------------------------------------------------------


@pytest.mark.parametrize("first", ["renewal", "claim"])
async def test_after_an_outage_the_living_renew_before_anybody_takes_what_they_hold(frontier, redis_clock, first):
    await frontier.offer(content(1))
    seeds = (await frontier.claim("A")).seeds
    redis_clock(LONG_MS + 10_000)
    if first == "renewal":
        assert await frontier.session("B", what="renew")
        assert (await frontier.claim("B")).seeds == []
    else:
        assert (await frontier.claim("B")).state == "lapsed"
    assert await frontier.session("A", what="renew")
    assert await frontier.finish("A", seeds) == (1, 0)
    assert (await frontier.account()).notes == {}
    assert await frontier.problems() == []


# -- The thread -------------------------------------------------------------------------------------------------------


class AtOnce:
    """An event loop that does in the caller's thread what is called from there."""

    def is_closed(self):
        return False

    def call_soon_threadsafe(self, call, *arguments):
        call(*arguments)


@pytest.fixture
def away(monkeypatch):
    """Partitions whose leases can't be renewed: for the test to fill."""
    partitions = set()
    renew = Lease.renew

    def fails(lease, *arguments):
        if lease.partition in partitions:
            raise RedisConnectionError("away")
        return renew(lease, *arguments)

    monkeypatch.setattr(Lease, "renew", fails)
    return partitions


@pytest.fixture
def opened(frontier, redis_settings):
    """Returns a function that opens a session of `seconds`; `session.lost` is set when it was lost."""
    made = []

    def open_session(seconds, renewed=lambda event: None, partitions=1):
        lost, events = threading.Event(), Events()
        events.subscribe(SessionLost, lambda _event: lost.set())
        events.subscribe(SessionRenewed, renewed)
        client = redis_sync(redis_settings)
        session = Session(client, frontier.keys, partitions=partitions, seconds=seconds, events=events)
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
    first = deadline_of(frontier, redis_settings, session.name)
    wait(lambda: deadline_of(frontier, redis_settings, session.name) > first)
    assert session.alive
    wait(lambda: beats)  # told of once Redis has answered
    assert session.close()
    assert not session.alive
    assert deadline_of(frontier, redis_settings, session.name) is None
    assert "session" not in {thread.name for thread in threading.enumerate()}


def test_the_first_renewal_comes_soon_however_long_the_session_is(opened):
    beats = []
    opened(100 * PATIENCE_SECONDS, renewed=beats.append)
    wait(lambda: beats)


def test_each_renewal_says_what_time_it_is_for_the_crawl(opened, monkeypatch):
    heard_ms = []
    monkeypatch.setattr(crawl_time, "hear", lambda now_ms, _asked: heard_ms.append(now_ms))
    opened(0.1)
    wait(lambda: len(heard_ms) > 1)
    assert abs(heard_ms[0] / 1000 - time.time()) < PATIENCE_SECONDS


def test_a_loop_that_is_stuck_is_not_renewed(frontier, redis_settings, opened, monkeypatch):
    ahead = [0.0]
    real = session_module.boottime
    monkeypatch.setattr(session_module, "boottime", lambda: real() + ahead[0])
    beats = []
    session = opened(0.1, renewed=beats.append)
    wait(lambda: beats)
    ahead[0] = session_module.STUCK_SECONDS + 1
    assert not session.alive
    number = len(beats) + 1  # one may be under way
    wait(lambda: deadline_of(frontier, redis_settings, session.name) < time.time() * 1000)
    assert len(beats) <= number
    session.note_loop_alive()  # it moves again; nobody has reclaimed
    wait(lambda: session.alive)
    assert not session.lost.is_set()


def test_a_thread_that_is_stuck_is_told_by_the_session_and_one_without_redis_is_not(opened, away, monkeypatch):
    ahead = [0.0]
    real = session_module.boottime
    monkeypatch.setattr(session_module, "boottime", lambda: real() + ahead[0])
    inside, leave = threading.Event(), threading.Event()

    def holds_the_thread_up(_event):
        inside.set()
        leave.wait(PATIENCE_SECONDS)

    session = opened(0.1, renewed=holds_the_thread_up)
    assert session.is_looked_after
    assert inside.wait(PATIENCE_SECONDS)
    ahead[0] = session_module.STUCK_SECONDS + 1
    assert not session.is_looked_after
    away.add(0)
    leave.set()
    wait(lambda: session.is_looked_after)
    assert not session.alive


def test_a_lost_session_is_told_and_starts_over_under_another_name(frontier, redis_settings, opened):
    session = opened(0.1)
    old = session.name
    with redis_sync(redis_settings) as client:
        client.zrem(frontier.keys.partition(0).sessions, old)
    assert session.lost.wait(PATIENCE_SECONDS)
    assert not session.alive
    session.begin_anew(0)
    wait(lambda: session.alive)
    [lease] = session.leases
    assert lease.owner != old
    assert process_of(lease.owner) == process_of(old)
    assert deadline_of(frontier, redis_settings, lease.owner)


def test_a_session_is_renewed_whatever_its_subscribers_do(frontier, redis_settings, opened, caplog):
    def broken(event):
        raise ValueError("figures")

    session = opened(0.1, renewed=broken)
    first = deadline_of(frontier, redis_settings, session.name)
    wait(lambda: deadline_of(frontier, redis_settings, session.name) > first)
    wait(lambda: "figures" in caplog.text)


async def test_its_end_is_told_at_the_deadline_whatever_redis_does(opened, away):
    session = opened(0.5)
    expired = asyncio.Event()
    session._events.subscribe(SessionExpired, lambda _event: expired.set())
    watching = asyncio.create_task(session.watch())
    away.add(0)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await expired.wait()
    assert 0 <= session_module.boottime() - session.leases[0].deadline < WATCH_SECONDS
    expired.clear()
    away.clear()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not session.alive:  # nobody has reclaimed, so it is renewed  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert session.leases[0].owner == session.name
    await cancel(watching)
    assert not session.lost.is_set()


def test_a_partition_that_is_away_costs_the_others_nothing(opened, away, monkeypatch):
    session = opened(0.2, partitions=3)
    monkeypatch.setattr(Lease, "node", lambda lease, _redis: lease.partition)  # each on a Redis of its own
    away.add(1)
    wait(lambda: not session.leases[1].alive)
    deadlines = [lease.deadline for lease in session.leases]
    wait(lambda: all(session.leases[number].deadline > deadlines[number] for number in (0, 2)))
    assert [lease.reachable for lease in session.leases] == [True, False, True]
    assert not session.leases[1].alive
    away.clear()
    wait(lambda: session.leases[1].alive)


def test_of_a_redis_that_is_away_one_partition_is_tried_and_each_in_turn(opened, away):
    session = opened(0.1, partitions=3)
    away.update(range(3))
    wait(lambda: not session.alive)
    away.remove(2)
    wait(lambda: session.leases[2].alive)


def test_one_partition_is_lost_and_the_others_are_kept(frontier, redis_settings, opened):
    session = opened(0.1, partitions=2)
    with redis_sync(redis_settings) as client:
        client.zrem(frontier.keys.partition(1).sessions, session.name)
    assert session.lost.wait(PATIENCE_SECONDS)
    session.begin_anew(1)
    wait(lambda: session.leases[1].alive)
    assert session.leases[0].alive
    assert session.leases[0].owner == session.name != session.leases[1].owner


# -- A frontier that was migrated -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [str(SCHEMA_VERSION + 1), f"{SCHEMA_VERSION}-to-{SCHEMA_VERSION + 1} 2"])
async def test_no_session_is_opened_in_a_frontier_that_has_another_format_by_now(frontier, redis_settings, version):
    await frontier.redis.hset(frontier.keys.schema, "version", version)
    session = Session(redis_sync(redis_settings), frontier.keys, partitions=1, seconds=10, events=Events())
    with pytest.raises(FrontierError, match="newer than this version's"):
        await asyncio.to_thread(session.open, asyncio.get_running_loop())
    assert not session.alive


async def test_a_worker_that_was_frozen_while_the_frontier_was_migrated_gives_all_up(frontier, redis_settings):
    events, lost, dead = Events(), asyncio.Event(), asyncio.Event()
    events.subscribe(SessionLost, lambda _event: lost.set())
    events.subscribe(TaskDied, lambda _event: dead.set())
    session = Session(redis_sync(redis_settings), frontier.keys, partitions=1, seconds=1.0, events=events)
    await asyncio.to_thread(session.open, asyncio.get_running_loop())
    await frontier.redis.hset(frontier.keys.schema, "version", str(SCHEMA_VERSION + 1))
    session.leases[0].deadline = 1e-9  # long ago; Redis has not given the lease to anybody
    async with asyncio.timeout(PATIENCE_SECONDS):
        await dead.wait()
    assert lost.is_set()
    assert not session.alive
    await asyncio.to_thread(session.close)

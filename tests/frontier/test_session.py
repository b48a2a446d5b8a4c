"""A session is a worker's lease: what a lapsed one held goes to others, and what kills workers is found out."""

from __future__ import annotations

import threading
import time

import pytest
from frontier.driver import PATIENCE_SECONDS, content, ends, nav, turns

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
    """Nobody reclaims on a frontier where nobody is left; the other one mustn't wait for it."""
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


# -- Suspects ---------------------------------------------------------------------------------------------------------


async def crash_twice(frontier, ended_ms=1):
    """Makes all that is ready suspect."""
    await frontier.crash("C")
    return await frontier.crash("D", ended_ms)


async def test_the_first_crash_only_leaves_a_doubt(frontier):
    """A worker killed at random held hundreds: they must not run one by one for it."""
    await frontier.polite(burst=500)
    await frontier.offer(*(content(number) for number in range(150)))
    assert len((await frontier.crash("C")).seeds) == 100
    answer = await frontier.claim("A", 500, carrying=1)
    assert (answer.state, len(answer.seeds)) == ("ok", 150)
    assert not any(claimed.quarantined for claimed in answer.seeds)
    assert await frontier.redis.zcard(frontier.key("suspects")) == 0
    await frontier.finish("A", answer.seeds)
    assert not await frontier.redis.exists(frontier.key("crashes"))
    assert await frontier.problems() == []


async def test_the_second_crash_makes_suspects_of_the_doubted_alone(frontier):
    await frontier.offer(content(1))
    await frontier.crash("C")
    await frontier.offer(content(2))
    assert len((await frontier.crash("D")).seeds) == 2
    assert (await frontier.claim("A", carrying=1)).state == "drain"
    assert await frontier.redis.zrange(frontier.key("suspects"), 0, -1) == [content(1).fingerprint]


async def test_what_was_not_begun_remains_doubted(frontier):
    """A worker holds hundreds and fetches some tens: only those can have killed it."""
    await frontier.offer(*(content(number) for number in range(5)))
    await frontier.crash("C")
    await frontier.session("D")
    seeds = (await frontier.claim("D")).seeds
    assert all(claimed.suspected for claimed in seeds)
    await frontier.begin(seeds[2:3])
    await frontier.lapse("D")
    await frontier.claim("A", carrying=1)
    assert await frontier.redis.zrange(frontier.key("suspects"), 0, -1) == [seeds[2].fingerprint]


async def test_whose_session_lapsed_begins_nothing(frontier):
    await frontier.offer(content(1))
    await frontier.crash("C")
    await frontier.session("D")
    late = (await frontier.claim("D")).seeds
    await frontier.lapse("D")
    assert len((await frontier.claim("A")).seeds) == 1
    await frontier.begin(late)
    await frontier.lapse("A")
    assert (await frontier.claim("B")).state == "ok"


@pytest.mark.parametrize("operation", ["finish", "fail", "retry"])
async def test_a_worker_that_survives_a_seed_forgets_the_doubt(frontier, operation):
    question = nav(1, interval_s=60)
    await frontier.offer(question)
    for owner in ("C", "D"):
        await frontier.session(owner)
        await frontier.make_due(question)
        seeds = (await frontier.claim(owner, frontier="nav")).seeds
        assert [claimed.quarantined for claimed in seeds] == [False]
        await frontier.lapse(owner)
        if owner == "C":
            seeds = (await frontier.claim("A", frontier="nav")).seeds
            await frontier.settle("A", ends(seeds, operation, 0, "x"), turns(seeds), frontier="nav")
    seeds = (await frontier.claim("A", frontier="nav")).seeds
    assert [claimed.quarantined for claimed in seeds] == [False]
    assert await frontier.problems() == []


async def test_handing_a_doubted_seed_back_leaves_the_doubt(frontier):
    await frontier.offer(content(1))
    await frontier.crash("C")
    seeds = (await frontier.claim("A")).seeds
    await frontier.settle("A", ends(seeds, "release"), turns(seeds))
    await frontier.crash("D")
    assert (await frontier.claim("A")).state == "quarantined"


async def test_suspects_are_claimed_alone_by_who_carries_nothing(frontier):
    await frontier.offer(content(1), content(2))
    await crash_twice(frontier)
    await frontier.offer(content(3, "b.test"))
    assert (await frontier.claim("A", carrying=5)).state == "drain"
    other = await frontier.claim("B", carrying=5)  # A drains already: B goes on
    assert (other.state, [claimed.seed for claimed in other.seeds]) == ("ok", [content(3, "b.test")])
    for _ in range(2):
        answer = await frontier.claim("A", carrying=0)
        assert (answer.state, len(answer.seeds), answer.seeds[0].quarantined) == ("quarantined", 1, True)
        await frontier.finish("A", answer.seeds)
    assert (await frontier.claim("A")).state == "ok"
    assert (await frontier.totals()).finished == 2


async def test_three_crashes_alone_fail_the_seed_and_none_that_was_beside_it(frontier):
    poison = content(0)
    pages = [content(number) for number in range(5)]
    await frontier.offer(*pages)
    for owner in ("first", "second"):
        assert len((await frontier.crash(owner)).seeds) == 5
    finished, crashes, owner = set(), 0, "C1"
    await frontier.session(owner)
    while (answer := await frontier.claim(owner)).seeds:
        assert answer.state == "quarantined"
        if answer.seeds[0].seed == poison:
            crashes += 1
            await frontier.lapse(owner)
            owner = f"C{crashes + 1}"
            await frontier.session(owner)
        else:
            finished.add(answer.seeds[0].seed)
            await frontier.finish(owner, answer.seeds)
    account = await frontier.account()
    assert crashes == 3
    assert account.failures == {"crashed-worker": 1}
    assert finished == set(pages[1:])
    assert (account.finished, account.difference) == (4, 0)
    assert await frontier.problems() == []


async def test_handing_a_suspect_back_is_no_crash_and_no_pardon(frontier):
    await frontier.offer(content(1))
    await crash_twice(frontier)
    for _ in range(5):
        answer = await frontier.claim("A")
        assert answer.state == "quarantined"
        await frontier.settle("A", ends(answer.seeds, "release"), turns(answer.seeds))
    assert (await frontier.account()).failed == 0


async def test_a_suspect_that_its_worker_survived_is_none_any_more(frontier):
    await frontier.offer(content(1))
    await crash_twice(frontier)
    answer = await frontier.claim("A")
    await frontier.settle("A", ends(answer.seeds, "retry", 0, "timeout"), turns(answer.seeds))
    answer = await frontier.claim("A", carrying=3)
    assert (answer.state, answer.seeds[0].quarantined, answer.seeds[0].tries) == ("ok", False, 1)


async def test_a_suspect_without_a_free_turn_holds_up_nobody(frontier):
    await frontier.polite(delay_ms=10_000)
    await frontier.offer(content(1))
    await crash_twice(frontier, ended_ms=await frontier.now_ms() - 1)
    await frontier.offer(content(2, "b.test"), content(3, "b.test"))
    await frontier.offer(content(4))
    answer = await frontier.claim("A")  # a.test waits for its delay
    assert (answer.state, {claimed.seed.host for claimed in answer.seeds}) == ("ok", {"b.test"})
    assert answer.wait_ms <= 1_000


async def test_who_drains_and_dies_lets_another_one_try(frontier):
    await frontier.offer(content(1))
    await crash_twice(frontier)
    assert (await frontier.claim("A", carrying=1)).state == "drain"
    await frontier.lapse("A")
    assert (await frontier.claim("B")).state == "quarantined"


async def test_suspects_of_stopped_plans_don_t_run(frontier):
    await frontier.offer(content(1, plan="paused"), content(2, plan="cancelled"))
    await crash_twice(frontier)
    await frontier.mark("pause paused", "cancel cancelled")
    assert (await frontier.claim("A")).seeds == []
    assert (await frontier.account("paused")).ready == 1
    assert (await frontier.account("cancelled")).failures == {"cancelled": 1}
    await frontier.mark()
    await frontier.resume("paused")
    assert (await frontier.claim("A")).state == "quarantined"
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

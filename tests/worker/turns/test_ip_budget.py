"""Hosts of one address share its budget, over all workers: requests at once, and the delay between two starts."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest
from samples import a_visit
from waiting import PATIENCE_SECONDS

from crawler.base.errors import ConfigError, HostBackoffError
from crawler.worker.turns import ip_budget
from crawler.worker.turns.ip_budget import IpBudget

NAMES = {"a.test": ["192.0.2.7", "2001:db8::7"], "b.test": ["192.0.2.7"], "c.test": ["192.0.2.8"], "gone.test": []}


async def look_up(name):
    return NAMES[name]


@pytest.fixture
def budget(turns_of):
    """Returns a function that gives an owner's budget; its turns are released by `budget.turns.release`."""

    def build(owner="A", concurrency=1, delay_s=0.0):
        turns = turns_of(owner)
        made = IpBudget(turns, look_up, concurrency=concurrency, delay_s=delay_s)
        made.turns, made.refusals = turns, 0
        real = turns.try_acquire_address

        async def counted(*arguments):
            answer = await real(*arguments)
            made.refusals += answer[0] is None
            return answer

        turns.try_acquire_address = counted
        return made

    return build


@pytest.fixture
def is_kept_waiting(frontier):
    """Returns a function that lets a budget ask twice in vain, and returns whether the acquisition still waits."""

    async def look(acquiring, budget):
        most = budget.refusals + 2
        await frontier.until(lambda: asyncio.sleep(0, budget.refusals >= most))
        return not acquiring.done()

    return look


async def test_hosts_of_one_address_wait_for_each_other_over_all_workers(budget, is_kept_waiting):
    mine, yours = budget(), budget("B")
    turn = await mine.acquire("a.test", a_visit())
    assert turn.host == "@192.0.2.7"
    waiting = asyncio.create_task(yours.acquire("b.test", a_visit()))
    assert await is_kept_waiting(waiting, yours)
    assert (await yours.acquire("c.test", a_visit())).host == "@192.0.2.8"
    mine.turns.release(turn)
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await waiting).host == "@192.0.2.7"


async def test_no_more_requests_at_once_than_the_budget_allows(budget, is_kept_waiting):
    mine = budget(concurrency=3)
    for _ in range(3):
        await mine.acquire("a.test", a_visit())
    fourth = asyncio.create_task(mine.acquire("a.test", a_visit()))
    assert await is_kept_waiting(fourth, mine)
    fourth.cancel()


async def test_the_delay_lies_between_any_two_starts(frontier, budget):
    await budget(concurrency=4, delay_s=30.0).acquire("a.test", a_visit())
    answer = await frontier.queues["nav"].acquire_address("@192.0.2.7", "B", 4, 30_000)
    assert answer.state == "backoff"
    assert 25_000 < answer.wait_ms <= 30_000
    begun = time.monotonic()
    for owner in ("A", "B", "A"):
        await budget(owner, concurrency=4, delay_s=0.1).acquire("c.test", a_visit())
    assert time.monotonic() - begun > 0.199  # two delays, by a clock that counts whole milliseconds


async def test_a_dead_worker_s_turn_is_free_a_delay_after_its_deadline(frontier, budget):
    await frontier.session("C")
    await budget("C", delay_s=5.0).acquire("a.test", a_visit())
    now = await frontier.now_ms()
    await frontier.lapse("C", now - 1_000)
    await frontier.claim("A")
    state = await frontier.redis.hgetall(frontier.keys.partition(0).turn("@192.0.2.7"))
    assert b"h1" not in state
    assert int(state[b"n1"]) == now + 4_000


async def test_a_visit_not_started_doesn_t_wait_behind_many_others(budget, is_kept_waiting, monkeypatch):
    mine = budget()
    await mine.acquire("a.test", a_visit())
    queued = [asyncio.create_task(mine.acquire("a.test", a_visit())) for _ in range(ip_budget.MAX_QUEUED)]
    await asyncio.sleep(0)
    with monkeypatch.context() as patch:
        patch.setattr(asyncio.get_running_loop(), "time", lambda: 0.0)
        for place in range(1, 4):  # each comes back after those before it
            with pytest.raises(HostBackoffError) as caught:
                await mine.acquire("b.test", a_visit())
            assert caught.value.wait_s == pytest.approx(0.1 * (ip_budget.MAX_QUEUED + place))
    started = a_visit()
    started.started = True
    media = asyncio.create_task(mine.acquire("b.test", started))
    assert await is_kept_waiting(media, mine)
    for task in (media, *queued):
        task.cancel()
    await asyncio.wait([media, *queued])
    assert mine._lines == {}


async def test_a_name_without_an_address_needs_no_turn(budget):
    assert await budget().acquire("gone.test", a_visit()) is None


def test_there_is_no_budget_without_a_concurrency():
    settings = {"ADDRESS_CONCURRENCY": 0, "ADDRESS_DELAY_SECONDS": 0}
    assert IpBudget.from_settings(SimpleNamespace(), look_up, settings) is None
    assert IpBudget.from_settings(SimpleNamespace(), look_up, settings | {"ADDRESS_CONCURRENCY": "2"}) is not None
    with pytest.raises(ConfigError):
        IpBudget.from_settings(SimpleNamespace(), look_up, settings | {"ADDRESS_DELAY_SECONDS": -1})

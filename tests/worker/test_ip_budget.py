"""Hosts of one address share its budget: so many requests at once, so long between two starts, whoever asks."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest
from frontier.driver import FrontierDriver
from redis.asyncio import Redis

from crawler.errors import ConfigError, FrontierError, LeftAloneError, SessionLostError
from crawler.models import Claimed, Seed
from crawler.worker import ip_budget
from crawler.worker.ip_budget import IpBudget
from crawler.worker.visits import Lane, Visit

NAMES = {"a.test": ["192.0.2.7", "2001:db8::7"], "b.test": ["192.0.2.7"], "c.test": ["192.0.2.8"], "gone.test": []}


class Worker:
    """A worker as Addresses sees it: for whom it borrows, and where turns go back."""

    def __init__(self, driver, owner):
        self.queue = driver.queues["content"]
        self._driver = driver
        self._owner = owner

    def borrower(self):
        if self._owner is None:
            raise FrontierError("no session")
        return self._owner

    async def release_turn(self, turn):
        await self._driver.settle(self._owner, [], [turn.release()])


@pytest.fixture
async def driver(redis_url):
    async with Redis.from_url(redis_url) as redis:
        driver = FrontierDriver(redis)
        for owner in ("A", "B"):
            await driver.session(owner)
        yield driver


async def look_up(name):
    return NAMES[name]


def budget(driver, owner="A", concurrency=1, delay_s=0.0):
    worker = Worker(driver, owner)
    made = IpBudget(worker, look_up, concurrency=concurrency, delay_s=delay_s)
    made.release_turn = worker.release_turn
    return made


def visit(*, begun=False):
    claimed = Claimed(Seed("http://a.test/", "p", "s"), b"f", 0, "A#1", 1001, 0, 0, 0.0)
    made = Visit(claimed, Lane("a.test", 1001, 0, 0.0), lambda _visit: None, lambda _visit, _end: None)
    made.begun = begun
    return made


async def is_kept_waiting(taking):
    await asyncio.sleep(0.12)  # longer than two looks
    return not taking.done()


async def test_hosts_of_one_address_wait_for_each_other_over_all_workers(driver):
    mine, yours = budget(driver), budget(driver, "B")
    turn = await mine.take("a.test", visit())
    assert turn.host == "@192.0.2.7"
    waiting = asyncio.create_task(yours.take("b.test", visit()))
    assert await is_kept_waiting(waiting)
    assert (await yours.take("c.test", visit())).host == "@192.0.2.8"
    await mine.release_turn(turn)
    async with asyncio.timeout(5):
        assert (await waiting).host == "@192.0.2.7"


async def test_as_many_at_once_as_the_budget_says(driver):
    mine = budget(driver, concurrency=3)
    for _ in range(3):
        await mine.take("a.test", visit())
    fourth = asyncio.create_task(mine.take("a.test", visit()))
    assert await is_kept_waiting(fourth)
    fourth.cancel()


async def test_the_delay_lies_between_any_two_starts(driver):
    await budget(driver, concurrency=4, delay_s=30.0).take("a.test", visit())
    token, wait_ms = await driver.queues["nav"].acquire_address("@192.0.2.7", "B", 4, 30_000)
    assert token <= 0
    assert 25_000 < wait_ms <= 30_000
    begun = time.monotonic()
    for owner in ("A", "B", "A"):
        await budget(driver, owner, concurrency=4, delay_s=0.1).take("c.test", visit())
    assert time.monotonic() - begun > 0.2


async def test_a_dead_worker_s_turn_comes_back_a_delay_after_its_deadline(driver):
    await driver.session("C")
    await budget(driver, "C", delay_s=5.0).take("a.test", visit())
    now = await driver.now_ms()
    await driver.lapse("C", now - 1_000)
    await driver.claim("A")
    state = await driver.redis.hgetall(driver.keys.partition(0).turn("@192.0.2.7"))
    assert b"h1" not in state
    assert int(state[b"n1"]) == now + 4_000


async def test_a_page_not_begun_doesn_t_queue_behind_many_others(driver):
    mine = budget(driver)
    await mine.take("a.test", visit())
    queued = [asyncio.create_task(mine.take("a.test", visit())) for _ in range(ip_budget.MOST_WAITING)]
    await asyncio.sleep(0)
    for place in range(1, 4):  # each comes back after those before it
        with pytest.raises(LeftAloneError) as caught:
            await mine.take("b.test", visit())
        assert caught.value.wait_s == pytest.approx(0.1 * (ip_budget.MOST_WAITING + place), abs=0.05)
    media = asyncio.create_task(mine.take("b.test", visit(begun=True)))
    assert await is_kept_waiting(media)
    for task in (media, *queued):
        task.cancel()
    await asyncio.wait([media, *queued])
    assert mine._lines == {}


async def test_who_waits_is_told_when_it_is_over(driver):
    mine, nobody, mine_to_wait = budget(driver), budget(driver, None), visit()
    await mine.take("a.test", visit())
    waiting = asyncio.create_task(mine.take("a.test", mine_to_wait))
    assert await is_kept_waiting(waiting)
    mine_to_wait.abandon()
    with pytest.raises(SessionLostError):
        await waiting
    with pytest.raises(FrontierError):
        await nobody.take("c.test", visit())


async def test_a_name_without_an_address_needs_none(driver):
    assert await budget(driver).take("gone.test", visit()) is None


def test_it_is_off_unless_asked_for():
    settings = {"ADDRESS_CONCURRENCY": 0, "ADDRESS_DELAY_SECONDS": 0}
    assert IpBudget.from_settings(SimpleNamespace(), look_up, settings) is None
    assert IpBudget.from_settings(SimpleNamespace(), look_up, settings | {"ADDRESS_CONCURRENCY": "2"}) is not None
    with pytest.raises(ConfigError):
        IpBudget.from_settings(SimpleNamespace(), look_up, settings | {"ADDRESS_DELAY_SECONDS": -1})

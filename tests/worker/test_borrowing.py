"""Turns of hosts that no seed stands for."""

from __future__ import annotations

import asyncio

import pytest
from frontier.driver import FrontierDriver
from redis.asyncio import Redis

from crawler.errors import FrontierError, LeftAloneError, SessionLostError
from crawler.frontier.settlement import TurnRelease
from crawler.models import Claimed, Seed
from crawler.worker.borrowing import acquire_turn
from crawler.worker.visits import Lane, Visit

HOST = "img.test"


@pytest.fixture
async def driver(redis_url):
    async with Redis.from_url(redis_url) as redis:
        driver = FrontierDriver(redis)
        await driver.polite(delay_ms=30)
        await driver.session("A")
        yield driver


@pytest.fixture
async def lend(driver):
    """Returns a function that borrows for a visit."""
    claimed = Claimed(Seed("http://a.test/", "p", "s"), b"f", 0, "A#1", 1001, 0, 0, 0.0)
    visit = Visit(claimed, Lane("a.test", 1001, 0, 0.0), lambda _visit: None, lambda _visit, _end: None)

    def run(owner=lambda: "A"):
        return acquire_turn(driver.queues["content"], HOST, visit, owner)

    run.visit = visit
    return run


async def test_a_turn_is_waited_for(driver, lend):
    first = await lend()
    assert (first.host, first.delay_s) == (HOST, 0.03)
    waiting = asyncio.create_task(lend())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await driver.settle("A", [], [first.release()])
    async with asyncio.timeout(5):
        assert (await waiting).turn != first.turn


async def test_a_host_that_wants_to_be_left_alone_is_not_waited_for_for_long(driver, lend):
    lane = await lend()
    await driver.settle("A", [], [TurnRelease(HOST, lane.turn, 0, leave_alone_ms=3_600_000)])
    with pytest.raises(LeftAloneError) as caught:
        await lend()
    assert 3_590 < caught.value.wait_s <= 3_600


async def test_but_for_a_moment_it_is(driver, lend):
    lane = await lend()
    await driver.settle("A", [], [TurnRelease(HOST, lane.turn, 0, leave_alone_ms=50)])
    async with asyncio.timeout(5):
        assert (await lend()).turn


async def test_who_may_not_borrow_any_more_is_told(lend):
    def nobody():
        raise FrontierError("stopping")

    with pytest.raises(FrontierError, match="stopping"):
        await lend(nobody)
    lend.visit.abandon()
    with pytest.raises(SessionLostError):
        await lend()

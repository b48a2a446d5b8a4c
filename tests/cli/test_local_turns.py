"""Turns in memory, as the frontier gives them."""

from __future__ import annotations

import pytest

from crawler.cli.local_turns import LocalTurns
from crawler.frontier.queue import HOST_BACKOFF, NO_TURN
from crawler.frontier.settlement import TurnRelease

HOST = "a.test:80"


@pytest.fixture
def turns():
    return LocalTurns(delay_s=2.0)


async def test_a_host_has_one_turn_and_others_go_on(turns):
    token, delay_ms = await turns.acquire_turn(HOST, "board", "me")
    assert (token > NO_TURN, delay_ms) == (True, 2000)
    assert (await turns.acquire_turn(HOST, "board", "me"))[0] == NO_TURN
    assert (await turns.acquire_turn("b.test:80", "board", "me"))[0] > NO_TURN


@pytest.mark.parametrize(
    ("crawl_delay_ms", "since_start_ms", "wait_ms"),
    [(0, -1, 0), (0, 500, 1500), (5000, 500, 4500), (1000, 500, 1500)],
)
async def test_the_next_turn_waits_for_the_longer_delay_from_the_last_start(
    turns, crawl_delay_ms, since_start_ms, wait_ms
):
    token, _ = await turns.acquire_turn(HOST, "board", "me")
    assert await turns.turn_start(HOST, crawl_delay_ms, "me", token) == (0, 0, max(2000, crawl_delay_ms))
    turns.release("me", 0, TurnRelease(HOST, token, since_start_ms))
    token, number_ms = await turns.acquire_turn(HOST, "board", "me")
    assert (token > NO_TURN) == (wait_ms == 0)
    assert wait_ms == 0 or wait_ms - 50 < number_ms <= wait_ms + 1


async def test_a_host_that_asks_for_it_is_left_alone(turns):
    await turns.acquire_turn(HOST, "board", "me")
    turns.release("me", 0, TurnRelease(HOST, NO_TURN, backoff_ms=7000))
    assert (await turns.acquire_turn(HOST, "board", "me"))[0] == NO_TURN, "a report keeps the turn"
    turns.release("me", 0, TurnRelease(HOST, 1))
    token, number_ms = await turns.acquire_turn(HOST, "board", "me")
    assert token == HOST_BACKOFF
    assert 6900 < number_ms <= 7001

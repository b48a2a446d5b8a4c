"""Where addresses have a budget, a request takes its address last and gives it back first."""

from __future__ import annotations

import asyncio

import pytest

from crawler.errors import HostBackoffError
from crawler.middlewares.turns import TurnMiddleware
from crawler.worker.refused import RefusedError
from crawler.worker.request_state import state_of
from crawler.worker.turn import Turn


class Budget:
    """The budget as the middleware sees it."""

    def __init__(self):
        self.free = asyncio.Event()
        self.free.set()
        self.asked = []
        self.error = None
        self.delay_s = 0.0

    async def acquire(self, host, visit):
        self.asked.append(host)
        await self.free.wait()
        if self.error:
            raise self.error
        turn = Turn(f"@{host}", 3001, 0, self.delay_s)
        turn.mark_start()
        return turn if host != "nowhere.test" else None


@pytest.fixture
async def addresses():
    return Budget()


@pytest.fixture
def middleware(worker, addresses):
    return TurnMiddleware(worker, addresses)


async def test_a_request_holds_its_address_until_it_is_answered(middleware, addresses, held, worker):
    request = held.request("http://a.test:8080/")
    await middleware.process_request(request)
    assert addresses.asked == ["a.test"]
    assert worker.turns.released == []
    middleware.process_response(request, held.response(request))
    assert [turn.host for turn in worker.turns.released] == ["@a.test"]
    assert not held.lane._in_use.locked()
    assert state_of(request).address is None


async def test_the_host_s_delay_counts_from_when_the_request_is_sent(middleware, addresses, held):
    held.lane.delay_s = 60.0
    addresses.free.clear()
    sending = asyncio.create_task(middleware.process_request(held.request()))
    await asyncio.sleep(0.05)
    addresses.free.set()
    await sending
    assert held.lane.pause_s() > 59.99


async def test_the_address_s_delay_counts_from_when_it_may_have_got_the_request(middleware, addresses, held, worker):
    addresses.delay_s = 60.0
    request = held.request()
    await middleware.process_request(request)
    await asyncio.sleep(0.1)
    middleware.headers_received(request)
    middleware.process_response(request, held.response(request))
    assert 59_900 < worker.turns.released[0].backoff_ms <= 60_000


async def test_a_busy_address_sends_a_page_back_untried_and_its_lane_away(middleware, addresses, held):
    addresses.error = HostBackoffError("192.0.2.7", 5.0)
    with pytest.raises(RefusedError) as caught:
        await middleware.process_request(held.request())
    assert caught.value.outcome == ("release", "left-alone")
    assert 4 < held.lane.backoff_s <= 5
    assert not held.lane._in_use.locked()


async def test_a_borrowed_turn_goes_back_with_its_address(middleware, addresses, held, worker):
    request = held.request("http://b.test/i.png", lane=None)
    await middleware.process_request(request)
    middleware.process_exception(request, TimeoutError())
    assert [turn.host for turn in worker.turns.released] == ["@b.test", "b.test"]


async def test_one_that_is_cut_off_leaves_nothing_behind(middleware, addresses, held, worker):
    addresses.free.clear()
    sending = asyncio.create_task(middleware.process_request(held.request("http://b.test/", lane=None)))
    await asyncio.sleep(0.01)
    held.visit.release()
    await asyncio.wait([sending])
    assert sending.exception() is not None
    assert [turn.host for turn in worker.turns.released] == ["b.test"]


async def test_what_has_no_address_or_goes_through_a_proxy_needs_none(middleware, addresses, held, worker):
    proxied = held.request()
    proxied.meta["proxy"] = "http://192.0.2.1:3128"
    for request in (held.request("http://nowhere.test/"), proxied):
        await middleware.process_request(request)
        middleware.process_response(request, held.response(request))
    assert addresses.asked == ["nowhere.test"]
    assert worker.turns.released == []

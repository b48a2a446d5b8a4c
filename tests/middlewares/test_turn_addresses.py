"""Where addresses have a budget, a request acquires a turn of its address last and releases it first."""

from __future__ import annotations

import asyncio

import pytest

from crawler.base.errors import HostBackoffError
from crawler.middlewares.turns import TurnMiddleware
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.visits.turn import Turn


class Budget:
    """The IP budget as the middleware sees it."""

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
    return TurnMiddleware(worker, None, addresses)


async def test_a_request_holds_its_address_until_it_is_answered(middleware, addresses, recorded, worker):
    request = recorded.request("http://a.test:8080/")
    await middleware.process_request(request)
    assert addresses.asked == ["a.test"]
    assert worker.turns.released == []
    middleware.process_response(request, recorded.response(request))
    assert [turn.host for turn in worker.turns.released] == ["@a.test"]
    assert not recorded.lane._in_use.locked()
    assert state_of(request).turn_use is None


async def test_a_request_that_is_sent_again_waits_for_another_turn_of_its_address(
    middleware, addresses, recorded, worker
):
    addresses.delay_s = 60.0
    request = recorded.request()
    await middleware.process_request(request)
    lost = state_of(request).turn_use.address
    addresses.free.clear()
    again = asyncio.create_task(state_of(request).turn_use.start_again(request))
    await asyncio.sleep(0.01)
    assert not again.done()
    assert [turn.host for turn in worker.turns.released] == ["@a.test"]
    assert worker.turns.released[0].backoff_ms > 59_000  # for the request that was lost
    addresses.free.set()
    await again
    assert addresses.asked == ["a.test"] * 2
    assert state_of(request).turn_use.address not in (None, lost)


async def test_the_address_s_delay_counts_from_when_the_request_may_have_arrived(
    middleware, addresses, recorded, worker
):
    addresses.delay_s = 60.0
    request = recorded.request()
    await middleware.process_request(request)
    await asyncio.sleep(0.1)
    middleware.headers_received(request)
    middleware.process_response(request, recorded.response(request))
    assert 59_900 < worker.turns.released[0].backoff_ms <= 60_000


async def test_a_busy_address_releases_a_visit_not_started_and_backs_its_lane_off(middleware, addresses, recorded):
    addresses.error = HostBackoffError("192.0.2.7", 5.0)
    with pytest.raises(RefusedError) as caught:
        await middleware.process_request(recorded.request())
    assert caught.value.outcome == ("release", "left-alone")
    assert 4 < recorded.lane.backoff_s <= 5
    assert not recorded.lane._in_use.locked()


async def test_an_acquired_turn_is_released_with_its_address(middleware, addresses, recorded, worker):
    request = recorded.request("http://b.test/i.png", lane=None)
    await middleware.process_request(request)
    await middleware.process_exception(request, TimeoutError())
    assert [turn.host for turn in worker.turns.released] == ["@b.test", "b.test"]


async def test_a_request_that_is_cancelled_holds_no_turn(middleware, addresses, recorded, worker):
    addresses.free.clear()
    sending = asyncio.create_task(middleware.process_request(recorded.request("http://b.test/", lane=None)))
    await asyncio.sleep(0.01)
    recorded.visit.release()
    await asyncio.wait([sending])
    assert sending.exception() is not None
    assert [turn.host for turn in worker.turns.released] == ["b.test"]


async def test_proxied_requests_and_hosts_without_an_address_need_no_turn(middleware, addresses, recorded, worker):
    proxied = recorded.request()
    proxied.meta["proxy"] = "http://192.0.2.1:3128"
    for request in (recorded.request("http://nowhere.test/"), proxied):
        await middleware.process_request(request)
        middleware.process_response(request, recorded.response(request))
    assert addresses.asked == ["nowhere.test"]
    assert worker.turns.released == []

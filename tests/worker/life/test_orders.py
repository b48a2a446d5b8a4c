"""What a worker does about operators' orders for its node."""

from __future__ import annotations

import asyncio

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.base.events import Events
from crawler.base.tasks import cancel
from crawler.frontier.node_orders import NodeOrder
from crawler.worker.config import Limits
from crawler.worker.life.headroom import NodeHeadroom
from crawler.worker.life.orders import Orders, StopOrdered
from crawler.worker.life.wakeups import NodesChanged

OWN = Limits(90, 80, 5)


class Node:
    """A worker's node, and the orders for it that Redis holds: what it answers, or raises."""

    def __init__(self):
        self.order = NodeOrder()
        self.asked = asyncio.Semaphore(0)
        self.stops = []
        self.wake = asyncio.Event()
        self.headroom = NodeHeadroom(OWN, batch_max=100, claim_ahead_s=60)
        self.events = Events()
        self.events.subscribe(StopOrdered, self.stops.append)
        self.orders = Orders(self, "a", headroom=self.headroom, wake=self.wake, events=self.events)

    async def of(self, node):
        assert node == "a"
        self.asked.release()
        if isinstance(self.order, list):
            raise self.order.pop()
        return self.order

    async def wants(self, order, asks=1):
        """Changes the order, and waits until the worker heeds it."""
        self.order = order
        self.events.publish(NodesChanged())
        for _ in range(asks):
            await self.asked.acquire()
        await asyncio.sleep(0)


@pytest.fixture
async def node():
    made = Node()
    following = asyncio.create_task(made.orders.follow())
    await made.asked.acquire()
    await asyncio.sleep(0)
    yield made
    await cancel(following)


async def test_a_drained_node_claims_again_once_it_may(node):
    assert not node.orders.drained
    await node.wants(NodeOrder(drained=True))
    assert node.orders.drained
    node.wake.clear()
    await node.wants(NodeOrder())
    assert not node.orders.drained
    assert node.wake.is_set()


async def test_limits_take_the_place_of_those_that_they_name(node):
    pace = node.headroom.pace
    await node.wants(NodeOrder(cpu_limit_percent=40.0, first_batch=2))
    assert node.headroom.limits == Limits(90, 40.0, 2)
    assert node.headroom.pace is pace  # which knows what a page costs
    assert pace.limit_percent == 40.0
    await node.wants(NodeOrder(cpu_limit_percent=100.0))
    assert (node.headroom.limits, node.headroom.pace) == (Limits(90, 100.0, 5), None)
    await node.wants(NodeOrder())
    assert (node.headroom.limits, node.headroom.pace.limit_percent) == (OWN, 80)


async def test_a_worker_stops_for_an_order_that_came_while_it_ran_and_for_no_other():
    node = Node()
    node.order = NodeOrder(stopped_ms=1)  # before it started
    following = asyncio.create_task(node.orders.follow())
    await node.asked.acquire()
    await node.wants(NodeOrder(stopped_ms=1, drained=True))
    assert node.stops == []
    await node.wants(NodeOrder(stopped_ms=2))
    await node.wants(NodeOrder(stopped_ms=2))
    assert node.stops == [StopOrdered()]
    await cancel(following)


async def test_an_outage_and_a_damaged_order_leave_all_as_it_is(node, caplog):
    await node.wants(NodeOrder(drained=True))
    await node.wants([ValueError("expected a JSON object"), RedisConnectionError("away")], asks=2)
    assert node.orders.drained
    assert "damaged" in caplog.text
    await node.wants(NodeOrder())
    assert not node.orders.drained

"""Orders of operators for nodes, in Redis."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from waiting import PATIENCE_SECONDS

from crawler.frontier.keys import Keys
from crawler.frontier.node_orders import NODES_CHANGED, NodeOrder, NodeOrders

KEYS = Keys("orders")
DAMAGED = [
    b"\x80",
    b"[]",
    b'{"drained": 1}',
    b'{"stopped_ms": "now"}',
    b'{"memory_limit_percent": 0}',
    b'{"cpu_limit_percent": 101}',
    b'{"cpu_limit_percent": NaN}',
    b'{"first_batch": 1.5}',
    b'{"first_batch": true}',
    b'{"first_batch": 1001}',
]


@pytest.fixture
def orders(redis):
    return NodeOrders(redis, KEYS)


async def test_orders_add_up_until_they_are_taken_back(orders, redis):
    assert await orders.of("a") == NodeOrder()
    await orders.change("a", lambda order: replace(order, drained=True))
    both = await orders.change("a", lambda order: replace(order, cpu_limit_percent=50.0))
    assert await orders.of("a") == both == NodeOrder(drained=True, cpu_limit_percent=50.0)
    assert await orders.all() == {"a": both}
    await orders.change("a", lambda _order: NodeOrder())
    assert await redis.hgetall(KEYS.node_orders) == {}


async def test_two_operators_at_once_lose_no_order(orders, redis):
    real, faster = redis.hget, NodeOrders(redis, KEYS)

    async def hget(key, field):
        """Answers, and lets somebody else be faster once."""
        raw = await real(key, field)
        if redis.hget is hget:
            redis.hget = real
            await faster.change("a", lambda order: replace(order, first_batch=2))
        return raw

    redis.hget = hget
    changed = await orders.change("a", lambda order: replace(order, drained=True))
    assert changed == NodeOrder(drained=True, first_batch=2)


async def test_workers_of_both_frontiers_are_told(orders, redis):
    async with redis.pubsub() as heard:
        await heard.subscribe(KEYS.wake("nav"), KEYS.wake("content"))
        await orders.change("a", lambda order: replace(order, drained=True))
        messages = []
        while len(messages) < 2:
            message = await heard.get_message(ignore_subscribe_messages=True, timeout=PATIENCE_SECONDS)
            if message is not None and message["type"] == "message":
                messages.append(message["data"])
    assert messages == [NODES_CHANGED.encode()] * 2


@pytest.mark.parametrize("raw", DAMAGED)
def test_a_damaged_order_is_refused(raw):
    with pytest.raises(ValueError, match=r"^(Input should|Invalid JSON)"):
        NodeOrder.parse(raw)


def test_what_another_version_adds_is_left_out():
    assert NodeOrder.parse(orjson.dumps({"drained": True, "colour": "red"})) == NodeOrder(drained=True)


async def test_a_damaged_order_hides_no_other_and_can_be_changed(orders, redis):
    await redis.hset(KEYS.node_orders, mapping={"a": b"junk", "b": b'{"drained":true}'})
    assert await orders.all() == {"b": NodeOrder(drained=True)}
    await orders.change("a", lambda order: replace(order, drained=True))
    assert set(await orders.all()) == {"a", "b"}

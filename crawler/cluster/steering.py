"""What operators order nodes, from wherever they do: a command, or the monitor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler import config
from crawler.base.errors import HeadroomError, existing, shown
from crawler.cluster.workers import read_workers
from crawler.frontier.node_orders import NodeOrder, NodeOrders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from crawler.config.setting import Number, Whole
    from crawler.plans.operator import Operator

    Change = Callable[[NodeOrder, int], NodeOrder]  # makes a new order of an old one and the time in ms since the epoch

# The field of a node's order -> the setting whose place it takes.
LIMITS: dict[str, Number | Whole] = {
    "memory_limit_percent": config.NODE_MEMORY_LIMIT_PERCENT,
    "cpu_limit_percent": config.NODE_CPU_LIMIT_PERCENT,
    "first_batch": config.FIRST_BATCH,
}
CHANGES: Mapping[str, Change] = {
    "drain": lambda order, _now_ms: replace(order, drained=True),
    "resume": lambda order, _now_ms: replace(order, drained=False),
    "stop": lambda order, now_ms: replace(order, stopped_ms=now_ms),
    "reset": lambda order, _now_ms: NodeOrder(drained=order.drained, stopped_ms=order.stopped_ms),
}


def limits(texts: Mapping[str, str]) -> Change:
    """Returns the change that sets limits.

    Args:
        texts: A text for each of some fields of `LIMITS`.

    Raises:
        ConfigError: One can't be; its `key` is that of the setting.
    """
    values = {field: LIMITS[field].of({LIMITS[field].name: text}) for field, text in texts.items()}
    return lambda order, _now_ms: replace(order, **values)  # type: ignore[arg-type]  # each setting has its field's type


async def steer(operator: Operator, nodes: Iterable[str], change: Change) -> dict[str, NodeOrder]:
    """Changes what is wanted of nodes; returns it, by node.

    Raises:
        HeadroomError: There is no such node; then nothing was changed.
    """
    store = NodeOrders(operator.redis, operator.keys)
    known_nodes = {worker["node"] for worker in await read_workers(operator)} | (await store.all()).keys()
    for node in nodes:
        if node not in known_nodes:
            raise HeadroomError(f"no node {shown(node)}; {existing(node, known_nodes, 'there are')}")
    now_ms = await operator.registry.now_ms()
    return {node: await store.change(node, lambda order: change(order, now_ms)) for node in nodes}

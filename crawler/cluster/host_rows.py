"""The busiest hosts of the last hour, and those of which operators want something, for all who show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.cluster.activity import COARSE_PERIODS
from crawler.cluster.host_steering import orders_of
from crawler.frontier.host_orders import HostOrder
from crawler.telemetry import host_history
from crawler.telemetry.host_history import NOTHING

if TYPE_CHECKING:
    from crawler.plans.operator import Operator
    from crawler.telemetry.host_history import HostCounts


async def busy_hosts(operator: Operator, seconds: int = COARSE_PERIODS["hour"][1]) -> dict[str, HostCounts]:
    """Returns what the busiest hosts of the last hour answered, or of less of it."""
    resolution, _hour = COARSE_PERIODS["hour"]
    last_s = await operator.registry.now_ms() // 1000
    return await host_history.read(operator.redis, operator.keys, resolution, last_s=last_s, seconds=seconds)


async def host_rows(operator: Operator) -> list[dict[str, Any]]:
    """Returns a row for each host, those with orders first: `host`, `pages`, `bytes`, `errors`, `order` in words."""
    busy = await busy_hosts(operator)
    orders = await orders_of(operator).all()
    return [
        {"host": host, **busy.get(host, NOTHING)._asdict(), "order": order_words(orders.get(host, HostOrder()))}
        for host in dict.fromkeys((*orders, *busy))
    ]


def order_words(order: HostOrder) -> str:
    """Returns what is wanted of a host in words; empty where that is nothing."""
    words = ["paused"] if order.paused else []
    return ", ".join([*words, f"delay {order.delay_s:g} s"] if order.delay_s else words)

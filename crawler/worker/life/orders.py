"""Follows what operators want of this worker's node while it runs: to drain, to stop, or to keep to other limits."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.base import log_events
from crawler.servers.redis_retry import until_redis_answers
from crawler.worker.life.wakeups import NodesChanged

if TYPE_CHECKING:
    from crawler.base.events import Events
    from crawler.base.log_events import EventLogger
    from crawler.frontier.node_orders import NodeOrder, NodeOrders
    from crawler.worker.config import Limits
    from crawler.worker.life.headroom import NodeHeadroom

logger: EventLogger = logging.getLogger(__name__)


class StopOrdered(NamedTuple):
    """Event: an operator has told this node's workers to stop."""


class Orders:
    """Keeps this worker to the orders for its node. Publishes `StopOrdered`.

    Args:
        node: The node's name.
        headroom: Has the limits of the settings, and gets those that are in force.
        wake: Set when a drained node may claim again, or has got other limits.

    Attributes:
        drained: Whether the worker may claim nothing.
    """

    def __init__(
        self,
        orders: NodeOrders,
        node: str,
        *,
        headroom: NodeHeadroom,
        wake: asyncio.Event,
        events: Events,
    ) -> None:
        self._orders = orders
        self._node = node
        self._headroom = headroom
        self._own_limits = headroom.limits
        self._wake = wake
        self._events = events
        self._changed = asyncio.Event()
        # When the newest order to stop was given; None: it isn't known yet which came before.
        self._stopped_ms: int | None = None
        self.drained = False
        events.subscribe(NodesChanged, lambda _event: self._changed.set())

    async def follow(self) -> None:
        """Reads the orders at once, and again whenever they change, until cancelled; through every outage of Redis."""
        while True:
            self._changed.clear()  # before they are read: a change from now on has them read again
            try:
                order = await until_redis_answers("orders for this node", partial(self._orders.of, self._node))
            except ValueError as error:
                logger.warning(log_events.ORDERS_DAMAGED, self._node, error)
            else:
                self._heed(order)
            await self._changed.wait()

    def _heed(self, order: NodeOrder) -> None:
        if order.drained != self.drained:
            self.drained = order.drained
            logger.info(log_events.NODE_DRAINED if order.drained else log_events.NODE_RESUMED)
        limits = self._in_force(order)
        if limits != self._headroom.limits:
            self._headroom.limits = limits
            logger.info(
                log_events.NODE_LIMITS,
                limits.memory_percent,
                limits.cpu_percent,
                limits.first_batch,
            )
        self._wake.set()
        if self._stopped_ms not in (None, order.stopped_ms) and order.stopped_ms:
            logger.info(log_events.NODE_STOPPED)
            self._events.publish(StopOrdered())
        self._stopped_ms = order.stopped_ms

    def _in_force(self, order: NodeOrder) -> Limits:
        """Returns the limits of the settings, but for those that the order names."""
        named: dict[str, Any] = {
            "memory_percent": order.memory_limit_percent,
            "cpu_percent": order.cpu_limit_percent,
            "first_batch": order.first_batch,
        }
        return replace(self._own_limits, **{name: value for name, value in named.items() if value is not None})

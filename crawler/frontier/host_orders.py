"""What operators want of hosts while they are crawled: a longer delay, a pause, or that their errors are forgotten.

It binds all nodes at once, and stays in Redis until it is taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.base.errors import HeadroomError, shown
from crawler.frontier import scripts
from crawler.frontier.keys import as_count, as_text, partition_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.frontier.keys import Keys

MAX_DELAY_SECONDS = 3_600  # the longest delay of an order, as of a site's file
TOO_MANY = -1  # stands in place of a delay when as many hosts as Redis keeps have orders


@dataclass(frozen=True, slots=True)
class HostOrder:
    """What is wanted of one host.

    Attributes:
        delay_s: Seconds between two requests to it, whoever asks; 0: as its sites and its robots.txt ask. Theirs counts
            where it is longer.
        paused: No request to it begins; pages that were begun are ended.
    """

    delay_s: float = 0.0
    paused: bool = False


class HostOrders:
    """The orders of all hosts.

    Args:
        redis: With `decode_responses=False`.
        partitions: FRONTIER_PARTITIONS.
    """

    def __init__(self, redis: Any, keys: Keys, partitions: int) -> None:
        self._redis = redis
        self._keys = keys
        self._partitions = partitions

    async def all(self) -> dict[str, HostOrder]:
        """Returns the orders by host, without those that want nothing; a damaged one is left out."""
        orders: dict[str, HostOrder] = {}
        for number in range(self._partitions):
            stored: Mapping[bytes, bytes] = await self._redis.hgetall(self._keys.partition(number).host_orders)
            orders |= {as_text(host): parse(raw) for host, raw in stored.items()}
        return {host: order for host, order in sorted(orders.items()) if order != HostOrder()}

    async def change(
        self, host: str, *, delay_s: float | None = None, paused: bool | None = None, forget_errors: bool = False
    ) -> HostOrder:
        """Changes what is wanted of a host, and tells all workers; returns what is wanted now.

        Redis takes it even when it is full.

        Args:
            host: As `crawler.base.urls.host` returns it.
            delay_s: From 0 to MAX_DELAY_SECONDS; None: as it is.
            paused: None: as it is.
            forget_errors: The host may be asked at once, as one that never failed, also where it has asked for a pause.

        Raises:
            HeadroomError: Too many hosts have orders.
            redis.exceptions.RedisError: Redis is away; whether the order was changed is then unknown.
        """
        keys = self._keys.partition(partition_of(host, self._partitions)).script_keys("content")
        channels = [self._keys.wake("content"), self._keys.wake("nav")]
        delay = "" if delay_s is None else round(delay_s * 1000)
        words = [delay, "" if paused is None else int(paused), int(forget_errors)]
        delay_ms, is_paused = await scripts.run(self._redis, "order_host", keys, [*channels, host, *words])
        if delay_ms == TOO_MANY:
            raise HeadroomError(f"too many hosts have orders to add {shown(host)}: scrapy hosts list shows them")
        return HostOrder(delay_ms / 1000, bool(is_paused))


def parse(raw: bytes) -> HostOrder:
    """Reads an order as Redis holds it; nothing is wanted by a damaged one."""
    delay, _, paused = raw.partition(b" ")
    delay_ms = as_count(delay)
    if delay_ms is None or delay_ms < 0 or paused not in (b"0", b"1"):
        return HostOrder()
    return HostOrder(min(delay_ms / 1000, MAX_DELAY_SECONDS), paused == b"1")

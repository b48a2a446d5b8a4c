"""What operators order for hosts, from wherever they do: a command, or the monitor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base import urls
from crawler.base.errors import HeadroomError, shown
from crawler.frontier.host_orders import MAX_DELAY_SECONDS, HostOrder, HostOrders

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from crawler.plans.operator import Operator

    Change = Callable[[HostOrders, str], Awaitable[HostOrder]]

MIN_DELAY_SECONDS = 0.1  # the shortest delay that can be ordered: a shorter one is no wish to go slower
CHANGES: Mapping[str, Change] = {
    "pause": lambda orders, host: orders.change(host, paused=True),
    "resume": lambda orders, host: orders.change(host, paused=False),
    "reset": lambda orders, host: orders.change(host, delay_s=0.0),
    "forgive": lambda orders, host: orders.change(host, forget_errors=True),
}


def slow(delay: str) -> Change:
    """Returns the change that has a host asked more slowly.

    Args:
        delay: Seconds between two requests, as somebody has typed them.

    Raises:
        HeadroomError: They can't be that.
    """
    try:
        delay_s = float(delay)
    except ValueError:
        delay_s = 0.0
    if not MIN_DELAY_SECONDS <= delay_s <= MAX_DELAY_SECONDS:
        raise HeadroomError(
            f"delay: got {shown(delay)}, expected seconds from {MIN_DELAY_SECONDS:g} to {MAX_DELAY_SECONDS:,}"
        )
    return lambda orders, host: orders.change(host, delay_s=delay_s)


def host_named(text: str) -> str:
    """Returns the host that somebody names, by itself or by an address on it, as the frontier knows it.

    Raises:
        UrlError: It can't be one.
    """
    text = text.strip()
    return urls.host(urls.canonical(text if "://" in text else f"http://{text}/"))


def orders_of(operator: Operator) -> HostOrders:
    """Returns the orders of the operator's crawl."""
    return HostOrders(operator.redis, operator.keys, operator.partitions)

"""Named events within one process: a part publishes what happened, and the parts that must act on it have subscribed.

Each event is an instance of a small class, which is defined beside the code that publishes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

E = TypeVar("E")


class Events:
    """Calls the subscribers of an event's class, in the order in which they subscribed, before `publish` returns.

    An error of a subscriber reaches the publisher and keeps the event from later subscribers.
    """

    def __init__(self) -> None:
        self._subscribers: dict[type[Any], list[Callable[[Any], object]]] = {}

    def subscribe(self, kind: type[E], subscriber: Callable[[E], object]) -> None:
        """Has `subscriber` called with each event of exactly this class that is published from now on."""
        self._subscribers.setdefault(kind, []).append(subscriber)

    def publish(self, event: object) -> None:
        """Calls the event's subscribers; without any, does nothing."""
        for subscriber in self._subscribers.get(type(event), ()):
            subscriber(event)

"""Named events inside one process: who causes one publishes it, who must act on it has subscribed to its class.

An event is an instance of a small class that stands beside the code which publishes it. `docs/architecture.md` lists
them all, with publishers and subscribers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

E = TypeVar("E")


class Events:
    """Calls the subscribers of an event's class, in the order in which they subscribed, before `publish` returns.

    A subscriber that raises stops the others, and the publisher: subscribers handle their own errors.
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

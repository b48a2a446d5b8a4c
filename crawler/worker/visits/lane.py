"""A lane: a turn of a host with the visits that run on it, one after the other."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from crawler.worker.visits.turn import Turn

if TYPE_CHECKING:
    from crawler.worker.visits.visit import Visit


class Lane(Turn):
    """A turn with the visits that run on it.

    Attributes:
        waiting: Visits not started, in the order they were claimed.
        current: The visit whose page is being fetched; None: there is none.
    """

    __slots__ = ("current", "waiting")

    def __init__(self, host: str, token: int, partition: int, delay_s: float) -> None:
        super().__init__(host, token, partition, delay_s)
        self.waiting: deque[Visit] = deque()
        self.current: Visit | None = None

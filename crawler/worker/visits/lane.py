"""A lane: a turn of a host with the visits that run on it, one after the other."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from crawler.worker.visits.turn import Turn
from crawler.worker.visits.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.events import Events
    from crawler.base.models import Claimed


@dataclass(slots=True, eq=False, repr=False)
class Lane(Turn):
    """A turn with the visits that run on it.

    Attributes:
        not_started: Visits, in the order they were claimed.
        current: The visit whose page is being fetched; None: there is none.
    """

    not_started: deque[Visit] = field(default_factory=deque, init=False)
    current: Visit | None = field(default=None, init=False)

    @classmethod
    def of(cls, seeds: Sequence[Claimed], events: Events) -> Self:
        """Returns the lane of the seeds that were claimed on one turn, with a visit for each."""
        first = seeds[0]
        lane = cls(first.seed.host, first.turn, first.partition, first.delay_s)
        lane.not_started.extend(Visit(seed, lane, events) for seed in seeds)
        return lane

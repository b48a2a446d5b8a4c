"""Which failed seeds may be tried again: those whose plan goes on. `scrapy seeds retry`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawler.frontier.seed_admin import UnfinishedSeed
    from crawler.plans.plan_record import PlanRecord


class Retrying:
    """Chooses among failed seeds, and counts by plan those that it can't help.

    Args:
        plans: All plans that were submitted; seeds of other names belong to no plan that could be cancelled.
        is_wanted: Whether a seed is among those that a person asked for.

    Attributes:
        cancelled: Plan -> how many wanted seeds it has that stay failed, since it is cancelled.
    """

    def __init__(self, plans: Mapping[str, PlanRecord], is_wanted: Callable[[UnfinishedSeed], bool]) -> None:
        self._states = {name: record.state for name, record in plans.items()}
        self._is_wanted = is_wanted
        self._paused: Counter[str] = Counter()
        self.cancelled: Counter[str] = Counter()

    def may_retry(self, failed: UnfinishedSeed) -> bool:
        """Returns whether a failed seed is to be made ready again."""
        if not self._is_wanted(failed):
            return False
        states = {self._states.get(plan) for plan in failed.plans}  # one that isn't cancelled is enough
        if states == {"cancelled"}:
            self.cancelled[failed.seed.plan] += 1
        elif states <= {"cancelled", "paused"}:
            self._paused.update(plan for plan in failed.plans if self._states[plan] == "paused")
        return states != {"cancelled"}

    def left(self) -> str:
        """Returns which wanted seeds stay failed, and why; empty where none does."""
        counted = ", ".join(f"{plan} ({number:,})" for plan, number in sorted(self.cancelled.items()))
        return f"plans that are cancelled keep their seeds: {counted}" if counted else ""

    def waiting(self) -> str:
        """Returns which plans are paused, so that their seeds are ready but not crawled; empty where none is."""
        paused = ", ".join(sorted(self._paused))
        return f"; crawled once scrapy plan resume lets them go on: {paused}" if paused else ""

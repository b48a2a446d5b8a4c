"""A submitted plan as Redis keeps it. It is checked as if it came from a file: Redis isn't trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from crawler.base.errors import FrontierError

# Keys of plans that have one of them say where their pages lead; a definition has none at its default.
_JUDGING = frozenset({"start", "start_file", "sitemaps", "feeds", "follow", "scope", "budget", "order"})
PlanState = Literal["active", "paused", "cancelled"]


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """A submitted plan as Redis keeps it.

    Attributes:
        edition: When it was submitted, in ms since the epoch; part of its nav seeds' identity.
        nav_seeds: The number of its searches, of which the first pages are offered.
        offering_until_ms: Until when its submission counts as alive; 0: all its nav seeds are offered.
        replacing: The seeds of the edition before are yet to be dropped.
        version: Rises with each command that decides on the state; the time of that, in ms since the epoch, or more.
    """

    name: str
    definition: dict[str, Any]
    sites: list[str]
    edition: int
    nav_seeds: int
    state: PlanState = "active"
    offering_until_ms: int = 0
    replacing: bool = False
    version: int = 0

    @property
    def judges_links(self) -> bool:
        """Whether it says itself where its pages lead, as `PlanFile.judges_links` does of a file."""
        return not _JUDGING.isdisjoint(self.definition)

    def decided(self, state: PlanState, now_ms: int) -> PlanRecord:
        """Returns the record after a command that decides on the state, be it the same as before."""
        return replace(self, state=state, version=max(now_ms, self.version + 1))

    @classmethod
    def load(cls, name: str, raw: bytes, key: str) -> PlanRecord:
        """Reads what Redis holds of a plan.

        Args:
            key: Where it holds that.

        Raises:
            FrontierError: It isn't a plan.
        """
        try:
            return _type.validate_json(raw, strict=True)
        except ValidationError:
            how = f"HDEL {key} removes it"
            raise FrontierError(f"plan {name!r} in Redis is damaged, {how}: {raw[:80]!r}") from None


_type = TypeAdapter(PlanRecord)

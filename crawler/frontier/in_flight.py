"""What one owner holds in one partition of a frontier, as far as Redis's answers have told it."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.base.models import Claimed
    from crawler.frontier.settlement import Settlement, TurnRelease

SERIALS = itertools.count(1)  # for this process's calls that take something; unique together with the owner id


@dataclass(slots=True)
class InFlight:
    """Keeps what answers gave until it is settled or released, and remembers the calls whose answers never came.

    Attributes:
        seeds: The fingerprint of each seed held -> the id of its claim. The owner may get a seed again before it hears
            that its claim before was ended.
        turns: `TOKEN HOST` of each turn held. The token alone would not do: all hosts of one claim may share it.
        unanswered: Calls that failed and may have taken something in Redis all the same, as claim id ('' for a turn
            that was acquired without a seed) and serial number.
    """

    seeds: dict[bytes, str] = field(default_factory=dict)
    turns: set[str] = field(default_factory=set)
    unanswered: list[tuple[str, int]] = field(default_factory=list)
    _under_way: set[int] = field(default_factory=set)

    @contextlib.contextmanager
    def call(self, claim: str = "") -> Iterator[int]:
        """Yields a serial number for one call to Redis, and notes the call as unanswered if it raises.

        Any exception counts, a cancellation too: Redis may have run the call before it.

        Args:
            claim: The call's claim id; '' for a turn without a seed.
        """
        serial = next(SERIALS)
        self._under_way.add(serial)
        try:
            yield serial
        except BaseException:
            self.unanswered.append((claim, serial))
            raise
        finally:
            self._under_way.discard(serial)

    def hold(self, claimed: Iterable[Claimed]) -> None:
        """Notes the seeds that a claim gave, and their turns."""
        for seed in claimed:
            self.seeds[seed.fingerprint] = seed.claim
            if seed.turn:
                self.turns.add(f"{seed.turn} {seed.seed.host}")

    def end(self, settlements: Iterable[Settlement], turns: Iterable[TurnRelease]) -> None:
        """Forgets what was settled and released. A seed that was claimed again meanwhile is still held."""
        for ended in (end.claimed for end in settlements):
            if self.seeds.get(ended.fingerprint) == ended.claim:
                del self.seeds[ended.fingerprint]
        self.turns.difference_update(f"{turn.turn} {turn.host}" for turn in turns)

    def first_under_way(self) -> int:
        """Returns a serial number such that every call before it has been answered or has failed."""
        return min(self._under_way, default=next(SERIALS))

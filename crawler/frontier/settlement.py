"""How a worker ends what it was given: a `Settlement` ends the claim of a seed, a `TurnRelease` the hold of a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from crawler.models import Claimed

Operation = Literal["finish", "retry", "fail", "release"]


@dataclass(frozen=True, slots=True)
class Settlement:
    """How the claim of one seed ends.

    Attributes:
        operation: `finish` (done and delivered), `retry` (tried in vain, due again later), `fail` (given up) or
            `release` (not tried; ready again as if it had not been claimed).
        amount_ms: For `retry`, the delay until the next try. (For the others settle.lua gets the seed's due time.)
        reason: A short hyphenated word that the ledger counts; for `finish` an optional note such as `redirected`.
    """

    operation: Operation
    claimed: Claimed
    amount_ms: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TurnRelease:
    """A turn that a worker releases, and what its requests say of the host.

    Attributes:
        host: The host, or `@ADDRESS`.
        turn: The turn's token, as `Claimed.turn` or `Queue.acquire_turn` gave it. A token that was released before, or
            reclaimed, changes nothing. NO_TURN: nothing is released yet, this only reports on the host.
        since_start_ms: Time since the turn's last request was started; -1 when none was.
        backoff_ms: How long the host is to be asked nothing from now, as by its Retry-After; 0 when there is no reason.
        error_level_change: What the turn's requests add to the host's level of errors: the number of those that failed
            by the host's fault, less the number of all others.
        error_level_min: The level that those requests lead to from 0. The host's level doesn't fall below it: after a
            success and a failure, for instance, the change is 0, but the level is at least 1.
    """

    host: str
    turn: int
    since_start_ms: int = -1
    backoff_ms: int = 0
    error_level_change: int = 0
    error_level_min: int = 0

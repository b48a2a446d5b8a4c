"""What the frontier is told and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from crawler.models import Claimed

Operation = Literal["finish", "retry", "fail", "back"]


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """What a claim came back with.

    Attributes:
        state: `ok`; `locked` (another claimant is at it); `lapsed` (open a session first); `drain` (finish what you
            carry, a suspect waits for you); `alone` (the one seed is a suspect, run nothing beside it); `full` (Redis
            is at its maxmemory and refuses claims).
        wait_ms: How long until a claim may succeed; None when nothing is in sight.
        seeds: What is now yours; empty unless `state` is `ok` or `alone`.
    """

    state: str
    wait_ms: int | None
    seeds: list[Claimed]


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a claim ends.

    Attributes:
        amount_ms: For `retry`, the wait until the next try.
        reason: Short hyphenated word for the ledger; for `finish` an optional note such as `redirected`.
    """

    operation: Operation
    claimed: Claimed
    amount_ms: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TurnBack:
    """A turn that a worker gives back.

    Attributes:
        turn: Its token, as `Claimed.turn` or `borrow_turn` gave it; one given back before, or reclaimed, is left alone.
            NO_TURN: none goes back yet, the rest is news of the host.
        age_ms: Time since its last request was started; -1 when none was.
        leave_ms: How long the host asked to be left alone (Retry-After); 0: it didn't.
        change: What its requests add to the host's level of errors: those that failed by the host's fault, less others.
        least: The level that they leave the host at, had it been well before.
    """

    host: str
    turn: int
    age_ms: int = -1
    leave_ms: int = 0
    change: int = 0
    least: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """Seeds of one frontier by state, over all plans.

    Attributes:
        ready: Without those that wait for their next scheduled run.
        waiting: Scheduled seeds that were visited and come due again.
        parked: Of paused plans.
    """

    offered: int = 0
    ready: int = 0
    waiting: int = 0
    parked: int = 0
    executing: int = 0
    finished: int = 0
    failed: int = 0

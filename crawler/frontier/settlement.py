"""How a worker ends what it was given: a `Settlement` ends the claim of a seed, a `TurnRelease` the hold of a turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.base.models import Claimed
    from crawler.base.reasons import Note, Reason

Operation = Literal["finish", "retry", "fail", "release", "postpone", "fetch"]


@dataclass(slots=True)
class BudgetUse:
    """What a visit uses of the budgets of its plans.

    Attributes:
        editions: Plan -> the edition whose budget was asked for the page.
        bytes: Of the page.
        items: That it became.
    """

    editions: dict[str, int] = field(default_factory=dict)
    bytes: int = 0
    items: int = 0


@dataclass(frozen=True, slots=True)
class Settlement:
    """How the claim of one seed ends.

    Attributes:
        operation: `finish` (done and delivered), `retry` (tried in vain, due again later), `fail` (given up), `release`
            (not tried; ready again as if it had not been claimed), `postpone` (not tried; due again later) or `fetch`
            (of a delivered page: ready again, to be fetched instead of told of).
        amount_ms: For `retry` and `postpone`, for how long.
        reason: What the ledger counts, or statistics alone; for `finish` an optional note such as `redirected`.
        tellable: Of a `finish`: the page became one item without gaps and led nowhere else, so a plan that asks for it
            later can be told of that item without a fetch. Or it is a search page of a scheduled run, which nobody asks
            for after the run.
        moved_to: Of a `finish`: the canonical URL of the page that is crawled in the place of this one; empty: none is.
        left_out: Of a `finish`: plans of the claim that it wasn't for. The seed becomes ready for them, by themselves.
        editions: Of a `retry` or `fail`: plan -> the edition by whose word the page was judged, where one was asked.
        use: What it uses of its plans' budgets; None: they have none.
    """

    operation: Operation
    claimed: Claimed
    amount_ms: int = 0
    reason: Reason | Note | Literal[""] = ""
    tellable: bool = False
    left_out: frozenset[str] = frozenset()
    use: BudgetUse | None = None
    moved_to: str = ""
    editions: Mapping[str, int] | None = None

    def packed(self) -> tuple[object, ...]:
        """Returns the words for settle.lua, in its order."""
        claimed = self.claimed
        amount_ms = self.amount_ms if self.operation in ("retry", "postpone") else claimed.due_ms
        words = [str(self.reason), self.moved_to] if self.moved_to else [str(self.reason)]
        if self.editions and self.operation in ("retry", "fail"):
            words += (f"{plan} {edition}" for plan, edition in self.editions.items())
        return self.operation, claimed.fingerprint, claimed.claim, amount_ms, " ".join(words), self.served, self._used

    @property
    def _used(self) -> str:
        """What the page used of each plan's budget. One that was handed back untried, or left out, used no page."""
        if self.use is None:
            return ""
        tried, items = self.operation in ("finish", "retry", "fail"), self.use.items * (self.operation == "finish")
        return "\n".join(
            f"{plan} {edition} 0 0 {self.use.bytes}"
            if plan in self.left_out
            else f"{plan} {edition} {int(tried)} {items} {self.use.bytes}"
            for plan, edition in self.use.editions.items()
        )

    @property
    def served(self) -> str:
        """Whether the page can be told of, and the plans that it was delivered for; of a `fetch` its host."""
        if self.operation == "fetch":
            return self.claimed.seed.host
        plans = (seed.plan for seed in self.claimed.seeds if seed.plan not in self.left_out)
        return " ".join(("1" if self.tellable else "0", *plans))


@dataclass(frozen=True, slots=True)
class TurnRelease:
    """A turn that a worker releases, and what its requests say of the host.

    Attributes:
        host: The host, or `@ADDRESS`.
        turn: The turn's token, as `Claimed.turn` or `Queue.acquire_turn` gave it. A token that was released before, or
            reclaimed, changes nothing. NO_TURN: nothing is released yet, this only reports on the host.
        since_start_ms: Time since the turn's last request was started; -1 when none was.
        backoff_ms: How long the host is to be asked nothing from now, as by its Retry-After; 0 when there is no reason.
        answers: How many of the turn's requests since its last report the host answered well, before those that failed.
        failures: How many failed at a seed's first try, which may be the fault of the host or of the page.
        overloads: How many the host refused because it has too much to do: with 429 or Retry-After.
    """

    host: str
    turn: int
    since_start_ms: int = -1
    backoff_ms: int = 0
    answers: int = 0
    failures: int = 0
    overloads: int = 0

    def packed(self) -> tuple[object, ...]:
        """Returns the words for settle.lua, in its order."""
        asked = (self.host, self.turn, self.since_start_ms, self.backoff_ms)
        return *asked, self.answers, self.failures, self.overloads

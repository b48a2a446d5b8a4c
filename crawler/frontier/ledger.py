"""The ledger: for each plan and site, how many seeds are in each state. A seed counts for each plan that wants it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.base import reasons
from crawler.base.models import Frontier
from crawler.frontier.keys import as_count, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys

READ_COUNT = 500  # ledgers read in one round trip
# The counts of an `Account`, in the order in which tables have them.
COUNTS = ("offered", "known", "ready", "executing", "finished", "failed")
FRONTIERS: tuple[Frontier, ...] = ("nav", "content")


@dataclass(slots=True)
class Account:
    """How many seeds of one plan, site and frontier are in each state.

    Attributes:
        ready: Also seeds of a paused plan, and those that wait for a retry or their next scheduled run.
        failures: Failed seeds by reason.
        notes: Other counts, such as `redirected`, `retried`, `reclaimed`, and `visits` of scheduled seeds.
    """

    offered: int = 0
    known: int = 0
    ready: int = 0
    executing: int = 0
    finished: int = 0
    failed: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)

    @property
    def difference(self) -> int:
        """How many seeds the account can't explain; 0 in a sound frontier."""
        return self.offered - self.known - self.ready - self.executing - self.finished - self.failed

    def add(self, other: Account) -> None:
        """Adds another account to this one."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures = dict(Counter(self.failures) + Counter(other.failures))
        self.notes = dict(Counter(self.notes) + Counter(other.notes))

    def count(self, state: str, seeds: int) -> None:
        """Adds one field of the ledger in Redis to the account."""
        if state == "parked":
            self.ready += seeds
        if state in COUNTS:
            setattr(self, state, getattr(self, state) + seeds)
        elif state.startswith("failed:"):
            reason = state.removeprefix("failed:")
            if seeds or reason in self.failures:
                self.failures[reason] = self.failures.get(reason, 0) + seeds
        elif seeds:
            self.notes[state] = self.notes.get(state, 0) + seeds

    def as_dict(self) -> dict[str, Any]:
        """Returns the account with its difference, as JSON values."""
        values: dict[str, Any] = {name: getattr(self, name) for name in COUNTS}
        return values | {"difference": self.difference, "failures": self.failures, "notes": self.notes}


@dataclass(slots=True)
class Totals:
    """How many seeds of one frontier are in each state, over all plans; `Queue.totals` reads it from `counts`.

    Attributes:
        offered: Seeds that plans asked for; one that several plans want counts for each of them, here and below.
        ready: Seeds to be claimed, now or when they are due, without those in `waiting` and `parked`.
        waiting: Scheduled seeds that were visited and come due again.
        parked: Seeds of paused plans.
        executing: Seeds that workers hold.
        finished: Seeds whose items all sinks have acknowledged.
        failed: Seeds that failed for good.
    """

    offered: int = 0
    ready: int = 0
    waiting: int = 0
    parked: int = 0
    executing: int = 0
    finished: int = 0
    failed: int = 0


Ledger = dict[tuple[str, str], dict[Frontier, Account]]  # an account by plan and site, then by frontier


async def read(redis: Redis, keys: Keys, partitions: int, plan: str | None = None) -> Ledger:
    """Returns the ledger of one plan, or of all plans; empty when nothing was ever offered."""
    ledger: Ledger = {}
    for number in range(partitions):
        part = keys.partition(number)
        entries: Any = await redis.smembers(part.ledgers)  # redis-py's types don't know that answers are bytes
        split = (as_text(entry).partition(" ") for entry in sorted(entries))
        named = [(name, site) for name, _, site in split if plan is None or name == plan]
        for first in range(0, len(named), READ_COUNT):
            some = named[first : first + READ_COUNT]
            async with redis.pipeline(transaction=False) as pipeline:
                for name, site in some:
                    pipeline.hgetall(part.ledger(name, site))
                answers: Any = await pipeline.execute()
            for plan_and_site, fields in zip(some, answers, strict=True):
                _add(ledger.setdefault(plan_and_site, {"nav": Account(), "content": Account()}), fields)
    return ledger


def _add(accounts: Mapping[Frontier, Account], fields: Mapping[bytes, bytes]) -> None:
    """Adds what one partition has counted for a plan and site to their accounts."""
    for frontier, account in accounts.items():
        prefix = f"{frontier}:".encode()
        for field_name, seeds in fields.items():
            if field_name.startswith(prefix):
                count, state = as_count(seeds), as_text(field_name.removeprefix(prefix))
                account.count(*((reasons.JUNK, 1) if count is None else (state, count)))

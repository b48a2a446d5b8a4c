"""The ledger: for each plan and site, how many seeds are in each state; and a recount, which must agree with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.frontier.finished import RECORD_BYTES
from crawler.frontier.keys import as_count, as_text
from crawler.models import Frontier
from crawler.servers.redis_cluster import primary_of

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys, PartitionKeys

SCAN_COUNT = 1_000  # entries in one step of a scan: about a millisecond of Redis's time
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
        for name in STATES:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures = dict(Counter(self.failures) + Counter(other.failures))
        self.notes = dict(Counter(self.notes) + Counter(other.notes))

    def count(self, state: str, seeds: int) -> None:
        """Adds one field of the ledger in Redis to the account."""
        if state == "parked":
            self.ready += seeds
        if state in STATES:
            setattr(self, state, getattr(self, state) + seeds)
        elif state.startswith("failed:"):
            reason = state.removeprefix("failed:")
            if seeds or reason in self.failures:
                self.failures[reason] = self.failures.get(reason, 0) + seeds
        elif seeds:
            self.notes[state] = self.notes.get(state, 0) + seeds

    def as_dict(self) -> dict[str, Any]:
        """Returns the account with its difference, as JSON values."""
        values: dict[str, Any] = {name: getattr(self, name) for name in STATES}
        return values | {"difference": self.difference, "failures": self.failures, "notes": self.notes}


@dataclass(frozen=True, slots=True)
class Totals:
    """How many seeds of one frontier are in each state, over all plans; `Queue.totals` reads it from `counts`.

    Attributes:
        ready: Without those that wait for their next scheduled visit, and without parked ones.
        waiting: Scheduled seeds that were visited and come due again.
        parked: Seeds of paused plans.
    """

    offered: int = 0
    ready: int = 0
    waiting: int = 0
    parked: int = 0
    executing: int = 0
    finished: int = 0
    failed: int = 0


JUNK = "junk"  # the note that counts fields of the ledger which hold no number
COUNTED = {"ready": "ZCARD", "parked": "ZCARD", "held": "SCARD"}  # prefixes of keys -> the command that counts entries
STATES = ("offered", "known", "ready", "executing", "finished", "failed")
Ledger = dict[tuple[str, str], dict[Frontier, Account]]  # by plan and site


async def read(redis: Redis, keys: Keys, partitions: int, plan: str | None = None) -> Ledger:
    """Returns the ledger of one plan, or of all plans; empty when nothing was ever offered."""
    ledger: Ledger = {}
    for number in range(partitions):
        part = keys.partition(number)
        entries: Any = await redis.smembers(part.ledgers)  # redis-py's types don't know that answers are bytes
        for entry in sorted(entries):
            name, _, site = as_text(entry).partition(" ")
            if plan is not None and name != plan:
                continue
            accounts = ledger.setdefault((name, site), {"nav": Account(), "content": Account()})
            fields: Any = await redis.hgetall(part.ledger(name, site))
            for frontier, account in accounts.items():
                prefix = f"{frontier}:".encode()
                for field_name, seeds in fields.items():
                    if field_name.startswith(prefix):
                        count, state = as_count(seeds), as_text(field_name.removeprefix(prefix))
                        account.count(*((JUNK, 1) if count is None else (state, count)))
    return ledger


async def recount(redis: Redis, keys: Keys, partitions: int) -> list[str]:
    """Counts the seeds themselves and compares that with the ledger.

    While workers run, seeds move between the steps of the count, and a disagreement means little.

    Returns:
        What disagrees, in words; empty when all agrees.
    """
    problems: list[str] = []
    ledger = await read(redis, keys, partitions)
    found: dict[tuple[str, str, Frontier], Counter[str]] = defaultdict(Counter)
    for number in range(partitions):
        part = keys.partition(number)
        for frontier in FRONTIERS:
            problems += await _recount_one(redis, part, frontier, found)
    for (plan, site), accounts in ledger.items():
        for frontier, account in accounts.items():
            counted = found.pop((plan, site, frontier), Counter())
            for state in ("ready", "executing"):
                if getattr(account, state) != counted[state]:
                    problems.append(
                        f"{plan} {site} {frontier}: ledger {state} {getattr(account, state)}, counted {counted[state]}"
                    )
            if account.failed < counted["failed"]:  # it may be more: failed seeds are forgotten after FAIL_DAYS
                problems.append(
                    f"{plan} {site} {frontier}: ledger failed {account.failed}, counted {counted['failed']}"
                )
            if account.difference:
                problems.append(f"{plan} {site} {frontier}: difference {account.difference}")
    problems += [
        f"{plan} {site} {frontier}: {dict(counts)} seeds without a ledger"
        for (plan, site, frontier), counts in found.items()
    ]
    return problems


async def _recount_one(
    redis: Any, part: PartitionKeys, frontier: Frontier, found: dict[tuple[str, str, Frontier], Counter[str]]
) -> list[str]:
    """Counts one frontier's seeds in one partition into `found`; returns which of its keys disagree with each other."""
    executing = set(await redis.zrange(part.of(frontier, "execute"), 0, -1))
    failed = set(await redis.zrange(part.of(frontier, "fail"), 0, -1))
    quarantined = set(await redis.zrange(part.of(frontier, "suspects"), 0, -1))
    waiting: Counter[str] = Counter()
    seen: set[bytes] = set()  # a scan may show an entry twice
    async for fingerprint, value in redis.hscan_iter(part.of(frontier, "seed"), count=SCAN_COUNT):
        if fingerprint in seen:
            continue
        seen.add(fingerprint)
        host, plan, site, *_ = [*as_text(value).split(" ", 3), "-", "-", "-"]  # as lua/lib/ledger.lua reads it
        state = "executing" if fingerprint in executing else "failed" if fingerprint in failed else "ready"
        found[plan, site, frontier][state] += 1
        if state == "ready" and fingerprint not in quarantined:
            waiting[host] += 1
    sizes = await _sizes(redis, part, frontier)
    claims = await redis.hlen(part.of(frontier, "claims"))
    booked = as_count(await redis.hget(part.of(frontier, "counts"), "finished") or b"0")
    queued = {as_text(host) for host in await redis.zrange(part.of(frontier, "hosts"), 0, -1)}
    finished = await _finished(redis, part.of(frontier, "finish"))
    problems: list[str] = []
    if not len(executing) == claims == sizes["held"]:
        problems.append(f"{frontier}: {len(executing)} in execute, {claims} claims, {sizes['held']} held")
    if sizes["ready"] + sizes["parked"] != waiting.total():
        counted = f"ready holds {sizes['ready']}, parked {sizes['parked']}"
        problems.append(f"{frontier}: {waiting.total()} seeds wait, {counted}")
    if finished != booked:
        problems.append(f"{frontier}: ledger finished {booked}, counted {finished}")
    if not sizes["parked"] and (lost := waiting.keys() - queued):  # a host whose seeds are parked need not be there
        problems.append(f"{frontier}: {len(lost)} hosts have ready seeds but no place in hosts, such as {min(lost)}")
    return problems


async def _finished(redis: Any, key: str) -> int:
    """Returns how many finished seeds the buckets hold."""
    records: dict[bytes, int] = {}  # by bucket: a scan may show one twice
    async for bucket, packed in redis.hscan_iter(key, count=SCAN_COUNT):
        records[bucket] = len(packed) // RECORD_BYTES
    return sum(records.values())


async def _sizes(redis: Any, part: PartitionKeys, frontier: Frontier) -> Counter[str]:
    """Returns how many entries all sets of a prefix hold together, for each prefix in COUNTED."""
    sizes: Counter[str] = Counter()
    for kind, command in COUNTED.items():
        stem = part.of(frontier, f"{kind}:")
        where = await primary_of(redis, stem)
        found = redis.scan_iter(match=_escaped(stem) + "*", count=SCAN_COUNT, **where)
        names = list({name async for name in found})  # a scan may show one twice
        for start in range(0, len(names), SCAN_COUNT):
            async with redis.pipeline(transaction=False) as pipeline:
                for name in names[start : start + SCAN_COUNT]:
                    pipeline.execute_command(command, name)
                sizes[kind] += sum(await pipeline.execute())
    return sizes


def _escaped(key: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in key)

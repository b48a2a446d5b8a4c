"""Counts all seeds anew, in the sets that hold them; the ledger must agree with it.

Whatever is counted is read in batches and forgotten, so the count takes little memory however large the frontier is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from crawler.frontier import ledger
from crawler.frontier.finished import RECORD_BYTES
from crawler.frontier.keys import as_count, as_text
from crawler.frontier.ledger import FRONTIERS, SCAN_COUNT
from crawler.servers.redis_cluster import primary_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys, PartitionKeys
    from crawler.models import Frontier

    Counts = dict[tuple[str, str, Frontier], Counter[str]]  # by plan, site and frontier: seeds by state

SIZES = {"ready": "ZCARD", "held": "SCARD", "wanted": "SCARD"}  # prefixes of keys -> the command that counts entries

BESIDE = ("also", "execute", "fail", "suspects", "parked")  # what says more of a seed; in most crawls some are empty


async def recount(
    redis: Redis, keys: Keys, partitions: int, progress: Callable[[int, int], object] | None = None
) -> list[str]:
    """Counts the seeds themselves and compares that with the ledger.

    While workers run, seeds move between the steps of the count, and a disagreement means little.

    Args:
        progress: Called now and then with the number of seeds counted so far, and of all seeds.

    Returns:
        What disagrees, in words; empty when all agrees.
    """
    parts = [(keys.partition(number), frontier) for number in range(partitions) for frontier in FRONTIERS]
    counted: Counts = defaultdict(Counter)
    expected = await ledger.read(redis, keys, partitions)
    total = sum([await _length(redis, part, frontier) for part, frontier in parts])
    problems: list[str] = []
    done = 0
    for part, frontier in parts:
        recount_of_part = PartRecount(redis, part, frontier, counted)
        async for number in recount_of_part.count_seeds():
            done += number
            if progress is not None:
                progress(done, max(done, total))
        problems += await recount_of_part.problems()
    for (plan, site), accounts in expected.items():
        for frontier, account in accounts.items():
            problems += _problems_of(
                f"{plan} {site} {frontier}", account, counted.pop((plan, site, frontier), Counter())
            )
    problems += [
        f"{plan} {site} {frontier}: {dict(counts)} seeds without a ledger"
        for (plan, site, frontier), counts in counted.items()
    ]
    return problems


async def _length(redis: Any, part: PartitionKeys, frontier: Frontier) -> int:
    return int(await redis.hlen(part.of(frontier, "seed")))


def _problems_of(name: str, account: ledger.Account, counted: Counter[str]) -> list[str]:
    """Returns what disagrees between an account of the ledger and what was counted."""
    problems = [
        f"{name}: ledger {state} {getattr(account, state)}, counted {counted[state]}"
        for state in ("ready", "executing")
        if getattr(account, state) != counted[state]
    ]
    if account.failed < counted["failed"]:  # it may be more: failed seeds are forgotten after FAIL_DAYS
        problems.append(f"{name}: ledger failed {account.failed}, counted {counted['failed']}")
    if account.difference:
        problems.append(f"{name}: difference {account.difference}")
    return problems


class PartRecount:
    """The recount of one frontier in one partition.

    Args:
        counted: What is counted is added here: a seed counts once for each plan that wants it.
    """

    def __init__(self, redis: Any, part: PartitionKeys, frontier: Frontier, counted: Counts) -> None:
        self._redis = redis
        self._part = part
        self._frontier: Frontier = frontier
        self._counted = counted
        self._beside: list[str] = []  # those of BESIDE that aren't empty
        self._seeds: Counter[str] = Counter()  # by state; also `waiting`: those that aren't quarantined
        self._wanted: Counter[str] = Counter()  # by plan
        self._lost_hosts: set[str] = set()  # some of those that have ready seeds but no place in `hosts`

    async def count_seeds(self) -> AsyncIterator[int]:
        """Counts the seeds that aren't finished; yields the number of each batch."""
        self._beside = [name for name in BESIDE if await self._redis.exists(self._key(name))]
        cursor = 0
        while True:
            cursor, batch = await self._redis.hscan(self._key("seed"), cursor, count=SCAN_COUNT)
            if batch:
                await self._count(list(batch), [value.split(b" ", 3)[:3] for value in batch.values()])
            yield len(batch)
            if not cursor:
                return

    async def _count(self, fingerprints: list[bytes], words: list[list[bytes]]) -> None:
        """Counts seeds, by the sets that they are in and the first words of their values: host, plan, site."""
        async with self._redis.pipeline(transaction=False) as pipeline:
            for name in self._beside:
                look_up = pipeline.hmget if name == "also" else pipeline.zmscore
                look_up(self._key(name), fingerprints)
            pipeline.zmscore(self._key("hosts"), [value[0] for value in words])
            *answers, queued = await pipeline.execute()
        found = dict(zip(self._beside, answers, strict=True))
        nothing = [None] * len(words)
        rows = zip(words, *(found.get(name, nothing) for name in BESIDE), queued, strict=True)
        pairs: Counter[tuple[bytes, bytes, str]] = Counter()
        for value, further, claimed_at, failed_at, quarantined_at, parked_at, queued_at in rows:
            host, plan, site = value if len(value) == 3 else (b"-", b"-", b"-")  # as lua/lib/ledger.lua reads it  # noqa: PLR2004
            state = "executing" if claimed_at is not None else "failed" if failed_at is not None else "ready"
            pairs[plan, site, state] += 1
            for line in (further or b"").splitlines():
                pairs[line.partition(b" ")[0], site, state] += 1
            self._seeds[state] += 1
            if state == "ready" and quarantined_at is None:
                self._seeds["waiting"] += 1
                if parked_at is None and queued_at is None and len(self._lost_hosts) < SCAN_COUNT:
                    self._lost_hosts.add(as_text(host))
        for (plan, site, state), number in pairs.items():
            self._counted[as_text(plan), as_text(site), self._frontier][state] += number
            self._wanted[as_text(plan)] += number

    async def problems(self) -> list[str]:
        """Returns in which ways the keys disagree with each other; to be called when the seeds are counted."""
        frontier, seeds = self._frontier, self._seeds
        sizes = await self._sizes()
        executing = await self._redis.zcard(self._key("execute"))
        claims = await self._redis.hlen(self._key("claims"))
        parked = await self._redis.zcard(self._key("parked"))
        booked = as_count(await self._redis.hget(self._key("counts"), "finished") or b"0")
        finished = await self._finished()
        held, ready = sizes.pop("held", 0), sizes.pop("ready", 0)
        problems: list[str] = []
        if not executing == claims == held == seeds["executing"]:
            problems.append(f"{frontier}: {executing} in execute, {claims} claims, {held} held")
        if ready + parked != seeds["waiting"]:
            problems.append(f"{frontier}: {seeds['waiting']} seeds wait, ready holds {ready}, parked {parked}")
        if finished != booked:
            problems.append(f"{frontier}: ledger finished {booked}, counted {finished}")
        if self._lost_hosts:
            number, host = len(self._lost_hosts), min(self._lost_hosts)
            problems.append(f"{frontier}: {number} hosts have ready seeds but no place in hosts, such as {host}")
        problems += [
            f"{frontier}: {self._wanted[plan]} seeds of plan {plan}, its set holds {sizes[f'wanted:{plan}']}"
            for plan in sorted(self._wanted.keys() | {name.removeprefix("wanted:") for name in sizes})
            if self._wanted[plan] != sizes[f"wanted:{plan}"]
        ]
        return problems

    async def _finished(self) -> int:
        """Returns how many records of finished seeds the buckets hold."""
        records = cursor = 0
        while True:
            cursor, buckets = await self._redis.hscan(self._key("finish"), cursor, count=SCAN_COUNT)
            records += sum(len(packed) // RECORD_BYTES for packed in buckets.values())
            if not cursor:
                return records

    async def _sizes(self) -> Counter[str]:
        """Returns how many entries the sets hold: `ready` and `held` all of them together, `wanted:PLAN` each."""
        sizes: Counter[str] = Counter()
        stem = self._key("")
        where = await primary_of(self._redis, stem)
        names: list[bytes] = []
        async for name in self._redis.scan_iter(match=_escaped(stem) + "*", count=SCAN_COUNT, **where):
            names.append(name)
            if len(names) == SCAN_COUNT:
                await self._add_sizes(names, sizes)
                names.clear()
        await self._add_sizes(names, sizes)
        return sizes

    async def _add_sizes(self, names: list[bytes], sizes: Counter[str]) -> None:
        """Adds the sizes of some keys, those of other kinds left out."""
        kept = []
        async with self._redis.pipeline(transaction=False) as pipeline:
            for name in names:
                kind, mark, rest = as_text(name).removeprefix(self._key("")).partition(":")
                if mark and kind in SIZES:
                    kept.append(f"{kind}:{rest}" if kind == "wanted" else kind)
                    pipeline.execute_command(SIZES[kind], name)
            for name_or_kind, size in zip(kept, await pipeline.execute(), strict=True):
                sizes[name_or_kind] += size

    def _key(self, name: str) -> str:
        return self._part.of(self._frontier, name)


def _escaped(key: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in key)

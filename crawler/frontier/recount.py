"""Counts all seeds anew, in the sets that hold them; the ledger must agree with it.

Scripts count some seeds at a time and answer with numbers, so the count takes little memory however large the frontier
is, and no call holds Redis up.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.frontier import ledger, scripts
from crawler.frontier.finished import number_of_records
from crawler.frontier.keys import as_count, as_text
from crawler.frontier.ledger import FRONTIERS
from crawler.frontier.scan import SCAN_COUNT, scan_steps
from crawler.servers.redis_cluster import each_primary

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from redis.asyncio import Redis

    from crawler.base.models import Frontier
    from crawler.frontier.keys import Keys, PartitionKeys

    # By plan, site and frontier: how many seeds are in each state.
    Counts = dict[tuple[str, str, Frontier], Counter[str]]

COUNT_BATCH = 500  # most seeds in one call: some 2 ms of Redis's time
SIZES = {"ready": "ZCARD", "held": "SCARD", "wanted": "SCARD"}  # prefixes of keys -> the command that counts entries


@dataclass(frozen=True, slots=True)
class Problem:
    """A disagreement between two numbers that must agree. It equals the same one of another recount.

    Attributes:
        where: Whose numbers they are: a plan, site and frontier, or a partition and frontier.
        kind: Which numbers these are.
        difference: How far they are apart, while both may grow from one recount to the next.
        text: The problem in words.
    """

    where: str
    kind: str
    difference: tuple[int, ...]
    text: str = field(compare=False)

    def __str__(self) -> str:
        """Returns the problem in words."""
        return self.text


async def recount(
    redis: Redis, keys: Keys, partitions: int, progress: Callable[[int, int], object] | None = None
) -> list[Problem]:
    """Counts the seeds themselves and compares that with the ledger.

    While workers run, seeds move between the steps of the count. What moved meanwhile, by the ledger, isn't compared;
    the few moves that leave no trace there may still look like a fault, but hardly twice like the same one.

    Args:
        progress: Called now and then with the number of seeds counted so far, and of all seeds.

    Returns:
        What disagrees; empty when all agrees.
    """
    counted: Counts = defaultdict(Counter)
    parts = {
        (number, frontier): PartRecount(redis, keys.partition(number), frontier, counted)
        for number in range(partitions)
        for frontier in FRONTIERS
    }
    expected = await ledger.read(redis, keys, partitions)
    total = sum([await part.begin() for part in parts.values()])
    problems: list[Problem] = []
    seeds_counted = 0
    for part in parts.values():
        async for number in part.count_seeds():
            seeds_counted += number
            if progress is not None:
                progress(seeds_counted, max(seeds_counted, total))
    await _add_sizes(redis, keys, parts)
    for part in parts.values():
        problems += await part.problems()
    afterwards = await ledger.read(redis, keys, partitions)
    for plan, site in expected.keys() | afterwards.keys():
        for frontier in FRONTIERS:
            seeds = counted.pop((plan, site, frontier), Counter())
            account, after = (accounts.get((plan, site), {}).get(frontier) for accounts in (expected, afterwards))
            if account is not None and account == after:
                problems += _problems_of(f"{plan} {site} {frontier}", account, seeds)
    problems += [
        Problem(where, "no ledger", tuple(counts.values()), f"{where}: {dict(counts)} seeds without a ledger")
        for where, counts in ((" ".join(names), counts) for names, counts in counted.items())
    ]
    return sorted(problems, key=str)


async def _add_sizes(redis: Any, keys: Keys, parts: dict[tuple[int, Frontier], PartRecount]) -> None:
    """Looks at every key once, and tells each part how many entries its sets hold."""
    stem = keys.partition(0).stem.partition("{")[0]
    name_of_set = re.compile(rf"{re.escape(stem)}{{(\d+)}}:(nav|content):(ready|held|wanted):.*".encode(), re.DOTALL)
    names: dict[tuple[int, Any, str], list[bytes]] = defaultdict(list)  # names, by partition, frontier and kind

    async def add(number: int, frontier: Frontier, kind: str) -> None:
        if part := parts.get((number, frontier)):
            await part.add_sizes(kind, names[number, frontier, kind])
        del names[number, frontier, kind]

    for where in await each_primary(redis):
        async for name in redis.scan_iter(match=_escaped(stem) + "*", count=SCAN_COUNT, **where):
            if match := name_of_set.fullmatch(name):
                of_kind: tuple[int, Any, str] = (int(match[1]), match[2].decode(), match[3].decode())
                names[of_kind].append(name)
                if len(names[of_kind]) == SCAN_COUNT:
                    await add(*of_kind)
    for of_kind in list(names):
        await add(*of_kind)


def _problems_of(name: str, account: ledger.Account, counted: Counter[str]) -> list[Problem]:
    """Returns what disagrees between an account of the ledger and what was counted."""
    short = {state: getattr(account, state) - counted[state] for state in ("ready", "executing")}
    short["failed"] = min(account.failed - counted["failed"], 0)  # failed seeds are forgotten after FAIL_DAYS
    problems = [
        Problem(name, state, (by,), f"{name}: ledger {state} {getattr(account, state)}, counted {counted[state]}")
        for state, by in short.items()
        if by
    ]
    if by := account.difference:
        problems.append(Problem(name, "difference", (by,), f"{name}: difference {by}"))
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
        self._before: Any = {}  # what `counts` was when the recount began
        self._executing = 0
        self._waiting = 0  # how many seeds are ready and not quarantined
        self._wanted: Counter[str] = Counter()  # by plan: how many seeds wait for it
        # By key: entries in `ready` and `held` of all hosts and owners together, and in each `wanted:PLAN`.
        self._sizes: Counter[str] = Counter()
        self._lost_hosts: set[str] = set()  # some of those that have ready seeds but no place in `hosts`
        self._blocked_hosts: set[str] = set()  # some of those with turns that nobody will release

    async def begin(self) -> int:
        """Begins the recount; returns how many seeds there are to count."""
        self._before = await self._redis.hgetall(self._key("counts"))
        return int(await self._redis.hlen(self._key("seed")))

    async def count_seeds(self) -> AsyncIterator[int]:
        """Counts the seeds that aren't finished; yields the number of each batch."""
        cursor = b"0"
        while True:
            answer = await self._run("count_seeds", cursor, COUNT_BATCH)
            cursor, number, executing, waiting, counted, lost_hosts, blocked_hosts = answer
            self._executing += executing
            self._waiting += waiting
            for plan, site, state, seeds in zip(*[iter(counted)] * 4, strict=True):
                self._counted[as_text(plan), as_text(site), self._frontier][as_text(state)] += seeds
                self._wanted[as_text(plan)] += seeds
            if len(self._lost_hosts) < SCAN_COUNT:
                self._lost_hosts.update(map(as_text, lost_hosts))
            if len(self._blocked_hosts) < SCAN_COUNT:
                self._blocked_hosts.update(map(as_text, blocked_hosts))
            yield number
            if cursor == b"0":
                return

    async def add_sizes(self, kind: str, names: list[bytes]) -> None:
        """Counts the entries of some sets of a kind, one of SIZES."""
        if kind != "wanted":
            self._sizes[kind] += await self._run("count_entries", SIZES[kind], *names)
            return
        for name in names:
            plan = as_text(name).removeprefix(self._key("wanted:"))
            self._sizes[f"wanted:{plan}"] = await self._run("count_entries", SIZES[kind], name)

    async def problems(self) -> list[Problem]:
        """Returns in which ways the keys disagree with each other; none if seeds moved since `begin`.

        To be called when the seeds are counted.
        """
        frontier, sizes = self._frontier, self._sizes
        executing = await self._redis.zcard(self._key("execute"))
        claims = await self._redis.hlen(self._key("claims"))
        parked = await self._redis.zcard(self._key("parked"))
        finished = await self._finished()
        counts = await self._redis.hgetall(self._key("counts"))
        if counts != self._before:
            return []
        booked = as_count(counts.get(b"finished", b"0"))
        held, ready = sizes.pop("held", 0), sizes.pop("ready", 0)
        problems: list[Problem] = []

        def add(kind: str, difference: tuple[int, ...], text: str) -> None:
            problems.append(Problem(self._part.stem + frontier, kind, difference, f"{frontier}: {text}"))

        if any(apart := (executing - self._executing, claims - executing, held - executing)):
            add("executing", apart, f"{executing} in execute, {claims} claims, {held} held")
        if by := ready + parked - self._waiting:
            add("waiting", (by,), f"{self._waiting} seeds wait, ready holds {ready}, parked {parked}")
        if finished != booked:
            add("finished", (finished - (booked or 0),), f"ledger finished {booked}, counted {finished}")
        if self._lost_hosts:
            number, host = len(self._lost_hosts), min(self._lost_hosts)
            text = f"{number} hosts have ready seeds but no place in hosts, such as {host}"
            add(f"hosts {host}", (number,), text)
        if self._blocked_hosts:
            number, host = len(self._blocked_hosts), min(self._blocked_hosts)
            text = f"{number} hosts have turns of owners without a session, such as {host}"
            add(f"turns {host}", (number,), text)
        for plan in sorted(self._wanted.keys() | {name.removeprefix("wanted:") for name in sizes}):
            if by := sizes[f"wanted:{plan}"] - self._wanted[plan]:
                text = f"{self._wanted[plan]} seeds of plan {plan}, its set holds {sizes[f'wanted:{plan}']}"
                add(f"wanted {plan}", (by,), text)
        return problems

    async def _finished(self) -> int:
        """Returns how many records of finished seeds the buckets hold, and filters alone (lua/lib/filter.lua)."""
        records = as_count(await self._redis.hget(self._key("counts"), "filtered") or b"0") or 0
        async for buckets in scan_steps(self._redis.hscan, self._key("finish")):
            records += sum(map(number_of_records, buckets.values()))
        return records

    async def _run(self, name: str, *arguments: object) -> Any:
        return await scripts.run(self._redis, name, self._part.script_keys(self._frontier), arguments)

    def _key(self, name: str) -> str:
        return self._part.of(self._frontier, name)


def _escaped(key: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in key)

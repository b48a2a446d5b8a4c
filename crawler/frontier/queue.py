"""The frontier: all seeds in Redis. Offer, claim, settle, borrow a turn; each is one script call per partition.

Every method may raise `redis.exceptions.RedisError` when Redis is away; calling again is then safe. An offer that did
arrive is `known` the second time, a settle is refused, and what a claim or a borrowing gave is taken back first.
A full Redis refuses claims (`full`) and offers (`OutOfMemoryError`), a batch as a whole; all else goes on.
"""

from __future__ import annotations

import itertools
import secrets
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from redis.exceptions import OutOfMemoryError

from crawler.errors import FrontierError
from crawler.frontier import scripts
from crawler.frontier.in_flight import InFlight
from crawler.frontier.keys import OTHER, Keys, as_count, as_text, partition_of
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.models import Claimed, Frontier, Seed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from redis.asyncio import Redis

OFFER_BATCH = 500  # seeds in one offer call: some 5 ms of Redis's time, so that claims of others aren't held up
BACKOFF_FIRST_SECONDS = 1.0  # a failing host's first extra pause, where its own delay is shorter
BACKOFF_LONGEST_SECONDS = 300.0  # then it doubles up to this: a host that is back is seen within five minutes
NO_TURN, LEFT_ALONE = 0, -2  # in place of a turn's token
DAY_MILLISECONDS = 86_400_000
FULL_MILLISECONDS = 5_000  # until a full Redis is tried again: room comes by an operator's hand, or as seeds end


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """What a claim came back with.

    Attributes:
        state: `ok`; `locked` (another claimant holds the partition's lock); `lapsed` (the owner has no session and must
            open one first); `drain` (a quarantined seed waits for this owner, who must first end what it carries);
            `quarantined` (the one seed given is quarantined, run nothing beside it); `full` (Redis is at its maxmemory
            and refuses claims).
        wait_ms: How long until a claim may succeed; None when nothing is in sight.
        seeds: What the owner now holds; empty unless `state` is `ok` or `quarantined`.
    """

    state: str
    wait_ms: int | None
    seeds: list[Claimed]


@dataclass(frozen=True, slots=True)
class Totals:
    """Seeds of one frontier by state, over all plans.

    Attributes:
        ready: Without those that wait for their next scheduled run.
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


class Queue:
    """One frontier, over all its partitions.

    Args:
        redis: With `decode_responses=False`.
        partitions: `FRONTIER_PARTITIONS`.
        lock_ms: How long a dead claimant keeps others off.
        max_attempts: Real tries before a retried seed fails.
        fail_days: How long failed seeds are remembered.
    """

    def __init__(
        self,
        redis: Redis,
        keys: Keys,
        frontier: Frontier,
        *,
        partitions: int = 1,
        lock_ms: int = 2_000,
        max_attempts: int = 4,
        fail_days: int = 30,
    ) -> None:
        self.redis = redis
        self.keys = keys
        self.frontier: Frontier = frontier
        self.partitions = partitions
        self._script_keys = [keys.partition(number).script_keys(frontier) for number in range(partitions)]
        self._wake, self._other_wake = keys.wake(frontier), keys.wake(OTHER[frontier])
        self._in_flight: dict[tuple[int, str], InFlight] = defaultdict(InFlight)
        self._lock_ms = lock_ms
        self._max_attempts = max_attempts
        self._fail_days = fail_days

    async def offer(self, seeds: Iterable[Seed], due_ms: int = 0, *, budget: int = 0) -> list[bool]:
        """Proposes seeds; returns for each whether it was new. What is ready, executing, finished or failed is refused.

        Args:
            due_ms: When they come due, in ms since the epoch; 0: now.
            budget: For links that pages are followed by: how many new seeds each host takes within `fail_days`, this
                call's and earlier ones' together. The rest is refused, and counted as `over-budget`. 0: no limit.
        """
        offered = list(seeds)
        by_partition: dict[int, list[int]] = defaultdict(list)
        for index, seed in enumerate(offered):
            by_partition[partition_of(seed.host, self.partitions)].append(index)
        fresh = [False] * len(offered)
        for partition, indexes in by_partition.items():
            for start in range(0, len(indexes), OFFER_BATCH):
                batch = indexes[start : start + OFFER_BATCH]
                arguments: list[object] = [self._wake]
                for index in batch:
                    arguments += (offered[index].fingerprint, offered[index].dump(), due_ms)
                if budget:
                    arguments.append(f"{budget} {self._fail_days * DAY_MILLISECONDS}")
                answer = await self._run("offer", partition, arguments)
                for index, mark in zip(batch, answer, strict=True):
                    fresh[index] = mark == ord("1")
        return fresh

    async def claim(self, partition: int, owner: str, claim: str, *, most: int, carrying: int) -> ClaimAnswer:
        """Claims up to `most` seeds of one partition, under its lock, in one round trip.

        Args:
            claim: The claim id, never used before.
            carrying: Seeds that the owner holds already.
        """
        keys, token = self._script_keys[partition], secrets.token_bytes(8)
        await self._recall(partition, owner)
        in_flight = self._in_flight[partition, owner]
        with in_flight.call(claim) as serial:
            try:
                lock = ["SET", keys[0], token, "NX", "PX", self._lock_ms]
                arguments = [self._wake, self._other_wake, token, owner, claim, serial, most, carrying]
                state, wait_ms, _now, flat = await scripts.run_after(self.redis, "claim", keys, arguments, first=lock)
            except OutOfMemoryError:  # before it did anything
                return ClaimAnswer("full", FULL_MILLISECONDS, [])
            in_flight.seeds.update(flat[::7])
            hosts = (as_text(value.split(b" ", 1)[0]) for value in flat[1::7])
            in_flight.turns.update(f"{int(turn)} {host}" for turn, host in zip(flat[2::7], hosts, strict=True))
            seeds: list[Claimed] = []
            damaged: dict[tuple[str, int], list[Settlement]] = defaultdict(list)
            for fingerprint, value, turn, due_ms, tries, delay_ms, suspected in zip(*[iter(flat)] * 7, strict=True):
                host, seed = self._load(fingerprint, value)
                claimed = Claimed(
                    seed=seed or Seed("", "", ""),
                    fingerprint=fingerprint,
                    partition=partition,
                    claim=claim,
                    turn=int(turn),
                    due_ms=int(due_ms),
                    tries=int(tries),
                    delay_s=int(delay_ms) / 1000,
                    quarantined=state == b"quarantined",
                    suspected=suspected == 1,
                )
                if seed is None:
                    damaged[host, claimed.turn].append(Settlement("fail", claimed, reason="damaged"))
                else:
                    seeds.append(claimed)
            if damaged:
                turns = damaged.keys() - {(claimed.seed.host, claimed.turn) for claimed in seeds}
                ends = list(itertools.chain(*damaged.values()))
                await self.settle(partition, owner, ends, [TurnRelease(host, turn) for host, turn in turns])
        return ClaimAnswer(state.decode(), None if wait_ms < 0 else int(wait_ms), seeds)

    async def begin(self, claimed: Claimed) -> None:
        """Notes that the fetch of a suspected seed begins: should its worker die now, it may be why."""
        await self._run("begin", claimed.partition, [claimed.fingerprint, claimed.claim])

    async def settle(
        self, partition: int, owner: str, settlements: Sequence[Settlement], turns: Sequence[TurnRelease] = ()
    ) -> tuple[int, int]:
        """Ends claims and gives turns back; returns how many settlements were accepted and how many refused."""
        await self._recall(partition, owner)
        pauses = [int(BACKOFF_FIRST_SECONDS * 1000), int(BACKOFF_LONGEST_SECONDS * 1000)]
        limits = [self._max_attempts, self._fail_days, *pauses, len(settlements)]
        arguments: list[object] = [self._wake, self._other_wake, owner, *limits]
        for end in settlements:
            amount = end.amount_ms if end.operation == "retry" else end.claimed.due_ms
            arguments += (end.operation, end.claimed.fingerprint, end.claimed.claim, amount, end.reason)
        for turn in turns:
            arguments += (turn.host, turn.turn, turn.since_start_ms, turn.backoff_ms)
            arguments += (turn.error_level_change, turn.error_level_min)
        accepted, refused = await self._run("settle", partition, arguments)
        in_flight = self._in_flight[partition, owner]
        in_flight.seeds.difference_update(end.claimed.fingerprint for end in settlements)
        in_flight.turns.difference_update(f"{turn.turn} {turn.host}" for turn in turns)
        return int(accepted), int(refused)

    async def recall(self, owner: str) -> int:
        """Gives back what Redis says that an owner holds and no answer has said, in all partitions. Not during a claim.

        That happens when Redis loses writes that it had acknowledged. Returns how many seeds are ready again.
        """
        return sum([await self._recall(partition, owner, all_unknown=True) for partition in range(self.partitions)])

    def forget(self, owner: str) -> None:
        """Forgets what an owner was given: its session was lost, others have it."""
        for key in [key for key in self._in_flight if key[1] == owner]:
            del self._in_flight[key]

    async def acquire_turn(self, host: str, site: str, owner: str) -> tuple[int, int]:
        """Takes a turn of a host without a seed: (token, delay in ms), or (0, ms until it is worth asking again).

        (-1, 0) means that the owner has no session; (-2, ms) that the host wants to be left alone for so long.
        """
        return await self._acquire(host, owner, site)

    async def acquire_address(self, name: str, owner: str, concurrency: int, delay_ms: int) -> tuple[int, int]:
        """Takes a turn of an address, which is given back like a host's; returns what `acquire_turn` does.

        Args:
            name: `@` and the address.
            concurrency: Its turns.
            delay_ms: Between two starts on any of them.
        """
        return await self._acquire(name, owner, "", concurrency, delay_ms)

    async def _acquire(self, host: str, owner: str, site: str, *budget: int) -> tuple[int, int]:
        partition = partition_of(host, self.partitions)
        await self._recall(partition, owner)
        in_flight = self._in_flight[partition, owner]
        with in_flight.call() as serial:
            turn, number = await self._run("acquire_turn", partition, [owner, host, site, serial, *budget])
        if turn > NO_TURN:
            in_flight.turns.add(f"{turn} {host}")
        return turn, number

    async def totals(self) -> Totals:
        """Returns the counts over all partitions, each partition at its own moment."""
        sums: dict[str, int] = defaultdict(int)
        for number in range(self.partitions):
            key = self.keys.partition(number).of(self.frontier, "counts")
            counts = await cast("Awaitable[dict[bytes, bytes]]", self.redis.hgetall(key))
            for name, value in counts.items():
                sums[as_text(name)] += as_count(value) or 0
        return Totals(
            offered=sums["offered"],
            ready=sums["ready"] - sums["waiting"],
            waiting=sums["waiting"],
            parked=sums["parked"],
            executing=sums["executing"],
            finished=sums["finished"],
            failed=sums["failed"],
        )

    def _load(self, fingerprint: bytes, value: bytes) -> tuple[str, Seed | None]:
        """Returns a stored seed's host and the seed; None for a damaged one: workers don't die of what Redis holds."""
        host = as_text(value.split(b" ", 1)[0])
        try:
            seed = Seed.load(value, self.frontier)
            sound = seed.host == host and seed.fingerprint == fingerprint
        except (FrontierError, ValueError):
            return host, None
        return host, seed if sound else None

    async def _recall(self, partition: int, owner: str, *, all_unknown: bool = False) -> int:
        """Makes Redis take back what calls gave whose answers never came; those that are still on their way are void.

        Args:
            all_unknown: Also whatever else Redis believes that the owner holds and no answer has said.

        Returns:
            How many seeds of the latter kind are ready again.
        """
        in_flight = self._in_flight[partition, owner]
        given_up = list(in_flight.unanswered)
        if not given_up and not all_unknown:
            return 0
        first_under_way = in_flight.first_under_way() if all_unknown else 0
        arguments = [self._wake, owner, first_under_way, len(given_up), *itertools.chain(*given_up)]
        if all_unknown:
            arguments += [*in_flight.seeds, *in_flight.turns]
        recalled = cast("int", await self._run("recall", partition, arguments))
        in_flight.unanswered = [call for call in in_flight.unanswered if call not in given_up]
        return recalled

    async def _run(self, name: str, partition: int, arguments: Sequence[object]) -> list[int]:
        answer: list[int] = await scripts.run(self.redis, name, self._script_keys[partition], arguments)
        return answer

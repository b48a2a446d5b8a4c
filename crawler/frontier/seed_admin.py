"""What operators do to many seeds at once: find them, retry failed ones, stop, resume, drop or forget a plan's.

What is one plan's is found by the set of its seeds (`wanted:PLAN`), so it costs what the plan has, however much others
have.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from crawler.base import reasons
from crawler.base.errors import FrontierError
from crawler.base.models import Seed, further_plans
from crawler.frontier import scripts
from crawler.frontier.keys import as_text
from crawler.frontier.scan import scan_steps

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from crawler.base.reasons import Reason
    from crawler.frontier.queue import Queue

MOVE_BATCH = 100  # most seeds that one call of a script moves: some 3 ms of Redis's time
State = Literal["ready", "executing", "failed"]
Progress = Callable[[int], object]  # is told how many more seeds were moved
SETS = {"executing": "execute", "failed": "fail"}  # state -> the sorted set of all seeds in it, in Redis


@dataclass(frozen=True, slots=True)
class UnfinishedSeed:
    """A seed that isn't finished.

    Attributes:
        seed: As its first plan wants it.
        further: What the hash `also` holds of it: a line for each further plan that wants it.
        state: `ready` also for parked and quarantined seeds.
        reason: Why it was retried or failed last; empty when it never was.
    """

    partition: int
    fingerprint: bytes
    seed: Seed
    further: bytes | None
    state: State
    reason: str

    @property
    def plans(self) -> tuple[str, ...]:
        """All plans that want it, the first one first."""
        return (self.seed.plan, *further_plans(self.further))

    @property
    def seeds(self) -> tuple[Seed, ...]:
        """The seed as each plan wants it, the first one's first."""
        return (self.seed, *map(self.seed.as_wanted_by, (self.further or b"").splitlines()))


class FailedPlace(NamedTuple):
    """The place of a failed seed among all, the latest first.

    Attributes:
        at_ms: When it failed, in ms since the epoch.
        passed: How many that failed in the same ms have been read, with this one.
    """

    at_ms: float
    passed: int


LATEST_FAILED = FailedPlace(math.inf, 0)  # this place comes before all others


def unheard(_moved: int) -> None:
    """Is told of progress that nobody follows."""


class SeedAdmin:
    """Operations on many seeds of one frontier, which are no part of the crawl itself.

    Every method may raise `redis.exceptions.RedisError` when Redis is away; calling it again then completes it. A full
    Redis hinders none of them: they read without a transaction, which Redis 7.0 would refuse then, and the scripts look
    again before they move anything.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._redis: Any = queue.redis  # its types don't know that answers are bytes
        self._frontier = queue.frontier

    async def seeds(self, state: State | None = None, plan: str | None = None) -> AsyncIterator[UnfinishedSeed]:
        """Yields seeds that aren't finished, in no order; one that moves meanwhile may come twice.

        Args:
            state: Only the seeds in this state; None for all.
            plan: Only the seeds that this plan wants; None for all.
        """
        for partition in range(self._queue.partitions):
            async for fingerprints in self._fingerprints(partition, state, plan):
                for seed in await self._look_up(partition, fingerprints):
                    if state in (None, seed.state):
                        yield seed

    async def retry(
        self, is_wanted: Callable[[UnfinishedSeed], bool], plan: str | None = None, progress: Progress = unheard
    ) -> int:
        """Makes those failed seeds ready again that are wanted, of one plan or of all; returns how many."""
        head = [self._queue.keys.wake(self._frontier)]
        return await self._move(
            "retry",
            head,
            plan,
            is_wanted=lambda seed: seed.state == "failed" and is_wanted(seed),
            state="failed",
            progress=progress,
        )

    async def failed(self, after: FailedPlace, number: int) -> list[tuple[UnfinishedSeed | None, FailedPlace]]:
        """Returns failed seeds, the latest first, each with its place; empty: there are no more.

        Args:
            after: Of the last one that was read; it costs the same wherever it is.
            number: How many are read. None stands for one that has moved meanwhile.
        """
        orders = []
        for partition in range(self._queue.partitions):
            before = await self._redis.zrange(
                self._key(partition, SETS["failed"]),
                after.at_ms,
                "-inf",
                desc=True,
                byscore=True,
                withscores=True,
                offset=0,
                num=after.passed + number,
            )
            orders.append([(at_ms, partition, fingerprint) for fingerprint, at_ms in before])
        merged = heapq.merge(*orders, key=lambda entry: -entry[0])
        chosen = list(itertools.islice(merged, after.passed, after.passed + number))
        by_partition: dict[int, list[bytes]] = {}
        for _at_ms, partition, fingerprint in chosen:
            by_partition.setdefault(partition, []).append(fingerprint)
        looked_up = [seed for each in by_partition.items() for seed in await self._look_up(*each)]
        failed = {(seed.partition, seed.fingerprint): seed for seed in looked_up if seed.state == "failed"}
        entries, place = [], after
        for at_ms, partition, fingerprint in chosen:
            place = FailedPlace(at_ms, place.passed + 1 if at_ms == place.at_ms else 1)
            entries.append((failed.get((partition, fingerprint)), place))
        return entries

    async def retry_some(self, chosen: Sequence[tuple[int, bytes]], is_wanted: Callable[[UnfinishedSeed], bool]) -> int:
        """Makes some failed seeds ready again; returns how many.

        Args:
            chosen: Partition and fingerprint of each.
            is_wanted: Whether one may be, beyond that it is chosen and has failed; asked of each that isn't finished.
        """
        head, retried = [self._queue.keys.wake(self._frontier)], 0
        for partition, fingerprint in chosen:
            if 0 <= partition < self._queue.partitions:
                unfinished = await self._look_up(partition, [fingerprint])
                if unfinished and is_wanted(unfinished[0]) and unfinished[0].state == "failed":
                    number, _done = await self._run("retry", partition, [*head, fingerprint])
                    retried += number
        return retried

    async def set_aside(self, plan: str, progress: Progress = unheard) -> int:
        """Parks or fails the waiting seeds of a plan that is marked as paused or cancelled.

        Those that are executing end by themselves; a seed that an active plan wants, too, is left to that one.

        Returns:
            How many were set aside, or lost the plan.
        """
        return await self._move("set_aside", [], plan, progress=progress)

    async def resume(self, plan: str, progress: Progress = unheard) -> int:
        """Makes the parked seeds of a plan ready again; returns how many."""
        return await self._move("resume", [self._queue.keys.wake(self._frontier)], plan, progress=progress)

    async def prioritize(
        self, plan: str, priority: int, progress: Progress = unheard, *, general: bool | None = None
    ) -> int:
        """Gives the seeds of a plan that aren't finished another priority for it; returns of how many.

        Those that are executing have it from when they are ready again. A page of several plans has the highest.

        Args:
            general: Whether the plan, which was submitted anew, says itself where its pages lead; seeds to which its
                scorer gave a priority keep that. None: as before.
        """
        word = "" if general is None else str(int(general))
        return await self._move("prioritize", [plan, str(priority), word], plan, progress=progress)

    async def drop(
        self, plan: str, is_wanted: Callable[[UnfinishedSeed], bool], reason: Reason, progress: Progress = unheard
    ) -> int:
        """Takes a plan away from seeds at once, executing ones too, as failed for `reason`.

        What no other plan wants is forgotten and may be offered again. Seeds that had failed before are forgotten
        likewise; the ledger keeps the reason of that.

        Returns:
            How many seeds the plan was taken away from.
        """
        return await self._move("drop", [reason, plan], plan, is_wanted=is_wanted, progress=progress)

    async def offer_cancelled(self, plan: str, edition: int, is_wanted: Callable[[Seed], bool]) -> None:
        """Offers a plan those pages again that it wanted when it was cancelled and that were left to others.

        Args:
            edition: The plan's, which asks for them now.
            is_wanted: Which of them; the others stay noted.
        """
        async for _key, noted in self._noted(plan):
            seeds = []
            for value in noted.values():
                with contextlib.suppress(FrontierError):  # a damaged one is passed over
                    seeds.append(Seed.load(value, self._frontier))
            await self._queue.offer(filter(is_wanted, seeds), edition=edition, confirmed=True)

    async def forget_cancelled(self, plan: str) -> None:
        """Forgets which pages of a cancelled plan were left to others."""
        async for key, noted in self._noted(plan):
            if noted:
                await self._redis.hdel(key, *noted)

    async def _noted(self, plan: str) -> AsyncIterator[tuple[str, dict[bytes, bytes]]]:
        """Yields each partition's key of a cancelled plan's pages that were left to others, with some of them."""
        for partition in range(self._queue.partitions):
            key = self._key(partition, f"cancelled:{plan}")
            async for noted in scan_steps(self._redis.hscan, key):
                yield key, noted

    async def forget(self, plan: str, site: str, progress: Progress = unheard) -> bool:
        """Forgets a plan's failed seeds and ledger; returns False when some of it is still ready or executing."""
        await self.drop(plan, lambda seed: (seed.state, seed.seed.site) == ("failed", site), reasons.DELETED, progress)
        return all([await self._run("forget", number, [plan, site]) for number in range(self._queue.partitions)])

    async def forget_finished(self, plan: str, progress: Progress = unheard) -> None:
        """Forgets which search pages of a plan were finished, whose ledger was forgotten; or which led to others."""
        for partition in range(self._queue.partitions):
            bucket, is_over = 0, False
            while not is_over:
                forgotten, bucket = await self._run("forget_finished", partition, [plan, bucket])
                progress(forgotten)
                is_over = bucket == 0

    async def _fingerprints(self, partition: int, state: State | None, plan: str | None) -> AsyncIterator[list[bytes]]:
        """Yields fingerprints in batches, of the smallest set that has all of a state and plan."""
        if plan is not None:
            async for members in scan_steps(self._redis.sscan, self._key(partition, f"wanted:{plan}")):
                yield list(members)
        elif state in SETS:
            async for entries in scan_steps(self._redis.zscan, self._key(partition, SETS[state])):
                yield [fingerprint for fingerprint, _score in entries]
        else:
            async for fields in scan_steps(self._redis.hscan, self._key(partition, "seed")):
                yield list(fields)

    async def _look_up(self, partition: int, fingerprints: list[bytes]) -> list[UnfinishedSeed]:
        """Returns what is known of some seeds; without those that are finished by now, or damaged."""
        if not fingerprints:
            return []
        async with self._redis.pipeline(transaction=False) as pipeline:
            for name in ("seed", "also", "reasons"):
                pipeline.hmget(self._key(partition, name), fingerprints)
            for name in ("execute", "fail"):
                pipeline.zmscore(self._key(partition, name), fingerprints)
            rows = zip(fingerprints, *await pipeline.execute(), strict=True)
        unfinished = []
        for fingerprint, raw, further, reason, claimed_at, failed_at in rows:
            if raw is None:
                continue
            state: State = "executing" if claimed_at is not None else "failed" if failed_at is not None else "ready"
            with contextlib.suppress(FrontierError):  # a damaged seed; claims fail those
                seed = Seed.load(raw, self._frontier)
                unfinished.append(UnfinishedSeed(partition, fingerprint, seed, further, state, as_text(reason or b"")))
        return unfinished

    async def _move(
        self,
        script: str,
        head: Sequence[str],
        plan: str | None,
        *,
        is_wanted: Callable[[UnfinishedSeed], bool] | None = None,
        state: State | None = None,
        progress: Progress = unheard,
    ) -> int:
        """Runs a script over seeds; each batch is moved before the next is looked for.

        Args:
            head: The script's first arguments; fingerprints follow.
            plan: Whose seeds; None for those of all plans.
            is_wanted: Which of them; None for all.
            state: The state that they are in, for all of which there is one set.
            progress: Told of each batch how many were moved.

        Returns:
            How many the script moved.
        """
        moved = 0
        for partition in range(self._queue.partitions):
            async for fingerprints in self._fingerprints(partition, state, plan):
                chosen = fingerprints
                if is_wanted is not None:
                    chosen = [
                        seed.fingerprint for seed in await self._look_up(partition, fingerprints) if is_wanted(seed)
                    ]
                while chosen:
                    number, seeds_done = await self._run(script, partition, [*head, *chosen[:MOVE_BATCH]])
                    moved, chosen = moved + number, chosen[seeds_done:]
                    progress(number)
        return moved

    def _key(self, partition: int, name: str) -> str:
        return self._queue.keys.partition(partition).of(self._frontier, name)

    async def _run(self, name: str, partition: int, arguments: Sequence[Any]) -> Any:
        keys = self._queue.keys.partition(partition).script_keys(self._frontier)
        return await scripts.run(self._redis, name, keys, arguments)

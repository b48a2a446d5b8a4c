"""What operators do to many seeds at once: find them, retry failed ones, resume, cancel, drop or forget a plan's."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from crawler.errors import FrontierError
from crawler.frontier import scripts
from crawler.frontier.keys import as_text
from crawler.frontier.ledger import SCAN_COUNT
from crawler.models import Seed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from crawler.frontier.queue import Queue

MOVE_BATCH = 500  # seeds moved by one call of a script: some 5 ms of Redis's time
State = Literal["ready", "executing", "failed"]


@dataclass(frozen=True, slots=True)
class Found:
    """A seed that isn't finished.

    Attributes:
        state: `ready` also for parked and quarantined seeds.
        reason: Why it was retried or failed last; empty when it never was.
    """

    partition: int
    fingerprint: bytes
    seed: Seed
    state: State
    reason: str


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

    async def seeds(self, state: State | None = None) -> AsyncIterator[Found]:
        """Yields every seed that isn't finished, in no order; one that moves meanwhile may come twice.

        Args:
            state: Only the seeds in this state; None for all.
        """
        for partition in range(self._queue.partitions):
            async for fingerprints in self._fingerprints(partition, state):
                for found in await self._look_up(partition, fingerprints):
                    if state in (None, found.state):
                        yield found

    async def retry(self, wanted: Callable[[Found], bool]) -> int:
        """Makes those failed seeds ready again that are wanted; returns how many."""
        return await self._move("retry", "failed", wanted, [self._queue.keys.wake(self._frontier)])

    async def resume(self, plan: str) -> int:
        """Makes the parked seeds of a plan ready again; returns how many."""
        total = 0
        for partition in range(self._queue.partitions):
            arguments = [self._queue.keys.wake(self._frontier), plan, MOVE_BATCH]
            while moved := await self._run("resume", partition, arguments):
                total += moved
        return total

    async def cancel(self, plan: str, reason: str = "cancelled") -> int:
        """Fails the waiting seeds of a plan that is marked as cancelled; those that are executing end by themselves.

        Returns:
            How many failed.
        """
        return await self._move("cancel", "ready", lambda found: found.seed.plan == plan, [reason])

    async def drop(self, wanted: Callable[[Found], bool], reason: str) -> int:
        """Ends seeds at once, executing ones too, as failed for `reason`, and forgets them; they may be offered again.

        Seeds that had failed before are forgotten likewise; the ledger keeps the reason of that.

        Returns:
            How many were dropped.
        """
        return await self._move("drop", None, wanted, [reason])

    async def forget(self, plan: str, site: str) -> bool:
        """Forgets a plan's failed seeds and ledger; returns False when some of it is still ready or executing."""
        await self._move(
            "drop", "failed", lambda found: (found.seed.plan, found.seed.site) == (plan, site), ["deleted"]
        )
        return all([await self._run("forget", number, [plan, site]) for number in range(self._queue.partitions)])

    async def _fingerprints(self, partition: int, state: State | None) -> AsyncIterator[list[bytes]]:
        """Yields fingerprints in batches: those of one set where the state has one, else of all seeds."""
        if state == "executing":  # never more than the workers carry
            yield await self._redis.zrange(self._key(partition, "execute"), 0, -1)
            return
        cursor = 0
        while True:
            if state == "failed":
                cursor, entries = await self._redis.zscan(self._key(partition, "fail"), cursor, count=SCAN_COUNT)
                yield [fingerprint for fingerprint, _score in entries]
            else:
                cursor, seeds = await self._redis.hscan(self._key(partition, "seed"), cursor, count=SCAN_COUNT)
                yield list(seeds)
            if not cursor:
                return

    async def _look_up(self, partition: int, fingerprints: list[bytes]) -> list[Found]:
        """Returns what is known of some seeds; without those that are finished by now, or damaged."""
        if not fingerprints:
            return []
        async with self._redis.pipeline(transaction=False) as pipeline:
            for name in ("seed", "reasons"):
                pipeline.hmget(self._key(partition, name), fingerprints)
            for name in ("execute", "fail"):
                pipeline.zmscore(self._key(partition, name), fingerprints)
            rows = zip(fingerprints, *await pipeline.execute(), strict=True)
        found = []
        for fingerprint, raw, reason, claimed_at, failed_at in rows:
            if raw is None:
                continue
            state: State = "executing" if claimed_at is not None else "failed" if failed_at is not None else "ready"
            with contextlib.suppress(FrontierError):  # a damaged seed; claims fail those
                seed = Seed.load(raw, self._frontier)
                found.append(Found(partition, fingerprint, seed, state, as_text(reason or b"")))
        return found

    async def _move(
        self, script: str, state: State | None, wanted: Callable[[Found], bool], head: Sequence[str]
    ) -> int:
        """Runs a script over those seeds that are wanted; each batch is moved before the next is looked for.

        Args:
            head: The script's first arguments; fingerprints follow.

        Returns:
            How many the script moved.
        """
        moved = 0
        for partition in range(self._queue.partitions):
            async for fingerprints in self._fingerprints(partition, state):
                looked_up = await self._look_up(partition, fingerprints)
                chosen = [one.fingerprint for one in looked_up if state in (None, one.state) and wanted(one)]
                for start in range(0, len(chosen), MOVE_BATCH):
                    moved += await self._run(script, partition, [*head, *chosen[start : start + MOVE_BATCH]])
        return moved

    def _key(self, partition: int, name: str) -> str:
        return self._queue.keys.partition(partition).of(self._frontier, name)

    async def _run(self, name: str, partition: int, arguments: Sequence[Any]) -> int:
        keys = self._queue.keys.partition(partition).script_keys(self._frontier)
        return int(await scripts.run(self._redis, name, keys, arguments))

"""What operators do to seeds: look at them, retry failed ones, park, fail, drop and forget those of a plan."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from crawler.errors import FrontierError
from crawler.frontier import finished, scripts
from crawler.frontier.keys import as_count, partition_of
from crawler.frontier.ledger import SCAN_COUNT
from crawler.models import Seed
from crawler.servers.redis_cluster import primary_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from crawler.frontier.queue import Queue

MOVE_BATCH = 500  # seeds moved in one script call: some 5 ms of Redis's time
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


@dataclass(frozen=True, slots=True)
class SeedInfo:
    """Where a seed is, and why it is not done.

    Attributes:
        state: `ready`, `quarantined`, `parked`, `executing`, `failed`, `finished` or `unknown`.
        why: The answer in words.
        seed: The seed; None when it is finished or unknown: the frontier keeps no more than its fingerprint then.
        details: Figures behind it: due time, tries, claim, last reason.
    """

    state: str
    why: str
    fingerprint: str
    seed: dict[str, Any] | None
    details: dict[str, Any]


class SeedAdmin:
    """Operations on one frontier that are not part of the crawl itself.

    Every method may raise `redis.exceptions.RedisError` when Redis is away; calling again then completes it. A full
    Redis hinders none: what they read is read without a transaction, which Redis 7.0 would refuse then, and the scripts
    look again before they move anything.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._redis: Any = queue.redis  # its types don't know that answers are bytes
        self._frontier = queue.frontier

    async def seeds(self, state: State | None = None) -> AsyncIterator[Found]:
        """Yields every seed that isn't finished, in no order; one that moves meanwhile may come twice.

        Args:
            state: Only these; None for all.
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
        """Puts the parked seeds of a plan back; returns how many."""
        total = 0
        for partition in range(self._queue.partitions):
            arguments = [self._queue.keys.wake(self._frontier), plan, MOVE_BATCH]
            while moved := await self._run("resume", partition, arguments):
                total += moved
        return total

    async def cancel(self, plan: str, reason: str = "cancelled") -> int:
        """Fails what a plan that is marked cancelled has ready; what is executing ends by itself. Returns how many."""
        return await self._move("cancel", "ready", lambda found: found.seed.plan == plan, [reason])

    async def drop(self, wanted: Callable[[Found], bool], reason: str) -> int:
        """Ends seeds at once, also executing ones, as failed for `reason`, and forgets them; returns how many.

        They may be offered again. Failed ones are forgotten likewise, their reason in the ledger stays.
        """
        return await self._move("drop", None, wanted, [reason])

    async def forget(self, plan: str, site: str) -> bool:
        """Forgets a plan's failed seeds and ledger; returns False when some of it is still ready or executing."""
        await self._move(
            "drop", "failed", lambda found: (found.seed.plan, found.seed.site) == (plan, site), ["deleted"]
        )
        return all([await self._run("forget", number, [plan, site]) for number in range(self._queue.partitions)])

    async def show(self, seed: Seed) -> SeedInfo:
        """Returns where a seed is and why it is not done.

        Raises:
            FrontierError: Redis holds something else under its fingerprint.
        """
        partition, fingerprint = partition_of(seed.host, self._queue.partitions), seed.fingerprint
        raw = await self._redis.hget(self._key(partition, "seed"), fingerprint)
        if raw is None:
            return await self._gone(partition, fingerprint)
        stored = Seed.load(raw, self._frontier)
        async with self._redis.pipeline(transaction=False) as pipeline:
            for name in ("tries", "reasons", "claims", "crashes"):
                pipeline.hget(self._key(partition, name), fingerprint)
            for name in ("fail", "execute", "suspects", f"parked:{stored.plan}", f"ready:{stored.host}"):
                pipeline.zscore(self._key(partition, name), fingerprint)
            tries, reason, claim, crashes, *scores = await pipeline.execute()
        seconds, micros = await self._redis.time(**await primary_of(self._redis, self._key(partition, "seed")))
        now_ms = int(seconds) * 1000 + int(micros) // 1000
        at_ms = next((int(score) for score in scores if score is not None), None)
        details: dict[str, Any] = {"tries": int(tries or 0), "reason": _text(reason), "score_ms": at_ms}
        failed, executing, suspect, parked, ready = (score is not None for score in scores)
        state, why = "unknown", "its record is there, but it is in no set: run scrapy ledger --verify"
        if failed:
            state, why = "failed", f"failed for good with {details['reason'] or 'no reason'}"
        elif executing and at_ms is not None:
            details["claim"] = _text(claim) or "?"
            state, why = "executing", await self._held(partition, details["claim"], now_ms, at_ms)
        elif suspect:
            details["crashes_alone"] = int(crashes or 0)
            state, why = (
                "quarantined",
                "two workers died while they held it; it waits for one that carries nothing else",
            )
        elif parked:
            state, why = "parked", f"plan {stored.plan} is paused"
        elif ready and at_ms is not None:
            state, why = "ready", await self._waits(partition, stored, fingerprint, now_ms, at_ms)
            why += _past(details, suspected=crashes is not None)
        return SeedInfo(state, why, fingerprint.hex(), asdict(stored), details)

    async def _held(self, partition: int, claim: str, now_ms: int, at_ms: int) -> str:
        deadline = await self._redis.zscore(self._queue.keys.partition(partition).sessions, claim.rpartition("#")[0])
        alive = deadline is not None and deadline > now_ms
        who = f"{claim}, which is alive" if alive else f"{claim}, whose session has lapsed: the next claim takes it"
        return f"held for {(now_ms - at_ms) / 1000:.0f} s by {who}"

    async def _waits(self, partition: int, seed: Seed, fingerprint: bytes, now_ms: int, due_ms: int) -> str:
        keys = self._queue.keys.partition(partition)
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.zrank(keys.of(self._frontier, f"ready:{seed.host}"), fingerprint)
            pipeline.smismember(keys.paused, [f"pause {seed.plan}", f"cancel {seed.plan}"])
            pipeline.hgetall(keys.turn(seed.host))
            ahead, (paused, cancelled), turns = await pipeline.execute()
        held = sum(name.startswith(b"h") for name in turns)
        reasons = []
        if paused or cancelled:
            reasons.append(f"plan {seed.plan} is {'paused' if paused else 'cancelled'}")
        if due_ms > now_ms:
            reasons.append(f"due in {(due_ms - now_ms) / 1000:.0f} s")
        elif ahead:
            reasons.append(f"due, {ahead} seeds of {seed.host} before it")
        else:
            reasons.append(f"due, the next of {seed.host}")
        if (alone_ms := float(turns.get(b"x", 0)) - now_ms) > 0:
            reasons.append(f"{seed.host} asked to be left alone for {alone_ms / 1000:.0f} s")
        if held:
            reasons.append(f"{seed.host} is being crawled, {held} of its turns are taken")
        return "; ".join(reasons)

    async def _gone(self, partition: int, fingerprint: bytes) -> SeedInfo:
        buckets = as_count(await self._redis.hget(self._key(partition, "counts"), "buckets") or b"1") or 1
        bucket = finished.bucket_of(fingerprint, max(1, buckets))
        packed = await self._redis.hget(self._key(partition, "finish"), bucket)
        at_s = finished.finished_s(packed or b"", fingerprint)
        if at_s is None:
            return SeedInfo("unknown", "it was never offered, or long forgotten", fingerprint.hex(), None, {})
        return SeedInfo("finished", "done and delivered", fingerprint.hex(), None, {"finished_s": at_s})

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
        for fingerprint, raw, reason, execute, fail in rows:
            if raw is not None:
                with contextlib.suppress(FrontierError):  # claims fail what isn't a seed
                    seed = Seed.load(raw, self._frontier)
                    found.append(Found(partition, fingerprint, seed, _state(execute, fail), _text(reason)))
        return found

    async def _move(
        self, script: str, state: State | None, wanted: Callable[[Found], bool], head: Sequence[str]
    ) -> int:
        """Runs a script over those seeds that are wanted; each batch is moved before the next is looked for."""
        done = 0
        for partition in range(self._queue.partitions):
            async for fingerprints in self._fingerprints(partition, state):
                looked_up = await self._look_up(partition, fingerprints)
                chosen = [one.fingerprint for one in looked_up if state in (None, one.state) and wanted(one)]
                for batch in _batches(chosen):
                    done += await self._run(script, partition, [*head, *batch])
        return done

    def _key(self, partition: int, name: str) -> str:
        return self._queue.keys.partition(partition).of(self._frontier, name)

    async def _run(self, name: str, partition: int, arguments: Sequence[Any]) -> int:
        keys = self._queue.keys.partition(partition).script_keys(self._frontier)
        return int(await scripts.run(self._redis, name, keys, arguments))


def _state(execute: float | None, fail: float | None) -> State:
    return "executing" if execute is not None else "failed" if fail is not None else "ready"


def _past(details: dict[str, Any], *, suspected: bool) -> str:
    """Returns what a ready seed has been through; empty when it is new."""
    tried = f"; tried {details['tries']} times, the last ended with {details['reason']}" if details["reason"] else ""
    return tried + ("; a worker died while it held it: should one more, it runs alone" if suspected else "")


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")


def _batches(fingerprints: Sequence[bytes]) -> list[Sequence[bytes]]:
    return [fingerprints[start : start + MOVE_BATCH] for start in range(0, len(fingerprints), MOVE_BATCH)]

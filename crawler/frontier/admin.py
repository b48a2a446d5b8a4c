"""What operators do to seeds: look at them, retry failed ones, resume and cancel plans, forget deleted ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from crawler.frontier import scripts
from crawler.frontier.keys import partition_of
from crawler.frontier.ledger import SCAN_COUNT
from crawler.models import Seed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from crawler.frontier.queue import Queue

MOVE_BATCH = 500  # seeds moved in one script call
State = str


@dataclass(frozen=True, slots=True)
class SeedInfo:
    """Where a seed is, and why it is not done.

    Attributes:
        state: `ready`, `suspect`, `parked`, `executing`, `failed`, `finished` or `unknown`.
        why: The answer in words.
        details: Figures behind it: due time, tries, claim, last reason.
    """

    state: State
    why: str
    fingerprint: str
    seed: dict[str, Any] | None
    details: dict[str, Any]


class Admin:
    """Operations on one frontier that are not part of the crawl itself."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._redis = queue.redis
        self._frontier = queue.frontier

    def _key(self, partition: int, name: str) -> str:
        return self._queue.keys.partition(partition).of(self._frontier, name)

    async def _run(self, name: str, partition: int, arguments: Sequence[Any]) -> int:
        keys = self._queue.keys.partition(partition).script_keys(self._frontier)
        return int(await scripts.run(self._redis, name, keys, arguments))

    async def seeds(self, wanted: Callable[[Seed], bool], state: State = "") -> AsyncIterator[tuple[int, bytes, Seed, State]]:
        """Yields (partition, fingerprint, seed, state) of every seed that isn't finished and is wanted, in no order.

        Args:
            state: `ready`, `executing` or `failed`; empty for all.
        """
        for partition in range(self._queue.partitions):
            executing = set(await self._redis.zrange(self._key(partition, "execute"), 0, -1))
            failed = set(await self._redis.zrange(self._key(partition, "fail"), 0, -1))
            async for fingerprint, value in self._redis.hscan_iter(self._key(partition, "seed"), count=SCAN_COUNT):
                is_in = "executing" if fingerprint in executing else "failed" if fingerprint in failed else "ready"
                if state and is_in != state:
                    continue
                seed = Seed.load(value, self._frontier)
                if wanted(seed):
                    yield partition, fingerprint, seed, is_in

    async def reason(self, partition: int, fingerprint: bytes) -> str:
        """Returns why a seed was retried or failed last; empty when it never was."""
        raw = await self._redis.hget(self._key(partition, "reasons"), fingerprint)
        return raw.decode() if raw else ""

    async def retry(self, wanted: Callable[[Seed], bool], reason: str = "") -> int:
        """Makes failed seeds ready again; returns how many.

        Args:
            reason: Only those that failed for it; empty for all.
        """
        by_partition: dict[int, list[bytes]] = {}
        async for partition, fingerprint, _seed, _state in self.seeds(wanted, "failed"):
            if not reason or await self.reason(partition, fingerprint) == reason:
                by_partition.setdefault(partition, []).append(fingerprint)
        return await self._in_batches("retry", by_partition, [self._queue.keys.wake(self._frontier)])

    async def resume(self, plan: str) -> int:
        """Puts the parked seeds of a plan back; returns how many."""
        total = 0
        for partition in range(self._queue.partitions):
            arguments = [self._queue.keys.wake(self._frontier), plan, MOVE_BATCH]
            while moved := await self._run("resume", partition, arguments):
                total += moved
        return total

    async def cancel(self, plan: str, reason: str = "cancelled") -> int:
        """Fails what a cancelled plan has ready; what is executing ends by itself. Returns how many."""
        by_partition: dict[int, list[bytes]] = {}
        async for partition, fingerprint, _seed, _state in self.seeds(lambda seed: seed.plan == plan, "ready"):
            by_partition.setdefault(partition, []).append(fingerprint)
        return await self._in_batches("cancel", by_partition, [reason])

    async def forget(self, plan: str, site: str) -> bool:
        """Forgets a plan's failed seeds and ledger; returns False when some of it is still ready or executing."""
        by_partition: dict[int, list[bytes]] = {}
        mine = lambda seed: seed.plan == plan and seed.site == site  # noqa: E731 -- one line says it best
        async for partition, fingerprint, _seed, _state in self.seeds(mine, "failed"):
            by_partition.setdefault(partition, []).append(fingerprint)
        for partition in range(self._queue.partitions):
            if not await self._run("forget", partition, [plan, site, *by_partition.get(partition, ())]):
                return False
        return True

    async def show(self, seed: Seed) -> SeedInfo:
        """Returns where a seed is and why it is not done."""
        partition, fingerprint = partition_of(seed.host, self._queue.partitions), seed.fingerprint
        redis = self._redis
        raw = await redis.hget(self._key(partition, "seed"), fingerprint)
        if raw is None:
            return await self._gone(partition, fingerprint)
        stored = Seed.load(raw, self._frontier)
        now = await self._now_ms()
        details: dict[str, Any] = {
            "tries": int(await redis.hget(self._key(partition, "tries"), fingerprint) or 0),
            "reason": await self.reason(partition, fingerprint),
        }

        async def score(name: str) -> float | None:
            value: float | None = await redis.zscore(self._key(partition, name), fingerprint)
            return value

        state, why = "unknown", "its record is there, but it is in no set: run scrapy ledger --verify"
        last = f" after {details['tries']} tries, the last ended with {details['reason']}" if details["reason"] else ""
        if (at := await score("fail")) is not None:
            state, why = "failed", f"failed for good with {details['reason']}; scrapy seeds retry makes it ready again"
        elif (at := await score("execute")) is not None:
            claim = (await redis.hget(self._key(partition, "claims"), fingerprint) or b"?").decode()
            details["claim"] = claim
            deadline = await redis.zscore(self._queue.keys.partition(partition).sessions, claim.partition("#")[0])
            alive = deadline is not None and deadline > now
            held_s = (now - at) / 1000
            why = f"held for {held_s:.0f} s by {claim}, " + ("which is alive" if alive else "whose session has lapsed: the next claim takes it")
            state = "executing"
        elif (at := await score("suspects")) is not None:
            state, why = "suspect", "its worker died while it held it; it waits for a worker that carries nothing else"
        elif (at := await score(f"parked:{stored.plan}")) is not None:
            state, why = "parked", f"plan {stored.plan} is paused; scrapy plan resume {stored.plan} lets it go on"
        elif (at := await score(f"ready:{stored.host}")) is not None:
            ahead = await redis.zrank(self._key(partition, f"ready:{stored.host}"), fingerprint)
            due_s = (at - now) / 1000
            wait = f"due in {due_s:.0f} s" if due_s > 0 else f"due, {ahead} seeds of {stored.host} before it"
            state, why = "ready", wait + last
        if at is not None:
            details["score_ms"] = int(at)
        return SeedInfo(state, why, fingerprint.hex(), asdict(stored), details)

    async def _gone(self, partition: int, fingerprint: bytes) -> SeedInfo:
        async for key in self._redis.scan_iter(match=_finish_pattern(self._key(partition, "finish:")), count=SCAN_COUNT):
            at = await self._redis.zscore(key, fingerprint[:8])
            if at is not None:
                return SeedInfo("finished", "done and delivered", fingerprint.hex(), None, {"finished_s": int(at)})
        return SeedInfo("unknown", "it was never offered, or long forgotten", fingerprint.hex(), None, {})

    async def _now_ms(self) -> int:
        seconds, micros = await self._redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    async def _in_batches(self, name: str, by_partition: dict[int, list[bytes]], head: list[str]) -> int:
        done = 0
        for partition, fingerprints in by_partition.items():
            for start in range(0, len(fingerprints), MOVE_BATCH):
                done += await self._run(name, partition, [*head, *fingerprints[start : start + MOVE_BATCH]])
        return done


def _finish_pattern(prefix: str) -> str:
    return "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in prefix) + "*"

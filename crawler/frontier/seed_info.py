"""Where one seed is, and why it is not done: what `scrapy seeds show` tells an operator."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from crawler.base.models import Seed, further_plans
from crawler.frontier import clock
from crawler.frontier.finished import bucket_of, finished_for
from crawler.frontier.keys import PartitionKeys, TurnField, as_count, as_text, partition_of
from crawler.frontier.order import due_of
from crawler.frontier.queue import DELIVERED

if TYPE_CHECKING:
    from crawler.frontier.queue import Queue


IN_FILTERS = "done and delivered, as filters have it, which may err (DEDUP_ERROR_RATE)"


@dataclass(frozen=True, slots=True)
class SeedInfo:
    """Where a seed is, and why it is not done.

    Attributes:
        state: `ready`, `quarantined`, `parked`, `executing`, `failed`, `finished` or `unknown`.
        why: The answer in words.
        fingerprint: In hex.
        seed: The seed; None when it is finished or unknown, since the frontier then keeps its fingerprint at most.
        details: What the answer rests on: due time, tries, claim, last reason; and the `plans` that it is known for.
    """

    state: str
    why: str
    fingerprint: str
    seed: dict[str, Any] | None
    details: dict[str, Any]


async def seed_info(queue: Queue, seed: Seed) -> SeedInfo:
    """Returns where a seed is and why it is not done. Its URL, method and body (nav: plan and edition) identify it.

    Reads without a transaction, which Redis 7.0 would refuse when it is full.

    Raises:
        FrontierError: Redis holds something else under its fingerprint.
    """
    redis: Any = queue.redis  # its types don't know that answers are bytes
    keys, fingerprint = queue.keys.partition(partition_of(seed.host, queue.partitions)), seed.fingerprint
    raw = await redis.hget(keys.of(queue.frontier, "seed"), fingerprint)
    if raw is None:
        return await _without_record(queue, keys, fingerprint)
    stored = Seed.load(raw, queue.frontier)
    host = as_text(raw.split(b" ", 1)[0])
    async with redis.pipeline(transaction=False) as pipeline:
        for name in ("tries", "reasons", "claims", "crashes", "also"):
            pipeline.hget(keys.of(queue.frontier, name), fingerprint)
        for name in ("fail", "execute", "quarantine", "parked", f"ready:{host}"):
            pipeline.zscore(keys.of(queue.frontier, name), fingerprint)
        tries, reason, claim, crashes, also, *scores = await pipeline.execute()
    now_ms = await clock.now_ms(redis, keys)
    at_ms = next((due_of(_whole(score)) for score in scores if score is not None), None)
    plans = [stored.plan, *further_plans(also)]
    details: dict[str, Any] = {"tries": _whole(tries), "reason": as_text(reason or b""), "score_ms": at_ms}
    details["plans"] = plans
    failed, executing, quarantined, parked, ready = (score is not None for score in scores)
    state, why = "unknown", "its record is there, but it is in no set: run scrapy ledger --verify"
    if failed:
        state, why = "failed", f"failed for good with {details['reason'] or 'no reason'}"
    elif executing and at_ms is not None:
        details["claim"] = as_text(claim or b"?")
        state, why = "executing", await _why_executing(redis, keys, details["claim"], now_ms, at_ms)
    elif quarantined:
        details["crashes_alone"] = _whole(crashes)
        state, why = "quarantined", "two workers died while they held it; it waits for one that carries nothing else"
    elif parked:
        state, why = "parked", " and ".join(f"plan {plan} is paused" for plan in plans)
    elif ready and host == DELIVERED:
        state, why = "ready", f"delivered before; {', '.join(plans)} will be told of it without a fetch"
    elif ready and at_ms is not None:
        state, why = "ready", await _why_ready(queue, keys, stored, details, now_ms)
        why += _history(details, suspected=crashes is not None)
    return SeedInfo(state, why, fingerprint.hex(), asdict(stored), details)


async def _why_executing(redis: Any, keys: PartitionKeys, claim: str, now_ms: int, claimed_ms: int) -> str:
    deadline_ms = await redis.zscore(keys.sessions, claim.rpartition("#")[0])
    is_alive = deadline_ms is not None and deadline_ms > now_ms
    who = f"{claim}, which is alive" if is_alive else f"{claim}, whose session has lapsed: the next claim takes it"
    return f"held for {(now_ms - claimed_ms) / 1000:.0f} s by {who}"


async def _why_ready(queue: Queue, keys: PartitionKeys, seed: Seed, details: dict[str, Any], now_ms: int) -> str:
    plans, due_ms = details["plans"], details["score_ms"]
    async with queue.redis.pipeline(transaction=False) as pipeline:
        pipeline.zrank(keys.of(queue.frontier, f"ready:{seed.host}"), seed.fingerprint)
        pipeline.hmget(keys.plan_states, plans)
        pipeline.hgetall(keys.turn(seed.host))
        ahead, states, raw_turns = await pipeline.execute()
    turns = {as_text(name): value for name, value in raw_turns.items()}
    reasons = []
    states = [as_text(state or b"").rpartition(" ")[2] for state in states]
    if all(state in ("paused", "cancelled") for state in states):  # else it is crawled for those that go on
        reasons += [f"plan {plan} is {state}" for plan, state in zip(plans, states, strict=True)]
    if due_ms > now_ms:
        reasons.append(f"due in {(due_ms - now_ms) / 1000:.0f} s")
    elif ahead:
        reasons.append(f"due, {ahead} other{'s' if ahead > 1 else ''} of {seed.host} before it")
    else:
        reasons.append(f"due, the next of {seed.host}")
    if (backoff_ms := _whole(turns.get(TurnField.BACKOFF_ENDS)) - now_ms) > 0:
        reasons.append(f"{seed.host} is asked nothing for {backoff_ms / 1000:.0f} s, as it asked for or since it fails")
    if TurnField.PAUSED in turns:
        reasons.append(f"an operator has paused {seed.host}")
    if held := sum(name.startswith(TurnField.HOLDER) for name in turns):
        reasons.append(f"{seed.host} is being crawled, {held} of its turns are taken")
    return "; ".join(reasons)


def _history(details: dict[str, Any], *, suspected: bool) -> str:
    """Returns what a ready seed has been through; empty when it is new."""
    tried = f"; tried {details['tries']} times, the last ended with {details['reason']}" if details["reason"] else ""
    return tried + ("; a worker died while it held it: should one more, it is quarantined" if suspected else "")


async def _without_record(queue: Queue, keys: PartitionKeys, fingerprint: bytes) -> SeedInfo:
    """Returns the answer for a seed that is finished or unknown."""
    redis: Any = queue.redis
    buckets = as_count(await redis.hget(keys.of(queue.frontier, "counts"), "finished_buckets") or b"1") or 1
    packed = await redis.hget(keys.of(queue.frontier, "finish"), bucket_of(fingerprint, max(1, buckets)))
    moved_to = await redis.hget(keys.of(queue.frontier, "moved"), fingerprint)
    records = list(finished_for(packed or b"", fingerprint))
    numbers = await redis.hgetall(keys.of(queue.frontier, "plan_numbers"))
    names = {_whole(number): as_text(plan) for plan, number in numbers.items()}
    if not records and (plans := await queue.plans_in_filters(keys, fingerprint, [*names.values()])):
        return SeedInfo("finished", IN_FILTERS, fingerprint.hex(), None, {"plans": plans})
    if not records:
        return SeedInfo("unknown", "it was never offered, or long forgotten", fingerprint.hex(), None, {})
    details: dict[str, Any] = {"plans": [names[number] for number, _at_s in records if number in names]}
    if times := [at_s for _number, at_s in records if at_s]:
        details["finished_s"] = times[0]
    if moved_to:
        details["moved_to"] = as_text(moved_to)
    why = f"done: {details['moved_to']} is crawled in its place" if moved_to else "done and delivered"
    return SeedInfo("finished", why, fingerprint.hex(), None, details)


def _whole(number: bytes | float | None) -> int:
    """Returns a number that Redis holds, as a whole one; 0 for junk and for none."""
    try:
        return int(float(number or 0))
    except (ValueError, OverflowError):  # no number; not a finite one
        return 0

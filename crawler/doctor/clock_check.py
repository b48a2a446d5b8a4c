"""This node's clock against Redis's. The frontier goes by Redis's alone, but items say when a page was fetched."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from crawler.doctor.finding import Finding, advice, loss, ok

if TYPE_CHECKING:
    from crawler.doctor.redis_server import ExaminedRedis

OFF_MAX_SECONDS = 1.0  # how much a clock may be off: clocks that are kept by NTP differ by milliseconds
# How much a clock must be off for versions of a page to be confused: the one with the later `time` stays in Mongo, and
# nothing is visited twice within a minute.
VERSIONS_CONFUSED_SECONDS = 60.0


async def clock(examined: ExaminedRedis) -> Finding:
    """Looks at how far the two are apart."""
    redis: Any = examined.redis
    asked = time.time()
    seconds, microseconds = await redis.time()
    answered = time.time()
    return judge_clock((asked + answered) / 2 - (seconds + microseconds / 1_000_000), (answered - asked) / 2)


def judge_clock(ahead_s: float, unsure_s: float) -> Finding:
    """Returns what it means that this node's clock is so far ahead of Redis's.

    Args:
        unsure_s: By how much the said time may be wrong.
    """
    off_s = max(0.0, abs(ahead_s) - unsure_s)
    apart = f"this node's clock is {abs(ahead_s):.2f} s {'ahead of' if ahead_s > 0 else 'behind'} Redis's"
    if off_s >= VERSIONS_CONFUSED_SECONDS:
        return loss(
            f"{apart}: items have a wrong `time`, by which Mongo and readers tell a page's newer version from an older "
            "one; have NTP set both"
        )
    if off_s >= OFF_MAX_SECONDS:
        return advice(f"{apart}, and items have a wrong `time`; have NTP set both")
    return ok(apart)

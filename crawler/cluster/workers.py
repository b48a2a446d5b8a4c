"""Which workers there are: what each last reported of itself, and whether its session is alive."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import orjson

from crawler.frontier import clock
from crawler.frontier.keys import as_text
from crawler.frontier.owners import is_worker, owner_node, process_of
from crawler.frontier.session import LAPSED_SHOWN_SECONDS, RENEWALS_PER_SESSION

if TYPE_CHECKING:
    from crawler.base.models import Frontier
    from crawler.frontier.keys import Keys
    from crawler.plans.operator import Operator

# The share of a session that is left when three renewals were missed: 6 s of 15 s.
LEFT_OF_OVERDUE = 1 - 3 / RENEWALS_PER_SESSION
SPIDERS: dict[Frontier, str] = {"nav": "producer", "content": "consumer"}
REPORTED_NUMBERS = tuple(
    """carrying pages_per_minute egress_down_s room cpu_percent memory_percent own_cpu_percent own_memory_percent
    memory_limit_percent cpu_limit_percent first_batch weight""".split()
)


async def read_workers(operator: Operator) -> list[dict[str, Any]]:
    """Returns the workers, sorted by node and process, as JSON values; empty when none runs.

    Each has `node`, `owner`, `version` (empty: it doesn't say, as none did up to 0.1.0), `frontier`, the numbers that
    it reported (None for one that it didn't, and of a worker that lapsed), `drained` (whether it heeds an operator's
    order to claim nothing), `sinks_down`, `why_no_claims` (why it claims nothing, in words; empty: it does, or carries
    as much as it can), `why_no_browser` (why it leaves pages to others that are to be rendered; empty: it renders them,
    or has met none), `age_s` since its last report, `session_s` until its session lapses (negative: since it lapsed;
    None: it has none), `is_overdue` (it has missed renewals of its session, as one that was killed), and `state`:

    - `alive`;
    - `redis-full`: alive, but Redis refuses claims and offers;
    - `silent`: its session is alive, but its next report, which its last one promised, is overdue by SESSION_SECONDS;
    - `lapsed`: its session is over, and other workers get the seeds that it held. It is left out when that is
      LAPSED_SHOWN_SECONDS ago, or when another worker of its node has found it silent.
    """
    redis: Any = operator.redis  # redis-py's types don't know that answers are bytes
    now_ms = await operator.registry.now_ms()
    owners: dict[str, str] = {}  # process -> the owner id under which it reports; of one that doesn't, any it has
    reports: dict[str, dict[str, Any]] = {}  # by process: what it has reported last
    left_ms: dict[str, float] = {}  # by process: what is left of the lease that lapses first
    for number in range(operator.partitions):
        keys = operator.keys.partition(number)
        here_ms = await clock.now_ms(redis, keys)
        # The leases in this partition: one that was lost is there beside the one that followed it.
        leases: dict[str, float] = {}
        for name, deadline_ms in await redis.zrange(keys.sessions, 0, -1, withscores=True):
            if is_worker(owner := as_text(name)):
                owners[process_of(owner)] = owner
                leases[process_of(owner)] = deadline_ms - here_ms  # the latest: they come in the order of deadlines
        for process, lease_ms in leases.items():
            left_ms[process] = min(lease_ms, left_ms.get(process, math.inf))
    for owner, report in await read_reports(redis, operator.keys):
        owners[process_of(owner)], reports[process_of(owner)] = owner, report
    return [
        _describe(owner, reports.get(process, {}), left_ms.get(process), now_ms, operator.session_s)
        for process, owner in sorted(owners.items())
        if left_ms.get(process, 0) >= -1000 * LAPSED_SHOWN_SECONDS
    ]


async def read_reports(redis: Any, keys: Keys) -> list[tuple[str, dict[str, Any]]]:
    """Returns what each worker has reported last, under the owner id that it reports by."""
    async with redis.pipeline(transaction=False) as pipeline:
        for node in await redis.zrange(keys.node_names, 0, -1):
            pipeline.hgetall(keys.node(as_text(node)))
        of_nodes = await pipeline.execute()
    return [(as_text(owner), load_report(raw)) for of_node in of_nodes for owner, raw in of_node.items()]


def load_report(raw: bytes) -> dict[str, Any]:
    """Returns figures as a worker wrote them; none for junk."""
    try:
        report = orjson.loads(raw)
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}


def _describe(
    owner: str, report: dict[str, Any], session_ms: float | None, now_ms: int, session_length_s: float
) -> dict[str, Any]:
    length_s = reported(report, "session_length_s") or session_length_s  # older workers don't say theirs
    reported_s = _number(report.get("time"))
    age_s = None if reported_s is None else max(0.0, round(now_ms / 1000 - reported_s, 1))
    session_s = None if session_ms is None else round(session_ms / 1000, 1)
    if session_s is None or session_s < 0:
        state = "lapsed"
    elif age_s is not None and age_s > reported(report, "next_s") + length_s:
        state = "silent"
    else:
        state = "redis-full" if report.get("redis_full") is True else "alive"
    down = report.get("sinks_down")
    return {
        "node": owner_node(owner),
        "owner": owner,
        "version": str(report.get("version") or ""),
        "frontier": str(report.get("frontier") or ""),
        **{name: None if state == "lapsed" else _number(report.get(name)) for name in REPORTED_NUMBERS},
        "drained": report.get("drained") is True,
        "sinks_down": [str(sink) for sink in down] if isinstance(down, list) else [],
        **{name: _text(report.get(name)) for name in ("why_no_claims", "why_no_browser")},
        "age_s": age_s,
        "session_s": session_s,
        "is_overdue": session_s is not None and 0 <= session_s < length_s * LEFT_OF_OVERDUE,
        "state": state,
    }


def reported(report: dict[str, Any], name: str) -> float:
    """Returns one of a worker's figures; 0 for junk."""
    return _number(report.get(name)) or 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None

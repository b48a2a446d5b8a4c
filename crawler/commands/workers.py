"""Reads what workers say of themselves, and whether their sessions live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crawler.frontier.keys import as_text

if TYPE_CHECKING:
    from crawler.plans.operator import Operator

NUMBERS = (
    "carrying",
    "pages_per_minute",
    "room",
    "cpu_percent",
    "memory_percent",
    "own_cpu_percent",
    "own_memory_percent",
)


async def read_workers(operator: Operator) -> list[dict[str, Any]]:
    """Returns the workers by node and owner, as JSON values; empty when none runs.

    Each has `node`, `owner`, `frontier`, its figures (None where it hasn't told them), `sinks_down`, `age_s` since it
    last told them, `session_s` until its session lapses (negative: since it did; None: it has none), and `state`:
    `alive`, `redis-full` (alive, but claims and offers are refused), `silent` (a session, but no news for as long as a
    session lasts) or `lapsed` (what it held goes to others).
    """
    redis: Any = operator.redis  # its types don't know that answers are bytes
    now_ms = await operator.registry.now_ms()
    figures: dict[str, dict[str, Any]] = {}
    for node in await redis.zrange(operator.keys.node_names, 0, -1):
        for owner, raw in (await redis.hgetall(operator.keys.node(as_text(node)))).items():
            figures[as_text(owner)] = _figures(raw)
    deadlines: dict[str, float] = {}
    for number in range(operator.partitions):
        for owner, deadline in await redis.zrange(operator.keys.partition(number).sessions, 0, -1, withscores=True):
            name = as_text(owner)
            deadlines[name] = min(deadline, deadlines.get(name, deadline))
    owners = sorted(figures.keys() | deadlines.keys())
    return [
        _worker(owner, figures.get(owner, {}), deadlines.get(owner), now_ms, operator.session_s) for owner in owners
    ]


def _figures(raw: bytes) -> dict[str, Any]:
    try:
        figures = orjson.loads(raw)
    except ValueError:
        return {}
    return figures if isinstance(figures, dict) else {}


def _worker(
    owner: str, figures: dict[str, Any], deadline_ms: float | None, now_ms: int, silent_s: float
) -> dict[str, Any]:
    told_s = _number(figures.get("time"))
    age_s = None if told_s is None else max(0.0, round(now_ms / 1000 - told_s, 1))
    session_s = None if deadline_ms is None else round((deadline_ms - now_ms) / 1000, 1)
    if session_s is None or session_s < 0:
        state = "lapsed"
    elif age_s is not None and age_s > silent_s:
        state = "silent"
    else:
        state = "redis-full" if figures.get("redis_full") is True else "alive"
    down = figures.get("sinks_down")
    return {
        "node": owner.partition(":")[0],
        "owner": owner,
        "frontier": str(figures.get("frontier") or ""),
        **{name: _number(figures.get(name)) for name in NUMBERS},
        "sinks_down": [str(sink) for sink in down] if isinstance(down, list) else [],
        "age_s": age_s,
        "session_s": session_s,
        "state": state,
    }


def _number(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None

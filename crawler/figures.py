"""A worker's figures in Redis, for `scrapy nodes` and for its neighbours on the same node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crawler.frontier.scripts import even_when_full

if TYPE_CHECKING:
    from redis import Redis

    from crawler.frontier.keys import Keys
    from crawler.headroom import Load

NODE_SILENT_SECONDS = 60  # a worker's figures are forgotten after that


def of_load(load: Load) -> dict[str, float]:
    """Returns a load as figures, in percent of the node."""
    return {
        "cpu_percent": round(load.cpu, 1),
        "memory_percent": round(load.memory, 1),
        "own_cpu_percent": round(load.own_cpu, 1),
        "own_memory_percent": round(load.own_memory, 2),
    }


def publish(redis: Redis, keys: Keys, owner: str, figures: dict[str, Any]) -> int:
    """Writes an owner's figures and returns how many workers its node has, itself included. Blocking.

    A full Redis takes them too: they say that it is full. They are dated by its clock: a node's own may be wrong.
    """
    seconds, _micros = redis.time()
    node, now = owner.partition(":")[0], int(seconds)
    with redis.pipeline(transaction=False) as pipeline:
        even_when_full(pipeline, keys.node(node), "HSET", owner, orjson.dumps({**figures, "time": now}))
        pipeline.expire(keys.node(node), NODE_SILENT_SECONDS)
        even_when_full(pipeline, keys.node_names, "ZADD", now, node)
        pipeline.hgetall(keys.node(node))
        everybody = pipeline.execute()[-1]
    silent = [one for one, raw in everybody.items() if _told_s(raw) < now - NODE_SILENT_SECONDS]
    if silent:
        redis.hdel(keys.node(node), *silent)
    return len(everybody) - len(silent)


def _told_s(raw: bytes) -> float:
    """Returns when figures were told; 0 for junk."""
    try:
        return float(orjson.loads(raw)["time"])
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        return 0.0


def withdraw(redis: Redis, keys: Keys, owner: str) -> None:
    """Removes an owner's figures: it leaves. Blocking."""
    redis.hdel(keys.node(owner.partition(":")[0]), owner)

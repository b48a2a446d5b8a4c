"""A worker's figures in Redis, for `scrapy nodes` and for its neighbours on the same node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crawler.frontier.scripts import even_when_full

if TYPE_CHECKING:
    from redis import Redis

    from crawler.frontier.keys import Keys
    from crawler.worker.headroom import Load

NODE_SILENT_SECONDS = 60  # a worker's figures are forgotten after that
IDLE_SECONDS = 40  # between two words of a worker that carries nothing


def of_load(load: Load) -> dict[str, float]:
    """Returns a load as figures, in percent of the node."""
    return {
        "cpu_percent": round(load.cpu, 1),
        "memory_percent": round(load.memory, 1),
        "own_cpu_percent": round(load.own_cpu, 1),
        "own_memory_percent": round(load.own_memory, 2),
    }


class Heartbeat:
    """What one worker tells of itself.

    A worker that carries nothing says so at once, then seldom: nothing of it changes but the load.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._told: list[Any] = []  # last, but for the load
        self._silent_until_s = 0
        self._workers_here = 1

    def publish(self, redis: Redis, owner: str, figures: dict[str, Any], now_s: int) -> int:
        """Writes an owner's figures and returns how many workers its node has, itself included. Blocking.

        A full Redis takes them too: they say that it is full.

        Args:
            now_s: By Redis's clock: a node's own may be wrong.
        """
        state = [owner, *(figures.get(name) for name in ("carrying", "sinks_down", "redis_full"))]
        if state == self._told and not figures.get("carrying") and now_s < self._silent_until_s:
            return self._workers_here
        node = owner.partition(":")[0]
        with redis.pipeline(transaction=False) as pipeline:
            even_when_full(pipeline, self._keys.node(node), "HSET", owner, orjson.dumps({**figures, "time": now_s}))
            pipeline.expire(self._keys.node(node), NODE_SILENT_SECONDS)
            even_when_full(pipeline, self._keys.node_names, "ZADD", now_s, node)
            pipeline.hgetall(self._keys.node(node))
            everybody = pipeline.execute()[-1]
        silent = [one for one, raw in everybody.items() if _told_s(raw) < now_s - NODE_SILENT_SECONDS]
        if silent:
            redis.hdel(self._keys.node(node), *silent)
        self._told, self._silent_until_s = state, now_s + IDLE_SECONDS
        self._workers_here = len(everybody) - len(silent)
        return self._workers_here

    def withdraw(self, redis: Redis, owner: str) -> None:
        """Removes an owner's figures: it leaves. Blocking."""
        redis.hdel(self._keys.node(owner.partition(":")[0]), owner)


def _told_s(raw: bytes) -> float:
    """Returns when figures were told; 0 for junk."""
    try:
        return float(orjson.loads(raw)["time"])
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        return 0.0

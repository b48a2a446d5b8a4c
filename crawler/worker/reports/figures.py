"""A worker's figures in Redis, for `scrapy nodes` and for the other workers of the same node."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import orjson

from crawler.cluster.workers import load_report, reported
from crawler.frontier.owners import owner_node
from crawler.frontier.scripts import even_when_full
from crawler.frontier.session import (
    LAPSED_SHOWN_SECONDS,
    RENEWALS_PER_SESSION,
    SessionEnding,
    SessionLost,
    SessionOpened,
    SessionRenewed,
)
from crawler.telemetry import node_history
from crawler.telemetry.node_history import NodeSample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis import Redis

    from crawler.base.events import Events
    from crawler.frontier.keys import Keys
    from crawler.worker.life.headroom import NodeHeadroom
    from crawler.worker.life.load import Load

TOLD_AT_ONCE = ("drained", "sinks_down", "redis_full", "why_no_browser", "why_no_claims")
SAMPLE_SECONDS = node_history.STEPS[0].seconds
MAX_FORGOTTEN = 1_000  # most names of nodes that are forgotten at once, which happens each minute
IDLE_SECONDS = 40  # how often a worker that carries nothing writes its figures: only its load could have changed


def load_figures(load: Load) -> dict[str, float]:
    """Returns a load as figures, in percent of the node."""
    return {
        "cpu_percent": round(load.cpu, 1),
        "memory_percent": round(load.memory, 1),
        "own_cpu_percent": round(load.own_cpu, 1),
        "own_memory_percent": round(load.own_memory, 2),
    }


class Figures:
    """Writes one worker's figures when its session is opened, and after each renewal in the session's thread.

    The first are written before the worker claims anything, so that one that dies at once is named as gone. With the
    figures it writes in how many seconds the next ones come, for whoever takes it for silent.

    Args:
        session_s: SESSION_SECONDS.
        headroom: Told how many workers the node has: those whose next figures aren't overdue by SESSION_SECONDS.
        first: What is known of the worker before its load is measured.

    Attributes:
        kept_s: After how many seconds another worker of the node drops the figures of one that is silent: when its
            session has surely lapsed. Where none is left on the node, they are kept for LAPSED_SHOWN_SECONDS more.
        latest: The figures to be written next: JSON values by name.
    """

    def __init__(
        self, keys: Keys, events: Events, session_s: float, headroom: NodeHeadroom, first: Mapping[str, Any]
    ) -> None:
        self._keys = keys
        self._session_s = session_s
        self._interval_s = session_s / RENEWALS_PER_SESSION
        self.kept_s = math.ceil(IDLE_SECONDS + 2 * session_s)
        # The figures of the last writing whose change is told at once, though the worker is idle.
        self._written_state: list[Any] = []
        self._due_s = 0  # when an idle worker writes again, by the partitions' clocks
        self._sampled_step = 0  # the step of the node's history in which this worker has written a sample
        self.latest = dict(first)
        self._headroom = headroom
        events.subscribe(SessionOpened, lambda event: self.write(event.redis, event.name, event.now_s))
        events.subscribe(SessionRenewed, lambda event: self.write(event.redis, event.name, event.now_s))
        events.subscribe(SessionLost, self._write_soon)
        events.subscribe(SessionEnding, lambda event: self.remove(event.redis, event.name))

    def write(self, redis: Redis, owner: str, now_s: int) -> None:
        """Writes the figures, unless the worker is idle and has lately written that. Blocking.

        A full Redis takes them, too, so that they can say that it is full.

        Args:
            owner: `HOST:...`, the id of the worker's session.
            now_s: The time by the partitions' clocks: a node's own may be wrong.

        Raises:
            redis.exceptions.RedisError: Redis is away.
        """
        is_cut_off = bool(self.latest.get("egress_down_s"))
        state = [owner, is_cut_off, *(self.latest.get(name) for name in ("carrying", *TOLD_AT_ONCE))]
        if state == self._written_state and not self.latest.get("carrying") and now_s < self._due_s:
            return
        living = self._exchange(redis, owner, now_s)
        self._written_state, self._due_s = state, now_s + IDLE_SECONDS
        self._headroom.workers_here = max(1, len(living))
        if "cpu_percent" in self.latest and now_s // SAMPLE_SECONDS != self._sampled_step:
            node_history.add(redis, self._keys, owner_node(owner), now_s, NodeSample.of(living))
            self._forget_nodes(redis, now_s - node_history.KEPT_SECONDS)
            self._sampled_step = now_s // SAMPLE_SECONDS

    def _exchange(self, redis: Redis, owner: str, now_s: int) -> list[dict[str, Any]]:
        """Writes the figures; returns those of all workers of the node whose next ones aren't overdue.

        Drops the figures of workers that have been silent for long.
        """
        node = owner_node(owner)
        is_idle = self.latest.get("carrying") == 0  # the first figures don't say: the next come soon
        interval_s = self._interval_s + (IDLE_SECONDS if is_idle else 0)
        of_session = {"time": now_s, "next_s": interval_s, "session_length_s": self._session_s}
        record = orjson.dumps(self.latest | of_session)
        with redis.pipeline(transaction=False) as pipeline:
            even_when_full(pipeline, self._keys.node(node), "HSET", owner, record)
            pipeline.expire(self._keys.node(node), self.kept_s + LAPSED_SHOWN_SECONDS)
            even_when_full(pipeline, self._keys.node_names, "ZADD", now_s, node)
            pipeline.hgetall(self._keys.node(node))
            of_node = pipeline.execute()[-1]
        reports = {other: load_report(raw) for other, raw in of_node.items()}
        silent = [other for other, report in reports.items() if reported(report, "time") < now_s - self.kept_s]
        if silent:
            redis.hdel(self._keys.node(node), *silent)
        heard = (report for other, report in reports.items() if other not in silent)
        overdue_s = now_s - self._session_s
        return [report for report in heard if reported(report, "time") + reported(report, "next_s") >= overdue_s]

    def _forget_nodes(self, redis: Redis, until_s: int) -> None:
        """Forgets the names of nodes that were last heard of by then."""
        names = self._keys.node_names
        if forgotten := redis.zrange(names, "-inf", until_s, byscore=True, offset=0, num=MAX_FORGOTTEN):
            redis.zrem(names, *forgotten)

    def _write_soon(self, _event: SessionLost) -> None:
        """Writes at the next renewal, however idle the worker is: a Redis that lost the lease may have lost all."""
        self._written_state = []

    def remove(self, redis: Redis, owner: str) -> None:
        """Removes the figures of a worker that leaves. Blocking.

        Raises:
            redis.exceptions.RedisError: Redis is away; the figures are dropped later, as those of a silent worker are.
        """
        redis.hdel(self._keys.node(owner_node(owner)), owner)

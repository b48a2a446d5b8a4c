"""Which worker is to claim a host's seeds first: a weighted rendezvous of the nodes, then one of the node's workers.

Each node draws a number for a host, and the least one is first. The numbers are exponentially distributed at the rate
of the node's weight, so that a node is first for its share of all hosts, and one that joins or leaves changes only
that share. Workers of a node are alike. Whoever believes in other members than the rest prefers other hosts for a
time, and no more: who gets a seed, claim.lua alone decides.

Source: Schindelhauer and Schomaker, Weighted distributed hash tables, 2005 (its logarithmic method).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from crawler.cluster.workers import read_reports, reported
from crawler.frontier import clock
from crawler.frontier.keys import as_text
from crawler.frontier.owners import owner_node, process_of
from crawler.frontier.queue import DELIVERED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from redis.asyncio import Redis

    from crawler.base.models import Frontier
    from crawler.frontier.keys import Keys
    from crawler.plans.operator import Operator

MOST_HOSTS = 20_000  # how many hosts are looked at for the shares, in some 30 ms for each node


@dataclass(slots=True)
class Members:
    """The workers of one frontier that claim.

    Attributes:
        weights: Of the nodes, above 0; of a node whose workers say different ones, the largest.
        workers: The nodes' workers, by what their owner ids begin with, sorted.
    """

    weights: dict[str, float] = field(default_factory=dict)
    workers: dict[str, list[str]] = field(default_factory=dict)

    def first_node(self, host: str) -> str:
        """Returns the node whose workers are to claim a host's seeds first; there is one at least."""
        return min(self.weights, key=lambda node: -math.log(_drawn(node, host)) / self.weights[node])

    def first_worker(self, host: str) -> str:
        """Returns which worker of that node is."""
        workers = self.workers[self.first_node(host)]
        return workers[0] if len(workers) == 1 else max(workers, key=lambda worker: _drawn(worker, host))

    def share(self, node: str) -> float:
        """Returns which share of all hosts a node is to have."""
        return self.weights[node] / sum(self.weights.values())


def members_of(reports: Iterable[tuple[str, dict[str, Any]]], now_s: float) -> dict[Frontier, Members]:
    """Returns the members of each frontier, by what workers have reported under their owner ids.

    One whose next report is overdue by a session is gone; one that an operator has drained claims nothing. One of an
    earlier version, which reports no weight, prefers nothing.
    """
    members: dict[Frontier, Members] = defaultdict(Members)
    for owner, report in sorted(reports, key=lambda entry: entry[0]):
        frontier, weight = report.get("frontier"), reported(report, "weight")
        is_gone = sum(reported(report, name) for name in ("time", "next_s", "session_length_s")) < now_s
        if frontier not in ("nav", "content") or not 0 < weight < math.inf or is_gone or report.get("drained") is True:
            continue
        node, of_frontier = owner_node(owner), members[frontier]
        of_frontier.weights[node] = max(weight, of_frontier.weights.get(node, 0))
        of_frontier.workers.setdefault(node, []).append(process_of(owner))
    return members


async def read_members(redis: Redis, keys: Keys) -> dict[Frontier, Members]:
    """Returns the members of each frontier as they are now.

    Raises:
        redis.exceptions.RedisError: Redis is away.
    """
    now_ms = await clock.now_ms(redis, keys.partition(0))
    return members_of(await read_reports(redis, keys), now_ms / 1000)


async def read_shares(operator: Operator) -> list[dict[str, Any]]:
    """Returns each node's share of the hosts as JSON values, sorted by frontier and node; empty when no worker claims.

    Each has `frontier`, `node`, `weight`, `workers` (how many of its workers claim), `share_percent` (of all hosts, by
    the weights), `hosts` (for how many hosts with pages that wait it is first, of the MOST_HOSTS that are next in line
    at most) and `hosts_percent` (of all these; None: no page waits).

    Raises:
        redis.exceptions.RedisError: Redis is away.
    """
    redis: Any = operator.redis  # redis-py's types don't know that answers are bytes
    rows: list[dict[str, Any]] = []
    for frontier, members in sorted((await read_members(redis, operator.keys)).items()):
        first_nodes = Counter[str]()
        for number in range(operator.partitions):
            key = operator.keys.partition(number).of(frontier, "hosts")
            line = map(as_text, await redis.zrange(key, 0, MOST_HOSTS // operator.partitions))
            first_nodes.update(members.first_node(host) for host in line if host != DELIVERED)
        for node, weight in sorted(members.weights.items()):
            hosts, all_hosts = first_nodes[node], first_nodes.total()
            rows.append(
                {
                    "frontier": frontier,
                    "node": node,
                    "weight": weight,
                    "workers": len(members.workers[node]),
                    "share_percent": round(100 * members.share(node), 1),
                    "hosts": hosts,
                    "hosts_percent": round(100 * hosts / all_hosts, 1) if all_hosts else None,
                }
            )
    return rows


def _drawn(name: str, host: str) -> float:
    """Returns a number between 0 and 1, neither of them, which is the same wherever it is drawn."""
    drawn = blake2b(f"{name} {host}".encode(), digest_size=7).digest()
    return (int.from_bytes(drawn) // 8 + 0.5) / 2**53

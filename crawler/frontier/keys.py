"""Every Redis key, built here and nowhere else. The Lua scripts get them as KEYS, in `script_keys`' order.

    PREFIX:plans, :sites, :nodes:HOST, :node_names, :schema     definitions, node figures, format (one slot each)
    PREFIX:{P}:...                                              everything about the hosts of partition P, in one slot

A key that ends in `:` here is a prefix: the script appends a host, an owner or `PLAN:SITE` to it. The first
braces of a key name its slot, whatever stands behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.models import Frontier

SCHEMA_VERSION = 1  # of the format in Redis; checked at start
OTHER: dict[Frontier, Frontier] = {"nav": "content", "content": "nav"}


def partition_of(host: str, partitions: int) -> int:
    """Returns the partition that holds a host's seeds, turns and claims, from 0."""
    if partitions == 1:
        return 0
    return int.from_bytes(blake2b(host.encode(), digest_size=8).digest(), "big") % partitions


def as_text(raw: bytes) -> str:
    """Returns a name that Redis holds; junk becomes U+FFFD."""
    return raw.decode("utf-8", "replace")


def as_count(raw: bytes) -> int | None:
    """Returns a count that Redis holds; None for junk."""
    try:
        return int(raw)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys under one `KEY_PREFIX`."""

    prefix: str

    @property
    def plans(self) -> str:
        """Hash: plan -> JSON of its definition and state."""
        return f"{self.prefix}:plans"

    @property
    def sites(self) -> str:
        """Hash: site -> JSON of its version and definition."""
        return f"{self.prefix}:sites"

    @property
    def schema(self) -> str:
        """Hash: `version` of the format and `partitions`, fixed with the first process that starts."""
        return f"{self.prefix}:schema"

    @property
    def node_names(self) -> str:
        """Zset: node -> when it was last heard of, in s."""
        return f"{self.prefix}:nodes"

    def node(self, name: str) -> str:
        """Hash: owner -> JSON figures of that worker. Expires when the node is silent."""
        return f"{self.prefix}:node:{name}"

    def robots(self, authority: str) -> str:
        """String: what asking for an authority's robots.txt brought (robotsfile.py). Expires within 24 hours."""
        return f"{self.prefix}:robots:{authority}"

    def robots_asked(self, authority: str) -> str:
        """String: the owner who is asking for that file just now. Expires should he die."""
        return f"{self.prefix}:robots_asked:{authority}"

    def wake(self, frontier: Frontier) -> str:
        """Channel: something may have become claimable, or (message `sites`) a definition has changed."""
        return f"{self.prefix}:wake:{frontier}"

    def partition(self, number: int) -> PartitionKeys:
        """Returns the keys of one partition."""
        return PartitionKeys(f"{self.prefix}:{{{number}}}")


@dataclass(frozen=True, slots=True)
class PartitionKeys:
    """The keys of one partition; `stem` holds the Redis Cluster hash tag."""

    stem: str

    @property
    def sessions(self) -> str:
        """Zset: owner -> deadline in ms."""
        return f"{self.stem}:sessions"

    @property
    def paused(self) -> str:
        """Set: `pause PLAN` and `cancel PLAN`."""
        return f"{self.stem}:paused"

    @property
    def politeness(self) -> str:
        """Hash: site -> `DELAY_MS CONCURRENCY BURST`."""
        return f"{self.stem}:politeness"

    @property
    def ledgers(self) -> str:
        """Set: `PLAN SITE` of every ledger."""
        return f"{self.stem}:ledgers"

    def ledger(self, plan: str, site: str) -> str:
        """Hash: `FRONTIER:STATE` -> seeds."""
        return f"{self.stem}:ledger:{plan}:{site}"

    def turn(self, host: str) -> str:
        """Hash: a host's turns (see lua/lib/turns.lua)."""
        return f"{self.stem}:turn:{host}"

    def of(self, frontier: Frontier, name: str) -> str:
        """Returns one frontier's key, such as `of("nav", "ready:") + host`."""
        return f"{self.stem}:{frontier}:{name}"

    def script_keys(self, frontier: Frontier) -> list[str]:
        """Returns KEYS for every script, in the order that lua/lib/keys.lua names them."""
        other = OTHER[frontier]
        return [
            *(self.of(frontier, name) for name in FRONTIER_KEYS),
            *(f"{self.stem}:{name}" for name in SHARED_KEYS),
            *(self.of(other, name) for name in OTHER_KEYS),
        ]


FRONTIER_KEYS = (
    "lock",  # string: token of the one claimant
    "hosts",  # zset: host -> earliest time a claim can succeed, ms
    "ready:",  # zset per host: fp -> due, ms
    "execute",  # zset: fp -> claim time, ms
    "claims",  # hash: fp -> claim id
    "held:",  # set per owner: fp
    "finish",  # hash: bucket -> records of 8 bytes of fp and the finish time, s (see lua/lib/finished.lua)
    "fail",  # zset: fp -> time, ms
    "seed",  # hash: fp -> HOST PLAN SITE INTERVAL JSON, while not finished
    "tries",  # hash: fp -> real tries so far, where there were any
    "reasons",  # hash: fp -> why it was retried or failed last
    "crashes",  # hash: fp -> a suspect's crashes alone; less than 0: doubted (lib/states.lua), a worker died with it
    "suspects",  # zset: fp -> due, ms; suspects wait here and not in ready
    "alone",  # string: owner that takes the suspects, one at a time
    "scheduled",  # set: fp of scheduled seeds that were visited at least once
    "parked:",  # zset per plan: fp -> due, ms; seeds of a paused plan
    "counts",  # hash: STATE -> seeds, over all plans
    "wake_pause",  # string: freed turns were announced a moment ago
    "lapsed",  # zset: owner -> deadline, ms; lapsed sessions that may still hold something here
    "followed:",  # string per host: seeds accepted there for a link on a page; expires FAIL_DAYS after the first
)
SHARED_KEYS = (
    "turn:",  # hash per host: its turns (see lua/lib/turns.lua)
    "turns:",  # set per owner: `TOKEN HOST` of the turns it holds
    "fence:",  # string per owner: calls of it up to this serial are void
    "sessions",
    "paused",
    "ledger:",
    "ledgers",
    "politeness",
)
OTHER_KEYS = ("hosts", "ready:", "held:", "wake_pause", "lapsed")  # what scripts need of the other frontier

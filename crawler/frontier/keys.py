"""The names of all keys in Redis; they are built here and nowhere else.

`PREFIX:schema` is the format, `PREFIX:{plans}:...` what belongs to no host, `PREFIX:{P}:...` everything about the hosts
of partition P: what each property below says, and for scripts lua/lib/keys.lua.

The braces name a key's slot in a Redis Cluster, so a primary that is away takes whole partitions with it, or what is
said of plans, and nothing of the others. The format alone has no braces: every version must find it under one name.
Scripts get the keys of their partition as KEYS.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.base.models import Frontier

COUNT_LIMIT = 2**63  # Redis counts with 64 bits
SCHEMA_VERSION = 3  # of what lies in Redis; checked when a process starts
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
    """Returns a count that Redis holds; None for junk, be it a number that no count in Redis can be."""
    try:
        count = int(raw)
    except ValueError:
        return None
    return count if abs(count) < COUNT_LIMIT else None


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys under one `KEY_PREFIX`.

    Attributes:
        database: The number of Redis's database. Keys of another database are other keys, but a channel is heard in all
            of them, so its name carries the number.
    """

    prefix: str
    database: int = 0

    @property
    def plans(self) -> str:
        """Hash: plan -> JSON of its definition and state."""
        return f"{self.prefix}:{{plans}}:plans"

    @property
    def sites(self) -> str:
        """Hash: site -> JSON of its version and definition."""
        return f"{self.prefix}:{{plans}}:sites"

    @property
    def schema(self) -> str:
        """Hash: `version` of the format, and the number of `partitions`; the first process that starts sets them."""
        return f"{self.prefix}:schema"

    @property
    def node_names(self) -> str:
        """Sorted set: node -> when it was last heard of, in s since the epoch; dropped with the node's history."""
        return f"{self.prefix}:{{plans}}:nodes"

    def node(self, name: str) -> str:
        """Hash: owner -> JSON of that worker's figures. Expires an hour after the node fell silent."""
        return f"{self.prefix}:{{plans}}:node:{name}"

    def node_history(self, name: str) -> str:
        """Hash: a step's place -> the load of a node in that step (node_history.py). Expires when the node is gone."""
        return f"{self.prefix}:{{plans}}:node_history:{name}"

    @property
    def node_orders(self) -> str:
        """Hash: node -> JSON of what operators want of its workers (frontier/node_orders.py)."""
        return f"{self.prefix}:{{plans}}:node_orders"

    def history(self, seconds: int, begin_s: int) -> str:
        """Hash: what was counted -> number, for a step of that length from that moment (history.py). Expires."""
        return f"{self.prefix}:{{plans}}:history:{seconds}:{begin_s}"

    def host_history(self, seconds: int, begin_s: int) -> str:
        """String: a line `HOST ANSWERS BYTES ERRORS` for each host, of such a step (host_history.py). Expires."""
        return f"{self.prefix}:{{plans}}:hosts:{seconds}:{begin_s}"

    @property
    def totals(self) -> str:
        """Hash: what was counted -> number, since the crawl's Redis is there (history.py)."""
        return f"{self.prefix}:{{plans}}:totals"

    @property
    def newest_items(self) -> str:
        """Hash: an item's id -> the item, packed (newest_items.py). Expires."""
        return f"{self.prefix}:{{plans}}:newest_items"

    @property
    def newest_item_sizes(self) -> str:
        """Hash: site -> bytes that its newest items take, packed. Expires."""
        return f"{self.prefix}:{{plans}}:newest_item_sizes"

    def newest_item_order(self, site: str) -> str:
        """Sorted set: ids of a site's newest items by their time, in ms since the epoch. Expires."""
        return f"{self.prefix}:{{plans}}:newest_item_order:{site}"

    @property
    def failed_answers(self) -> str:
        """Hash: fingerprint -> what its host answered before it failed, packed (failed_answers.py). Expires."""
        return f"{self.prefix}:{{plans}}:failed_answers"

    @property
    def failed_answer_sizes(self) -> str:
        """Hash: `SITE REASON` -> bytes that the answers of such pages take, packed. Expires."""
        return f"{self.prefix}:{{plans}}:failed_answer_sizes"

    def failed_answer_order(self, of: str) -> str:
        """Sorted set: fingerprints of pages of a `SITE REASON` by when they failed, in ms since the epoch. Expires."""
        return f"{self.prefix}:{{plans}}:failed_answer_order:{of}"

    def plan_yield(self, plan: str) -> str:
        """Hash: what was counted -> number, of a plan's searches (plan_yield.py). Expires."""
        return f"{self.prefix}:{{plans}}:yield:{plan}"

    @property
    def render_verdicts(self) -> str:
        """Hash: `SITE FRONTIER` -> JSON of whether such pages need a browser (render_verdicts.py)."""
        return f"{self.prefix}:{{plans}}:render_verdicts"

    @property
    def audit(self) -> str:
        """Sorted set: JSON of an action -> when it was done, in ms since the epoch (cluster/audit.py)."""
        return f"{self.prefix}:{{plans}}:audit"

    @property
    def reached(self) -> str:
        """String: `AUTHORITY SITE` of the place on the web that last answered a worker. Expires."""
        return f"{self.prefix}:{{plans}}:reached"

    def start_list(self, key: str) -> str:
        """String: the worker that reads a start list. Expires, since that worker may die."""
        return f"{self.prefix}:{{plans}}:start_list:{key}"

    def wake(self, frontier: Frontier) -> str:
        """Channel: tells workers of seeds to claim, backoffs of hosts, changed sites, and orders for their nodes."""
        return f"{self.prefix}:wake:{self.database}:{frontier}"

    def partition(self, number: int) -> PartitionKeys:
        """Returns the keys of one partition."""
        return PartitionKeys(f"{self.prefix}:{{{number}}}")


@dataclass(frozen=True, slots=True)
class PartitionKeys:
    """The keys of one partition; `stem` holds the Redis Cluster hash tag."""

    stem: str

    @property
    def sessions(self) -> str:
        """Sorted set: owner -> its session's deadline, in ms since the epoch."""
        return f"{self.stem}:sessions"

    @property
    def plan_states(self) -> str:
        """Hash: plan -> `VERSION EDITION STATE`; also of plans that were deleted lately."""
        return f"{self.stem}:plan_states"

    @property
    def politeness(self) -> str:
        """Hash: site -> `DELAY_MS CONCURRENCY BURST`."""
        return f"{self.stem}:politeness"

    @property
    def host_orders(self) -> str:
        """Hash: host -> `DELAY_MS PAUSED`, what operators want of it (host_orders.py)."""
        return f"{self.stem}:host_orders"

    @property
    def ledgers(self) -> str:
        """Set: `PLAN SITE` of every ledger."""
        return f"{self.stem}:ledgers"

    def ledger(self, plan: str, site: str) -> str:
        """Hash: `FRONTIER:STATE` -> number of seeds."""
        return f"{self.stem}:ledger:{plan}:{site}"

    def turns(self, owner: str) -> str:
        """Set: `TOKEN HOST` of every turn that an owner holds."""
        return f"{self.stem}:turns:{owner}"

    def turn(self, host: str) -> str:
        """Hash: a host's turns; lua/lib/turns.lua says what its fields are."""
        return f"{self.stem}:turn:{host}"

    def robots(self, authority: str) -> str:
        """String: what asking for an authority's robots.txt brought (robots/file.py). Expires within 24 hours."""
        return f"{self.stem}:robots:{authority}"

    def robots_asked(self, authority: str) -> str:
        """String: the owner who is asking for that file just now. Expires, since that owner may die."""
        return f"{self.stem}:robots_asked:{authority}"

    def robots_moved(self, authority: str) -> str:
        """String: the URL on another host that an authority's robots.txt redirects to, which is busy. Expires."""
        return f"{self.stem}:robots_moved:{authority}"

    def search(self, digest: str) -> str:
        """Hash: what the pages of a search held so far, or how large a plan's or site's are. Expires."""
        return f"{self.stem}:search:{digest}"

    def of(self, frontier: Frontier, name: str) -> str:
        """Returns one frontier's key, such as `of("nav", "ready:") + host`."""
        return f"{self.stem}:{frontier}:{name}"

    def script_keys(self, frontier: Frontier) -> list[str]:
        """Returns KEYS for every script, in the order in which lua/lib/keys.lua names them."""
        other = OTHER[frontier]
        return [
            *(self.of(frontier, name) for name in FRONTIER_KEYS),
            *(f"{self.stem}:{name}" for name in SHARED_KEYS),
            *(self.of(other, name) for name in OTHER_KEYS),
        ]


# lua/lib/keys.lua says what each of them holds. A name that ends in `:` is a prefix, to which scripts append a host, an
# owner, a plan or `PLAN:SITE`.
FRONTIER_KEYS = (
    "lock",
    "hosts",
    "ready:",
    "execute",
    "claims",
    "held:",
    "finish",
    "plan_numbers",
    "fail",
    "seed",
    "also",
    "wanted:",
    "tries",
    "reasons",
    "crashes",
    "suspects",
    "alone",
    "scheduled",
    "parked",
    "counts",
    "wake_pause",
    "unfilled",
    "lapsed",
    "followed:",
)
SHARED_KEYS = (
    "turn:",
    "turns:",
    "fence:",
    "sessions",
    "renewed",
    "spared",
    "receipts",
    "plan_states",
    "ledger:",
    "ledgers",
    "politeness",
    "host_orders",
    "browser_sites",
)
OTHER_KEYS = ("hosts", "ready:", "held:", "wake_pause", "lapsed")  # what scripts need of the other frontier

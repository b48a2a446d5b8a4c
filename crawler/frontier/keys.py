"""The names of all keys in Redis; they are built here and nowhere else.

`PREFIX:schema` is the format, `PREFIX:{plans}:...` what belongs to no host, `PREFIX:{P}:...` everything about the hosts
of partition P: what is said of each below, and for scripts in lua/lib/keys.lua.

The braces name a key's slot in a Redis Cluster, so a primary that is away takes whole partitions with it, or what is
said of plans, and nothing of the others. The format alone has no braces: every version must find it under one name.
Scripts get the keys of their partition as KEYS.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.base.models import Frontier

COUNT_LIMIT = 2**63  # Redis counts with 64 bits
SCHEMA_VERSION = 4  # the version of the format in Redis; checked when a process starts
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


class Keys:
    """The keys under one `KEY_PREFIX`; beside each stands what it holds.

    Args:
        database: The number of Redis's database. Keys of another database are other keys, but a channel is heard in all
            of them, so its name carries the number.
    """

    def __init__(self, prefix: str, database: int = 0) -> None:
        self.prefix = prefix
        self._database = database
        self._stem = stem = f"{prefix}:{{plans}}"
        # Hash: `version` of the format, and the number of `partitions`; the first process that starts sets them.
        self.schema = f"{prefix}:schema"
        self.trap_texts = f"{stem}:trap_texts"  # string: what plans' pages have said (worker/offers/seen_texts.py)
        self.plans = f"{stem}:plans"  # hash: plan -> JSON of its definition and state
        self.sites = f"{stem}:sites"  # hash: site -> JSON of its version and definition
        # Sorted set: node -> when it was last heard of, in s since the epoch; dropped with the node's history.
        self.node_names = f"{stem}:nodes"
        self.node_orders = f"{stem}:node_orders"  # hash: node -> JSON of what operators want of its workers
        self.totals = f"{stem}:totals"  # hash: what was counted -> number, since the crawl's Redis is there
        self.newest_items = f"{stem}:newest_items"  # hash: an item's id -> the item, packed; expires
        self.newest_item_sizes = f"{stem}:newest_item_sizes"  # hash: site -> bytes that these take; expires
        # Hash: fingerprint -> what its host answered before it failed, packed; expires.
        self.failed_answers = f"{stem}:failed_answers"
        self.failed_answer_sizes = f"{stem}:failed_answer_sizes"  # hash: `SITE REASON` -> bytes these take; expires
        # Hash: `SITE FRONTIER` -> JSON of whether such pages need a browser.
        self.render_verdicts = f"{stem}:render_verdicts"
        self.audit = f"{stem}:audit"  # sorted set: JSON of an action -> when it was done, in ms since the epoch
        # String: `AUTHORITY SITE` of the place on the web that last answered a worker; expires.
        self.reached = f"{stem}:reached"

    def node(self, name: str) -> str:
        """Hash: owner -> JSON of that worker's figures. Expires an hour after the node fell silent."""
        return f"{self._stem}:node:{name}"

    def node_history(self, name: str) -> str:
        """Hash: a step's place -> the load of a node in that step. Expires when the node is gone."""
        return f"{self._stem}:node_history:{name}"

    def history(self, seconds: int, begin_s: int) -> str:
        """Hash: what was counted -> number, for a step of that length from that moment. Expires."""
        return f"{self._stem}:history:{seconds}:{begin_s}"

    def host_history(self, seconds: int, begin_s: int) -> str:
        """String: a line `HOST ANSWERS BYTES ERRORS` for each host, of such a step. Expires."""
        return f"{self._stem}:hosts:{seconds}:{begin_s}"

    def hour_answers(self, by: str, begin_s: int) -> str:
        """String: a line of numbers for each name, of what came back in the hour from that moment. Expires."""
        return f"{self._stem}:hour_answers:{by}:{begin_s}"

    def newest_item_order(self, site: str) -> str:
        """Sorted set: ids of a site's newest items by their time, in ms since the epoch. Expires."""
        return f"{self._stem}:newest_item_order:{site}"

    def failed_answer_order(self, of: str) -> str:
        """Sorted set: fingerprints of pages of a `SITE REASON` by when they failed, in ms since the epoch. Expires."""
        return f"{self._stem}:failed_answer_order:{of}"

    def plan_budget(self, plan: str) -> str:
        """Hash: what a plan has taken of its budget -> number (lua/lib/held_pages.lua). Deleted with the plan."""
        return f"{self._stem}:budget:{plan}"

    def held_pages(self, plan: str) -> str:
        """Hash: fingerprint -> for which claim a page of a plan with a budget is in flight. Deleted with the plan."""
        return f"{self._stem}:held_pages:{plan}"

    def traps(self, plan: str, edition: int, host: str) -> str:
        """Hash: `r`, `n` or `t` and a kind of a host's addresses, or `x` and a text -> number of pages. Expires.

        With `:` and a kind behind it, a sorted set: fingerprints of its pages that were refused, by when, in s.
        """
        return f"{self._stem}:traps:{plan}:{edition}:{host}"

    def trap_hosts(self, plan: str, edition: int) -> str:
        """Hash: `r`, `m` or `s` and a host -> number of its pages, of those that mirror others', and since when in ns.

        Expires.
        """
        return f"{self._stem}:trap_hosts:{plan}:{edition}"

    def plan_yield(self, plan: str) -> str:
        """Hash: what was counted -> number, of a plan's searches. Expires."""
        return f"{self._stem}:yield:{plan}"

    def start_list(self, key: str) -> str:
        """String: the worker that reads a start list. Expires, since that worker may die."""
        return f"{self._stem}:start_list:{key}"

    def wake(self, frontier: Frontier) -> str:
        """Channel: tells workers of seeds to claim, backoffs of hosts, changed sites, and orders for their nodes."""
        return f"{self.prefix}:wake:{self._database}:{frontier}"

    def partition(self, number: int) -> PartitionKeys:
        """Returns the keys of one partition."""
        return PartitionKeys(f"{self.prefix}:{{{number}}}")


class PartitionKeys:
    """The keys of one partition; `stem` holds the Redis Cluster hash tag."""

    def __init__(self, stem: str) -> None:
        self.stem = stem
        self.sessions = f"{stem}:sessions"  # sorted set: owner -> its session's deadline, in ms since the epoch
        # Hash: plan -> `VERSION EDITION STATE`; also of plans that were deleted lately.
        self.plan_states = f"{stem}:plan_states"
        self.politeness = f"{stem}:politeness"  # hash: site -> `DELAY_MS CONCURRENCY BURST`
        self.host_orders = f"{stem}:host_orders"  # hash: host -> `DELAY_MS PAUSED`, what operators want of it
        self.ledgers = f"{stem}:ledgers"  # set: `PLAN SITE` of every ledger

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

    def complaints(self, complaint: str, host: str) -> str:
        """Hash: node -> when it first heard a complaint of the host, such as a proxy's refusal, in s. Expires."""
        return f"{self.stem}:{complaint}:{host}"

    def search(self, digest: str) -> str:
        """Hash: what the pages of a search held so far, or how large a plan's or site's are. Expires."""
        return f"{self.stem}:search:{digest}"

    def of(self, frontier: Frontier, name: str) -> str:
        """Returns one frontier's key, such as `of("nav", "ready:") + host`."""
        return f"{self.stem}:{frontier}:{STORED_AS.get(name, name)}"

    def script_keys(self, frontier: Frontier) -> list[str]:
        """Returns KEYS for every script, in the order in which lua/lib/keys.lua names them."""
        other = OTHER[frontier]
        return [
            *(self.of(frontier, name) for name in FRONTIER_KEYS),
            *(f"{self.stem}:{name}" for name in SHARED_KEYS),
            *(self.of(other, name) for name in OTHER_KEYS),
        ]


class TurnField(StrEnum):
    """The fields of a host's turns that are read outside of scripts, as lua/lib/turns.lua names them."""

    HOLDER = "h"  # the beginning of a field for each turn that is held; the turn's number follows
    BACKOFF_ENDS = "x"
    ROBOTS_DELAY = "r"
    SITES = "s"
    ERROR_LEVEL = "e"
    PAUSED = "p"


# lua/lib/keys.lua says what each of them holds. A name that ends in `:` is a prefix, to which scripts append a host, an
# owner, a plan or `PLAN:SITE`.
FRONTIER_KEYS = tuple(
    """lock hosts ready: execute claims held: finish plan_numbers moved fail seed also wanted: cancelled: tries reasons
    crashes quarantine quarantine_owner scheduled parked counts wake_pause unfilled lapsed used
    followed: over:""".split()
)
SHARED_KEYS = tuple(
    """turn: turns: fence: sessions renewed spared receipts plan_states ledger: ledgers politeness host_orders
    browser_sites""".split()
)
STORED_AS = {
    "finish": "finished",
    "quarantine": "suspects",
    "quarantine_owner": "alone",
}  # keys that have other names in Redis
OTHER_KEYS = ("hosts", "ready:", "held:", "wake_pause", "lapsed")  # the keys of the other frontier that scripts need

"""The figures of the whole crawl at one moment, gathered at a cost that doesn't grow with its seeds and hosts.

No keys are scanned. What is read: a script's answer for each partition and frontier, a hash for each plan and site in a
partition (`MAX_LEDGERS` at most), one for each node, the crawl's totals, and INFO of each Redis.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from crawler.cluster.workers import read_workers
from crawler.frontier import scripts
from crawler.frontier.keys import as_count, as_text
from crawler.frontier.ledger import COUNTS, FRONTIERS, Account, Totals
from crawler.servers.redis_cluster import each_primary
from crawler.telemetry import history

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.base.models import Frontier
    from crawler.frontier.ledger import Ledger
    from crawler.plans.operator import Operator

# The states that a `FrontierOverview` counts.
SEED_STATES = ("ready", "waiting", "parked", "executing", "finished", "failed")
# Most ledgers of a plan and site in a partition, read in some 100 ms; with more, plans are left out.
MAX_LEDGERS = 5_000
FILTER_UNITS = 10**12  # of `filter_expected`, as lua/lib/filter.lua has it


@dataclass(slots=True)
class FrontierOverview(Totals):
    """How one frontier stands, over all plans and partitions. Plans that were deleted aren't counted.

    Attributes:
        known: Of those offered, seeds that were refused since their plan had asked for them before.
        hosts: Hosts that have ready seeds.
        hosts_due: Of those, hosts that could be claimed from now: a seed is due, and a turn is free.
        oldest_due_ms: Since when the first of these could, in ms since the epoch; 0: there is none.
        claims: Seeds that are held, each counted once.
        quarantined: Seeds that wait to be run alone, since two workers died while they held them.
        filtered: Finished pages that are in filters alone (DEDUP_MODE `bloom`), once for each plan.
        filter_asked: Pages of the exact sample that weren't finished when they were asked for, and how many of those
            `filter_erred` filters took for finished.
        filter_expected: The share of new pages that filters take for finished by how full they are, in the partition
            where it is largest, in parts of FILTER_UNITS.
        filter_beyond_s: When filters last refused a page since they err more often than DEDUP_ERROR_RATE, in s since
            the epoch; 0: never.
    """

    known: int = 0
    hosts: int = 0
    hosts_due: int = 0
    oldest_due_ms: int = 0
    claims: int = 0
    quarantined: int = 0
    filtered: int = 0
    filter_asked: int = 0
    filter_erred: int = 0
    filter_expected: int = 0
    filter_beyond_s: int = 0

    @property
    def difference(self) -> int:
        """How many seeds the ledger can't explain; 0 in a sound frontier."""
        all_ready = self.ready + self.waiting + self.parked
        return self.offered - self.known - all_ready - self.executing - self.finished - self.failed

    @property
    def filter_rates(self) -> tuple[str, str] | None:
        """The share of new pages that filters take for finished, as expected and as measured; None: there are none."""
        if not self.filtered:
            return None
        measured = f"{self.filter_erred / self.filter_asked:.1e}" if self.filter_asked else "0"
        return f"{self.filter_expected / FILTER_UNITS:.1e}", f"{measured} of {self.filter_asked}"


@dataclass(frozen=True, slots=True)
class RedisOverview:
    """One Redis server; a cluster has several.

    Attributes:
        name: `HOST:PORT` of a cluster's node; `redis` where there is one server.
        used_bytes: Memory in use.
        limit_bytes: Its maxmemory; 0: it has none.
        saves: Whether the last writes to disk succeeded.
    """

    name: str
    used_bytes: int
    limit_bytes: int
    saves: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """All figures.

    Attributes:
        at_ms: When they were read, by the first partition's clock, in ms since the epoch.
        frontiers: By `nav` and `content`.
        turns_held: How many turns of hosts workers hold.
        ledger: The accounts of each plan and site; empty where there are more than `MAX_LEDGERS`.
        ledgers: How many there are.
        plan_states: Plan -> `active`, `paused` or `cancelled`.
        totals: What all workers ever did, by the names of the history's counts: `pages`, `items`, `bytes`,
            `status:CODE`, `failed:REASON`, `retried:REASON`, `site:SITE:finished`, `site:SITE:failed`.
        workers: As `read_workers` returns them.
        redis: The servers.
    """

    at_ms: int
    frontiers: dict[Frontier, FrontierOverview]
    turns_held: int
    ledger: Ledger
    ledgers: int
    plan_states: dict[str, str]
    totals: dict[str, int]
    workers: list[dict[str, Any]]
    redis: list[RedisOverview] = field(default_factory=list)

    @property
    def difference(self) -> int:
        """How many seeds the ledger can't explain; 0 in a sound crawl."""
        return sum(abs(frontier.difference) for frontier in self.frontiers.values())

    @property
    def oldest_due_s(self) -> float:
        """For how many seconds the host that could be claimed from first has waited for that; 0: there is none."""
        since = [frontier.oldest_due_ms for frontier in self.frontiers.values() if frontier.oldest_due_ms]
        return max(0.0, (self.at_ms - min(since)) / 1000) if since else 0.0

    def failures(self) -> Counter[str]:
        """Returns how many seeds have failed, by reason."""
        failures: Counter[str] = Counter()
        for accounts in self.ledger.values():
            for account in accounts.values():
                failures.update(account.failures)
        return failures

    def by_plan(self) -> dict[str, Account]:
        """Returns the account of each plan, over its sites and both frontiers; none for a plan without seeds."""
        plans: dict[str, Account] = {}
        for (plan, _site), accounts in self.ledger.items():
            for account in accounts.values():
                plans.setdefault(plan, Account()).add(account)
        return plans

    def as_json(self) -> dict[str, Any]:
        """Returns the figures as JSON values, for tables by address and `--json`."""
        return {
            "at_ms": self.at_ms,
            "frontiers": {
                name: asdict(frontier) | {"difference": frontier.difference}
                for name, frontier in self.frontiers.items()
            },
            "difference": self.difference,
            "oldest_due_s": self.oldest_due_s,
            "turns_held": self.turns_held,
            "plans": {
                plan: account.as_dict() | {"state": self.plan_states.get(plan, "active")}
                for plan, account in sorted(self.by_plan().items())
            },
            "failures": dict(self.failures().most_common()),
            "totals": self.totals,
            "workers": self.workers,
            "redis": [asdict(server) for server in self.redis],
        }


async def read_overview(operator: Operator) -> Overview:
    """Returns the figures of the crawl; each partition is read at its own moment."""
    redis: Any = operator.redis  # redis-py's types don't know that answers are bytes
    frontiers: dict[Frontier, FrontierOverview] = {frontier: FrontierOverview() for frontier in FRONTIERS}
    at_ms, turns_held, ledgers = 0, 0, 0
    for number in range(operator.partitions):
        part = operator.keys.partition(number)
        ledgers += await redis.scard(part.ledgers)
        for frontier in FRONTIERS:
            now_ms, *answer, turns = await scripts.run(redis, "look", part.script_keys(frontier), [])
            at_ms = at_ms or now_ms
            _add(frontiers[frontier], answer)
        turns_held += turns  # those of both frontiers count
    return Overview(
        at_ms=at_ms,
        frontiers=frontiers,
        turns_held=turns_held,
        ledger=await operator.ledger() if ledgers <= MAX_LEDGERS else {},
        ledgers=ledgers,
        plan_states=await _plan_states(operator),
        totals=await history.totals(redis, operator.keys),
        workers=await read_workers(operator),
        redis=[_server(primary, await redis.info(**primary)) for primary in await each_primary(redis)],
    )


def _add(overview: FrontierOverview, answer: Sequence[Any]) -> None:
    """Adds what the script says of a partition."""
    flat, hosts, hosts_due, oldest_due_ms, claims, quarantined = answer
    counts = {as_text(name): as_count(number) or 0 for name, number in zip(flat[::2], flat[1::2], strict=True)}
    of_states = {name: counts.get(name, 0) - counts.get(f"deleted:{name}", 0) for name in COUNTS}
    waiting, parked = counts.get("waiting", 0), counts.get("parked", 0)
    sums = {**of_states, "ready": of_states["ready"] - waiting, "waiting": waiting, "parked": parked}
    sums |= {"hosts": hosts, "hosts_due": hosts_due, "claims": claims, "quarantined": quarantined}
    sums |= {name: counts.get(name, 0) for name in ("filtered", "filter_asked", "filter_erred")}
    for name in ("filter_expected", "filter_beyond_s"):
        setattr(overview, name, max(getattr(overview, name), counts.get(name, 0)))
    for name, number in sums.items():
        setattr(overview, name, getattr(overview, name) + number)
    if oldest_due_ms:
        overview.oldest_due_ms = min(overview.oldest_due_ms or oldest_due_ms, oldest_due_ms)


async def _plan_states(operator: Operator) -> dict[str, str]:
    """Returns the state of each plan, as the first partition was told it; those deleted lately are left out."""
    redis: Any = operator.redis
    states_of_plans = await redis.hgetall(operator.keys.partition(0).plan_states)
    states = {as_text(plan): as_text(words).rpartition(" ")[2] for plan, words in states_of_plans.items()}
    return {plan: state for plan, state in sorted(states.items()) if state != "deleted"}


def _server(primary: Mapping[str, Any], info: Mapping[str, Any]) -> RedisOverview:
    node = primary.get("target_nodes")
    return RedisOverview(
        name=node.name if node else "redis",
        used_bytes=int(info.get("used_memory") or 0),
        limit_bytes=int(info.get("maxmemory") or 0),
        saves=all(info.get(name, "ok") == "ok" for name in ("rdb_last_bgsave_status", "aof_last_write_status")),
    )

"""The figures of the whole crawl as Prometheus metrics; docs/metrics.md lists them.

Labels are bounded: a site, a plan, a node or a reason beyond the first `MAX_VALUES` has no samples of its own, and
`headroom_label_values_left_out` says how many those are. Hosts, seeds and single processes have none at all: each is a
series that Prometheus would keep, and there are millions of the former, and new ones of the latter at each restart.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from crawler import __version__
from crawler.cluster.activity import of_sites
from crawler.cluster.overview import SEED_STATES
from crawler.cluster.work_counters import work_counters
from crawler.telemetry.exposition import Metric
from crawler.telemetry.worker_figures import FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.cluster.overview import Overview

MAX_VALUES = 500  # most values of one label: 12 metrics by node make some 6,000 series, which a small Prometheus holds
PLAN_STATES = ("active", "paused", "cancelled")
WORKER_STATES = ("alive", "redis-full", "silent", "lapsed")
STATUS = re.compile(r"[1-5]\d\d")
REDIS_FIGURES = {  # the figure, which is also the metric's name behind `redis_` -> its sentence
    "used_bytes": "Memory that Redis uses.",
    "limit_bytes": "Redis's maxmemory; missing where it has none.",
    "saves": "1 where Redis's last writes to disk succeeded.",
}


def metrics(overview: Overview) -> list[Metric]:
    """Returns the metrics of a crawl, in the order in which docs/metrics.md has them."""
    left_out: Counter[str] = Counter()
    return [
        _gauge("build_info", "The version of whoever shows these metrics.", [({"version": __version__}, 1)]),
        *_of_seeds(overview, left_out),
        *_of_work(overview, left_out),
        *_of_nodes(overview, left_out),
        *_of_redis(overview),
        _gauge(  # last: those above count what they leave out
            "label_values_left_out",
            f"Values of a label beyond the first {MAX_VALUES}, which have no samples.",
            [({"label": label}, left_out[label]) for label in ("node", "plan", "reason", "site")],
        ),
    ]


def _gauge(name: str, about: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> Metric:
    return Metric(f"headroom_{name}", "gauge", about, tuple(samples))


def _of_seeds(overview: Overview, left_out: Counter[str]) -> list[Metric]:
    frontiers = overview.frontiers.items()
    plans = _some(overview.by_plan(), lambda account: account.ready + account.executing, "plan", left_out)
    failures = _some(overview.failures(), lambda seeds: seeds, "reason", left_out)
    states = Counter(overview.plan_states.values())
    return [
        _gauge(
            "seeds",
            "Seeds in each state, over all plans; one that several plans want counts for each of them.",
            [
                ({"frontier": name, "state": state}, getattr(frontier, state))
                for name, frontier in frontiers
                for state in SEED_STATES
            ],
        ),
        _gauge(
            "ledger_difference",
            "Seeds that the ledger can't explain; 0 in a sound crawl.",
            [({}, overview.difference)],
        ),
        _gauge(
            "oldest_due_seconds",
            "For how long the host that could be claimed from first has waited for that; 0 where none could.",
            [({}, overview.oldest_due_s)],
        ),
        _gauge(
            "hosts",
            "Hosts with ready seeds: due, where they could be claimed from now, or waiting.",
            [
                ({"frontier": name, "state": state}, hosts)
                for name, frontier in frontiers
                for state, hosts in (("due", frontier.hosts_due), ("waiting", frontier.hosts - frontier.hosts_due))
            ],
        ),
        _gauge("turns_held", "Turns of hosts that workers hold.", [({}, overview.turns_held)]),
        _gauge(
            "claimed_seeds",
            "Seeds that workers hold, each counted once.",
            [({"frontier": name}, frontier.claims) for name, frontier in frontiers],
        ),
        _gauge(
            "quarantined_seeds",
            "Seeds that wait to be run alone, since two workers died while they held them.",
            [({"frontier": name}, frontier.quarantined) for name, frontier in frontiers],
        ),
        _gauge(
            "failed_seeds", "Failed seeds, by reason.", [({"reason": name}, seeds) for name, seeds in failures.items()]
        ),
        _gauge("plans", "Plans, by state.", [({"state": state}, states[state]) for state in PLAN_STATES]),
        _gauge(
            "plan_seeds",
            "Seeds of each plan; those that wait and those that are parked count as ready.",
            [
                ({"plan": plan, "state": state}, getattr(account, state))
                for plan, account in plans.items()
                for state in ("ready", "executing", "finished", "failed")
            ],
        ),
    ]


def _of_work(overview: Overview, left_out: Counter[str]) -> list[Metric]:
    sites = _some(of_sites(overview.totals), lambda seeds: sum(seeds.values()), "site", left_out)
    settled = tuple(
        ({"site": site, "state": state}, number) for site, seeds in sites.items() for state, number in seeds.items()
    )
    return [
        *work_counters(overview.totals, "headroom", partial(_bounded, left_out)),
        Metric("headroom_settled_seeds", "counter", "Seeds that were finished or failed, by site.", settled),
    ]


def _of_nodes(overview: Overview, left_out: Counter[str]) -> list[Metric]:
    by_node: dict[str, list[dict[str, Any]]] = {}
    for worker in overview.workers:
        by_node.setdefault(worker["node"], []).append(worker)
    nodes = _some(by_node, lambda workers: -min(_state_rank(worker) for worker in workers), "node", left_out)
    states = Counter(worker["state"] for worker in overview.workers)

    def reported(node: str, field: str) -> list[float]:
        """Returns a figure of each worker of a node that reports it."""
        return [worker[field] for worker in nodes[node] if worker[field] is not None]

    def living(node: str) -> list[dict[str, Any]]:
        return [worker for worker in nodes[node] if worker["state"] != "lapsed"]

    return [
        _gauge("workers", "Workers, by state.", [({"state": state}, states[state]) for state in WORKER_STATES]),
        _gauge(
            "node_workers",
            "Workers of each node, by state.",
            [
                ({"node": node, "state": state}, sum(worker["state"] == state for worker in workers))
                for node, workers in nodes.items()
                for state in WORKER_STATES
            ],
        ),
        _gauge(
            "node_last_report_timestamp_seconds",
            "When a worker of the node last reported, since the epoch.",
            [
                ({"node": node}, overview.at_ms / 1000 - min(ages))
                for node in nodes
                if (ages := reported(node, "age_s"))
            ],
        ),
        *(
            _gauge(
                f"node_{figure.of_node}",
                figure.about_node(),
                [
                    ({"node": node}, figure.add_up(reports) * figure.scale)
                    for node in nodes
                    if (reports := reported(node, figure.field))
                ],
            )
            for figure in FIGURES
        ),
        _gauge(
            "node_drained_workers",
            "Workers of the node that claim nothing, by an operator's order.",
            [({"node": node}, sum(worker["drained"] for worker in living(node))) for node in nodes],
        ),
        _gauge(
            "node_sink_down",
            "1 where a worker of the node waits for a sink.",
            [
                ({"node": node, "sink": sink}, 1)
                for node in nodes
                for sink in sorted({sink for worker in living(node) for sink in worker["sinks_down"]})
            ],
        ),
    ]


def _of_redis(overview: Overview) -> list[Metric]:
    return [
        _gauge(
            f"redis_{field}",
            about,
            [
                ({"server": server.name}, figure)
                for server in overview.redis
                if (figure := getattr(server, field)) or field != "limit_bytes"
            ],
        )
        for field, about in REDIS_FIGURES.items()
    ]


def _bounded(left_out: Counter[str], label: str, values: Mapping[str, int]) -> dict[str, int]:
    """Returns the statuses that are any, or the reasons that are the most frequent."""
    if label == "code":
        return {code: number for code, number in values.items() if STATUS.fullmatch(code)}
    return _some(values, lambda number: number, label, left_out)


def _some(values: Mapping[str, Any], weight: Any, label: str, left_out: Counter[str]) -> dict[str, Any]:
    """Returns the values of a label that have samples, by name: the weightiest where there are too many."""
    if len(values) > MAX_VALUES:
        left_out[label] = max(left_out[label], len(values) - MAX_VALUES)
    weightiest = sorted(values, key=lambda name: (-weight(values[name]), name))[:MAX_VALUES]
    return {name: values[name] for name in sorted(weightiest)}


def _state_rank(worker: Mapping[str, Any]) -> int:
    return WORKER_STATES.index(worker["state"])

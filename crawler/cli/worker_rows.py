"""The workers as rows of a table: for `scrapy nodes`, `scrapy top` and the monitor, in the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

# The column's name -> the worker's field.
COLUMNS = {
    "carries": "carrying",
    "room": "room",
    "pages/min": "pages_per_minute",
    "CPU %": "cpu_percent",
    "mem %": "memory_percent",
}
NAMES = ("node", "process", "frontier", *COLUMNS, "state")


def worker_rows(workers: Iterable[dict[str, Any]]) -> list[tuple[object, ...]]:
    """Returns a row for each worker, as `NAMES` says. Of what Redis holds, nothing is made inert."""
    return [_row(worker) for worker in workers]


def _row(worker: dict[str, Any]) -> tuple[object, ...]:
    process = worker["owner"].removeprefix(f"{worker['node']}:").partition(":")[0]
    figures = (worker[name] for name in COLUMNS.values())
    return (worker["node"], process, worker["frontier"], *figures, state_of(worker))


def state_of(worker: dict[str, Any]) -> str:
    """Returns a worker's state in words."""
    state = str(worker["state"])
    if state == "silent":
        state = f"silent for {worker['age_s']:.0f} s"
    elif state == "lapsed" and worker["session_s"] is not None:
        state = f"lapsed {-worker['session_s']:.0f} s ago"
    elif state == "lapsed" and worker["age_s"] is not None:
        state = f"lapsed, heard of {worker['age_s']:.0f} s ago"
    elif worker["age_s"] is None:
        state = f"{state}, without figures so far"
    elif worker["drained"]:
        return "draining" if worker["carrying"] else "drained"
    why = worker["why_no_claims"]
    if why and worker["state"] in ("alive", "redis-full"):
        return f"{state}, claims nothing: {why}"
    return f"{state}, renders no pages: {worker['why_no_browser']}" if worker["why_no_browser"] else state

"""The figures that each worker reports of itself and its node, as Prometheus has them of a worker and of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class WorkerFigure(NamedTuple):
    """One figure.

    Attributes:
        field: Its name in what a worker reports.
        of_node: The metric's name behind `headroom_node_`.
        of_worker: The metric's name behind `headroom_worker_`; empty: a worker shows none.
        sentence: What it is, with `{whose}` in place of the worker, or of the workers of the node.
        add_up: Makes a node's figure of those of its workers.
        scale: The metric's value is the figure multiplied with this.
    """

    field: str
    of_node: str
    of_worker: str
    sentence: str
    add_up: Callable[[Iterable[float]], float]
    scale: float = 1

    def about_worker(self) -> str:
        """Returns the sentence on a worker's metric."""
        return self.sentence.format(whose="the worker")

    def about_node(self) -> str:
        """Returns the sentence on a node's metric."""
        return self.sentence.format(whose="the node's workers")


FIGURES = (
    WorkerFigure("carrying", "carried_seeds", "carried_seeds", "Seeds carried by {whose}.", sum),
    WorkerFigure("room", "room_seeds", "room_seeds", "Further seeds that {whose} could carry.", sum),
    WorkerFigure(
        "pages_per_minute", "pages_per_second", "", "Seeds settled by {whose}, over the last 10 s.", sum, 1 / 60
    ),
    WorkerFigure(
        "memory_percent",
        "memory_used_ratio",
        "node_memory_used_ratio",
        "Share of the node's memory that is in use.",
        max,
        0.01,
    ),
    WorkerFigure(
        "cpu_percent", "cpu_used_ratio", "node_cpu_used_ratio", "Share of the node's CPU that is in use.", max, 0.01
    ),
    WorkerFigure(
        "own_memory_percent",
        "own_memory_used_ratio",
        "memory_used_ratio",
        "Share of the node's memory used by {whose}.",
        sum,
        0.01,
    ),
    WorkerFigure(
        "own_cpu_percent", "own_cpu_used_ratio", "cpu_used_ratio", "Share of the node's CPU used by {whose}.", sum, 0.01
    ),
    WorkerFigure(
        "memory_limit_percent", "memory_limit_ratio", "", "Share of the node's memory that may be in use.", max, 0.01
    ),
    WorkerFigure("cpu_limit_percent", "cpu_limit_ratio", "", "Share of the node's CPU that may be in use.", max, 0.01),
    WorkerFigure(
        "egress_down_s",
        "egress_down_seconds",
        "egress_down_seconds",
        "For how long no host on the web has answered; 0 while one does.",
        max,
    ),
)

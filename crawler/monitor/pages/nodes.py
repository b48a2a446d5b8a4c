"""The nodes with their workers, and what operators order them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from crawler.cli.worker_rows import state_of
from crawler.cluster.activity import PERIODS
from crawler.cluster.steering import CHANGES, LIMITS, limits, steer
from crawler.frontier.node_orders import NodeOrder, NodeOrders
from crawler.monitor import charts, formats
from crawler.monitor.guard import RefusedRequestError
from crawler.monitor.tables import ShownTable
from crawler.telemetry import node_history
from crawler.telemetry.node_history import NodeSample

if TYPE_CHECKING:
    from starlette.responses import Response

    from crawler.cluster.steering import Change
    from crawler.monitor.web import WebRequest
    from crawler.monitor.words import Messages
    from crawler.plans.operator import Operator

COLUMNS = (
    "node", "process", "frontier", "carrying", "room", "memory_percent", "cpu_percent", "own_memory_percent",
    "own_cpu_percent", "pages_per_minute", "sinks_down", "state", "version",
)  # fmt: skip
LOAD_COLUMNS = ("begin", *NodeSample._fields)
LOAD_PERIODS = ("hour", "day")
# Chart -> the fields of its lines.
CHARTS = {
    "memory": ("memory_percent", "own_memory_percent"),
    "cpu": ("cpu_percent", "own_cpu_percent"),
    "seeds": ("room", "carrying"),
    "pages": ("pages_per_minute",),
}
UNKNOWN = "-"  # stands in place of a value that isn't known
COLOURS = {"silent": "bad", "lapsed": "warning", "redis-full": "bad"}


async def show(web: WebRequest) -> Response:
    """Shows all workers, and the orders in force."""
    figures = await web.monitor.gatherer.latest()
    orders = await _orders(web)
    return web.html("nodes", figures=figures, rows=_rows(figures.overview), orders=orders, node="")


async def show_one(web: WebRequest) -> Response:
    """Shows the workers of one node, and for operators what they can order."""
    node = web.parameter("name")
    figures = await web.monitor.gatherer.latest()
    orders = await _orders(web)
    rows = [row for row in _rows(figures.overview) if row["node"] == node]
    if not rows and node not in orders:
        raise RefusedRequestError(404, "error.nothing")
    order = orders.get(node, NodeOrder())
    return web.html(
        "node",
        figures=figures,
        rows=rows,
        node=node,
        order=order,
        orders={},
        limits=tuple(LIMITS),
        drain=_drain(order, figures.overview, node),
        without_browser=_without_browser(figures.overview, node),
        charts=_charts(await _load(web, node), web.words),
        period=web.choice("period", LOAD_PERIODS),
        periods=LOAD_PERIODS,
    )


async def load_table(web: WebRequest) -> ShownTable:
    """Returns the load of one node over time as a table, without steps in which no worker ran."""
    samples = await _load(web, web.parameter("name"))
    rows = [{"begin": formats.at(begin * 1000), **sample._asdict()} for begin, sample in samples if sample]
    return ShownTable("node", LOAD_COLUMNS, rows)


async def table(web: WebRequest) -> ShownTable:
    """Returns all workers as a table."""
    figures = await web.monitor.gatherer.latest()
    return ShownTable("nodes", COLUMNS, _rows(figures.overview))


async def act(web: WebRequest, form: dict[str, str]) -> Response:
    """Gives a node an order."""
    node, name = form.get("name", ""), form.get("order", "")
    given = {field: form[field] for field in LIMITS if form.get(field)}
    change: Change | None = limits(given) if name == "set" and given else CHANGES.get(name)
    if change is None:
        raise RefusedRequestError(400, "error.no-limit" if name == "set" else "error.form")

    async def work(operator: Operator) -> None:
        await steer(operator, [node], change)

    values = " ".join(f"{field}={text}" for field, text in given.items()) if name == "set" else ""
    return await web.act(f"node-{name}", f"{node} {values}".strip(), work, then=f"/node?{urlencode({'name': node})}")


async def _orders(web: WebRequest) -> dict[str, NodeOrder]:
    async with web.monitor.connection.operator() as operator:
        return await NodeOrders(operator.redis, operator.keys).all()


async def _load(web: WebRequest, node: str) -> list[tuple[int, NodeSample | None]]:
    resolution, seconds = PERIODS[web.choice("period", LOAD_PERIODS)]
    async with web.monitor.connection.operator() as operator:
        last_s = await operator.registry.now_ms() // 1000
        return await node_history.read(operator.redis, operator.keys, node, resolution, last_s=last_s, seconds=seconds)


def _charts(samples: list[tuple[int, NodeSample | None]], words: Messages) -> list[dict[str, Any]]:
    """Returns a chart for each of CHARTS: percents up to 100, numbers up to the largest."""
    drawn = []
    for name, fields in CHARTS.items():
        lines = [[getattr(sample, field) if sample else None for _begin, sample in samples] for field in fields]
        peak = max((value for line in lines for value in line if value is not None), default=0)
        is_percent = fields[0].endswith("_percent")
        values = {field: _now(line) for field, line in zip(fields, lines, strict=True)}
        label = words(f"load-chart.{name}", **values)
        drawing = charts.lines(lines, 100 if is_percent else max(peak, 1), label)
        legend = [{"text": words(f"load.{field}"), "value": values[field]} for field in fields]
        drawn.append({"legend": legend, "is_percent": is_percent, "drawing": drawing})
    return drawn


def _now(line: list[float | None]) -> str:
    """Returns the value of the last step, or of the one before while that has just begun."""
    return next((formats.number(value) for value in reversed(line[-2:]) if value is not None), UNKNOWN)


def _drain(order: NodeOrder, overview: Any, node: str) -> dict[str, Any] | None:
    """Returns how far a drained node is; None where it isn't drained.

    Returns:
        `seeds`: how many its workers still carry. `is_known`: each has said so since it took the order up.
    """
    if not order.drained or overview is None:
        return None
    living = [worker for worker in overview.workers if worker["node"] == node and worker["state"] != "lapsed"]
    return {
        "seeds": sum(worker["carrying"] or 0 for worker in living),
        "is_known": all(worker["drained"] for worker in living),
    }


def _without_browser(overview: Any, node: str) -> list[str]:
    """Returns why workers of a node render no pages, each reason once."""
    workers = overview.workers if overview else ()
    return sorted(
        {worker["why_no_browser"] for worker in workers if worker["node"] == node and worker["why_no_browser"]}
    )


def _rows(overview: Any) -> list[dict[str, Any]]:
    """Returns a row for each worker; none before there are figures."""
    if overview is None:
        return []
    return [
        {
            **{name: worker.get(name) for name in COLUMNS},
            "process": worker["owner"].removeprefix(f"{worker['node']}:").partition(":")[0],
            "state": state_of(worker),
            "colour": COLOURS.get(worker["state"], ""),
        }
        for worker in overview.workers
    ]

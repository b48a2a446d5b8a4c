"""The hosts: the busiest ones, how one stands and why it waits, and what operators order for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from crawler.base.errors import UrlError
from crawler.cli.host_status import HostStatus, host_status
from crawler.cluster.host_rows import busy_hosts, host_rows
from crawler.cluster.host_steering import CHANGES, host_named, orders_of, slow
from crawler.monitor.guard import RefusedRequestError
from crawler.monitor.tables import ShownTable
from crawler.telemetry.host_history import NOTHING

if TYPE_CHECKING:
    from starlette.responses import Response

    from crawler.monitor.web import WebRequest
    from crawler.plans.operator import Operator

COLUMNS = ("host", "pages", "bytes", "errors", "errors_percent", "order")
HOST_COLUMNS = (
    "host", "delay_s", "turns", "next_start_s", "paused", "backoff_s", "error_level", "nav_ready", "content_ready",
    "robots", "why",
)  # fmt: skip
# The share of errors, in the last hour or of late, from which on a host is marked: dead links are fewer.
MANY_PERCENT = 20
LATE_SECONDS, MIN_LATE_ANSWERS = 600, 10


async def show(web: WebRequest) -> Response:
    """Shows the hosts."""
    return web.html("hosts", rows=await _rows(web))


async def table(web: WebRequest) -> ShownTable:
    """Returns the hosts as a table."""
    return ShownTable("hosts", COLUMNS, await _rows(web))


async def show_one(web: WebRequest) -> Response:
    """Shows how one host stands, and for operators what they can order."""
    status = await _status(web)
    why = [web.words(f"why.{reason.kind}", **reason.values) for reason in status.why]
    return web.html("host", host=status, why=why)


async def table_of_one(web: WebRequest) -> ShownTable:
    """Returns how one host stands as a table of one row."""
    status = await _status(web)
    row = {
        **status.as_json(),
        **{f"{frontier}_ready": seeds for frontier, seeds in status.ready.items()},
        "robots": [f"{robots.authority} {robots.state}" for robots in status.robots],
    }
    return ShownTable("host", HOST_COLUMNS, [row])


async def act(web: WebRequest, form: dict[str, str]) -> Response:
    """Orders something for a host."""
    name, delay = form.get("order", ""), form.get("delay", "")
    host = host_named(form.get("name", ""))
    change = slow(delay) if name == "slow" else CHANGES.get(name)
    if change is None:
        raise RefusedRequestError(400, "error.form")

    async def work(operator: Operator) -> None:
        await change(orders_of(operator), host)

    target = f"{host} delay={delay}" if name == "slow" else host
    return await web.act(f"host-{name}", target, work, then=f"/host?{urlencode({'name': host})}")


async def _status(web: WebRequest) -> HostStatus:
    try:
        host = host_named(web.parameter("name"))
    except UrlError:
        raise RefusedRequestError(404, "error.nothing") from None
    async with web.monitor.connection.operator() as operator:
        return await host_status(operator, web.monitor.settings, host)


async def _rows(web: WebRequest) -> list[dict[str, Any]]:
    """Returns a row for each host, as all who show hosts have it; with `errors_percent`, and whether it `is_marked`."""
    async with web.monitor.connection.operator() as operator:
        rows, late = await host_rows(operator), await busy_hosts(operator, LATE_SECONDS)
    for row in rows:
        row["errors_percent"] = round(100 * row["errors"] / max(1, row["pages"]), 1)
        pages, _bytes, errors = late.get(row["host"], NOTHING)
        is_failing = pages >= MIN_LATE_ANSWERS and 100 * errors >= MANY_PERCENT * pages
        row["is_marked"] = is_failing or row["errors_percent"] >= MANY_PERCENT
    return rows

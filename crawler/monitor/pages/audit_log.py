"""Who did what by the monitor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.cluster import audit
from crawler.monitor.tables import ShownTable

if TYPE_CHECKING:
    from starlette.responses import Response

    from crawler.monitor.web import WebRequest


async def show(web: WebRequest) -> Response:
    """Shows the newest actions."""
    async with web.monitor.connection.operator() as operator:
        return web.html("audit", entries=await audit.read(operator))


async def table(web: WebRequest) -> ShownTable:
    """Returns them as a table."""
    async with web.monitor.connection.operator() as operator:
        return ShownTable("audit", audit.Entry._fields, [entry._asdict() for entry in await audit.read(operator)])

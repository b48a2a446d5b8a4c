"""What came back in an hour: by status, host, plan or node."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from crawler.base.errors import HeadroomError
from crawler.cluster.answers_of_hour import COLUMNS, FORM, OF_BYTES, Hour, parse_hour, read_hour
from crawler.monitor.guard import RefusedRequestError
from crawler.monitor.tables import ShownTable
from crawler.telemetry.history import HOUR
from crawler.telemetry.hour_answers import BY

if TYPE_CHECKING:
    from starlette.responses import Response

    from crawler.monitor.web import WebRequest
    from crawler.telemetry.hour_answers import By


async def show(web: WebRequest) -> Response:
    """Shows what came back."""
    hour = await _hour(web)
    return web.html(
        "answers",
        hour=hour,
        before=datetime.fromtimestamp(parse_hour(hour.name) - HOUR, UTC).strftime(FORM),
        asked=web.parameter("hour"),
        by=web.choice("by", BY),
        kinds=BY,
        columns=COLUMNS[2:],
        of_bytes=OF_BYTES,
    )


async def table(web: WebRequest) -> ShownTable:
    """Returns what came back as a table."""
    return ShownTable("answers", COLUMNS, (await _hour(web)).rows)


async def _hour(web: WebRequest) -> Hour:
    text = web.parameter("hour").strip()
    try:
        parse_hour(text or "1970-01-01T00")
    except HeadroomError:
        raise RefusedRequestError(400, "error.nothing") from None
    async with web.monitor.connection.operator() as operator:
        return await read_hour(operator, text, cast("By", web.choice("by", BY)))

"""`/metrics`: the metrics of the crawl, for who has the token; nobody needs to sign in for them."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from starlette.responses import Response

from crawler import config
from crawler.base import log_events
from crawler.base.errors import HeadroomError, UnavailableError
from crawler.base.seldom import Seldom
from crawler.cluster.metrics import metrics
from crawler.telemetry.exposition import TEXT
from crawler.telemetry.metrics_answer import answer

if TYPE_CHECKING:
    from starlette.requests import Request

    from crawler.base.log_events import EventLogger
    from crawler.monitor.web import Monitor
    from crawler.telemetry.exposition import Metric

logger: EventLogger = logging.getLogger(__name__)
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE"]  # all but the first two are told so
_warn = Seldom(logger.warning).__call__


async def show(monitor: Monitor, request: Request) -> Response:
    """Sends the metrics: 401 without the token, 503 while Redis is away."""
    try:
        reply = await answer(
            request.method,
            authorization=request.headers.get("authorization", ""),
            accept=request.headers.get("accept", ""),
            token=config.METRICS_TOKEN.of(monitor.settings),
            read=lambda: _metrics(monitor),
        )
    except (HeadroomError, RedisError, OSError) as error:
        _warn(log_events.METRICS_UNREADABLE, error)
        return Response(b"Redis is away\n", HTTPStatus.SERVICE_UNAVAILABLE, media_type=TEXT)
    return Response(reply.body, reply.status, reply.headers)


async def _metrics(monitor: Monitor) -> list[Metric]:
    figures = await monitor.gatherer.latest()
    if figures.away or figures.overview is None:
        raise UnavailableError(figures.away or "no figures yet")
    return metrics(figures.overview)

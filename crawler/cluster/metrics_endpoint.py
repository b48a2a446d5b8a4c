"""`/metrics` as an ASGI application, which the monitor mounts: the metrics of the crawl, for who has the token."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from crawler.base import log_events
from crawler.base.errors import HeadroomError
from crawler.base.seldom import Seldom
from crawler.cluster.metrics import metrics
from crawler.telemetry.exposition import TEXT
from crawler.telemetry.metrics_answer import MetricsAnswer, answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from crawler.base.log_events import EventLogger
    from crawler.cluster.overview import Overview
    from crawler.telemetry.exposition import Metric

logger: EventLogger = logging.getLogger(__name__)


class MetricsEndpoint:
    """Answers requests: 200 with the metrics, 401 without the token, 503 while Redis is away.

    Args:
        read: Returns the figures, asked once for each request: how often Redis is read is its matter. It may raise a
            HeadroomError or a RedisError.
        token: METRICS_TOKEN; empty: nobody may read the metrics.
    """

    def __init__(self, read: Callable[[], Awaitable[Overview]], token: str) -> None:
        self._read = read
        self._token = token
        self._warn = Seldom(logger.warning)

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:  # noqa: ARG002 -- ASGI's
        """Answers one request; says nothing to anything else than HTTP."""
        if scope["type"] != "http":
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            reply = await answer(
                scope["method"],
                authorization=headers.get(b"authorization", ""),
                accept=headers.get(b"accept", ""),
                token=self._token,
                read=self._metrics,
            )
        except (HeadroomError, RedisError, OSError) as error:
            self._warn(log_events.METRICS_UNREADABLE, error)
            reply = MetricsAnswer(HTTPStatus.SERVICE_UNAVAILABLE, {"content-type": TEXT}, b"Redis is away\n")
        sent = {**reply.headers, "content-length": str(len(reply.body))}
        head = [(name.encode(), value.encode()) for name, value in sent.items()]
        await send({"type": "http.response.start", "status": reply.status.value, "headers": head})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else reply.body})

    async def _metrics(self) -> list[Metric]:
        return metrics(await self._read())

"""Serves the metrics of one worker, at METRICS_PORT. A Scrapy extension, off without that setting.

It answers in the worker's event loop, from what the worker counts anyway: no page costs more for it, and nothing is
read from Redis. A crawl whose port is taken goes on without.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawler import __version__, config
from crawler.base import log_events
from crawler.base.errors import ConfigError
from crawler.cluster.work_counters import work_counters
from crawler.telemetry.exposition import TEXT, Metric
from crawler.telemetry.metrics_answer import MetricsAnswer, answer
from crawler.telemetry.worker_figures import FIGURES
from crawler.worker.reports.tally import counts_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from crawler.base.log_events import EventLogger

MAX_HEAD_BYTES = 8_192  # the longest head of a request; Prometheus sends some 300 bytes
ANSWER_SECONDS = 5.0  # how long one request may take, from its first byte to the answer's last
MAX_CONNECTIONS = 8  # most connections at once; a worker has one or two readers, and sockets are for hosts
logger: EventLogger = logging.getLogger(__name__)


class MetricsServer:
    """Listens while the spider is open.

    Args:
        worker_of: Returns the worker, which Scrapy gives once all extensions are built.
        token: METRICS_TOKEN, not empty.
    """

    def __init__(
        self, worker_of: Callable[[], Worker], stats: StatsCollector, *, host: str, port: int, token: str
    ) -> None:
        self._worker_of = worker_of
        self._stats = stats
        self._host = host
        self._port = port
        self._token = token
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Builds the extension.

        Raises:
            NotConfigured: There is no METRICS_PORT.
            ConfigError: There is one, and no METRICS_TOKEN; or a setting is wrong.
        """
        port, token = config.METRICS_PORT.of(crawler.settings), config.METRICS_TOKEN.of(crawler.settings)
        if not port:
            raise NotConfigured
        if not token:
            raise ConfigError("METRICS_TOKEN", "", f"{config.METRICS_TOKEN.form}, since METRICS_PORT is set")
        assert crawler.stats is not None  # Scrapy makes the statistics before its extensions
        host = config.METRICS_HOST.of(crawler.settings)
        server = cls(partial(Worker.of, crawler), crawler.stats, host=host, port=port, token=token)
        crawler.signals.connect(server.open, signal=signals.spider_opened)
        crawler.signals.connect(server.close, signal=signals.spider_closed)
        return server

    async def open(self) -> None:
        """Begins to listen; where that fails, the crawl goes on without."""
        try:
            self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=MAX_HEAD_BYTES)
        except OSError as error:
            logger.warning(log_events.METRICS_NOT_SERVED, self._host, self._port, error)
        else:
            logger.info(log_events.METRICS_SERVED, self._host, self._port)

    async def close(self) -> None:
        """Listens no more, and cuts off requests under way."""
        if self._server is not None:
            self._server.close()
        for connection in [*self._connections]:
            connection.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= MAX_CONNECTIONS:
            writer.transport.abort()
            return
        self._connections.add(writer)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._answer(await reader.readuntil(b"\r\n\r\n"), writer)
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            logger.debug("a request for metrics got no answer: %s", error)
        finally:
            self._connections.remove(writer)
            writer.close()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        """Answers a request, of which `head` is all but a body.

        Raises:
            ValueError: It is no HTTP.
        """
        request, *lines = head.decode("latin-1").split("\r\n")
        method, target, _version = request.split(" ")
        headers = {name.strip().lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)}
        if target.partition("?")[0] == "/metrics":
            reply = await answer(
                method,
                authorization=headers.get("authorization", ""),
                accept=headers.get("accept", ""),
                token=self._token,
                read=self.metrics,
            )
        else:
            reply = MetricsAnswer(HTTPStatus.NOT_FOUND, {"content-type": TEXT}, b"see /metrics\n")
        sent = {**reply.headers, "content-length": str(len(reply.body)), "connection": "close"}
        status = f"HTTP/1.1 {reply.status.value} {reply.status.phrase}"
        writer.write("\r\n".join([status, *(f"{name}: {text}" for name, text in sent.items()), "", ""]).encode())
        writer.write(b"" if method == "HEAD" else reply.body)
        await writer.drain()

    async def metrics(self) -> list[Metric]:
        """Returns the worker's metrics."""
        worker = self._worker_of()
        counts, latest = counts_of(self._stats.get_stats()), worker.reports.figures.latest
        labels = {"version": __version__, "frontier": worker.frontier}
        return [
            Metric("headroom_worker_info", "gauge", "The worker's version and frontier.", ((labels, 1),)),
            *work_counters(counts, "headroom_worker", lambda _label, values: values),
            *(
                Metric(
                    f"headroom_worker_{figure.of_worker}",
                    "gauge",
                    figure.about_worker(),
                    (({}, latest[figure.field] * figure.scale),),
                )
                for figure in FIGURES
                if figure.of_worker and figure.field in latest
            ),
            Metric(
                "headroom_worker_sinks_down",
                "gauge",
                "Sinks that the worker waits for.",
                (({}, len(latest.get("sinks_down", ()))),),
            ),
        ]
